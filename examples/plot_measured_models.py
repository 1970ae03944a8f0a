"""
Models that were measured
=========================

A profile holds what was measured on a pair of models. The papers take acceptance as one number for each device; a
profile has the whole curve, the probability that the first l tokens of a draft are all accepted. Does the difference
matter to whoever plans with it?

**Finding.** Hardly. In three of the four pairs a text that began well goes on well, so that one number promises too
little of long drafts; but planning with it costs 0 to 0.5 % of the goodput, and 1.4 % where the draft model is best.

**Setting.** The four bundled profiles, task code; 12 devices of each pair in [UD]'s cell, one draw.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt

plt.style.use("msopt.plain")

TASK = "code"
profiles = {name: msopt.read_profile(msopt.bundled.profile_path(name)) for name in msopt.bundled.profile_names()}
curves, lost = {}, {}
for name, profile in profiles.items():
    cell, _ = msopt.draw_from_profiles({name: profile}, tasks=[TASK], devices=12, seed=0)
    curves[name] = np.array(profile.tasks[TASK].survival)
    # The geometric law with the same first token plans; the measured curve tells what comes of it.
    simple = cell.replace(acceptance=np.full(12, curves[name][0]))
    planned = msopt.solve(simple).control
    lost[name] = 1.0 - msopt.evaluate(cell, planned).goodput / msopt.solve(cell).goodput

figure, (left, right) = plt.subplots(1, 2)
for name, curve in curves.items():
    positions = np.arange(1, curve.size + 1)
    (line,) = left.plot(positions, curve, label=name)
    left.plot(positions, curve[0] ** positions, color=line.get_color(), linestyle=":", marker="", linewidth=1.0)
left.set(xlabel="position l in the draft", ylabel="all of the first l accepted", ylim=(0.0, 1.0))
left.set_title("Measured; dotted: were every token like the first")
left.legend()
right.barh(list(lost), [100.0 * value for value in lost.values()], color="C0")
right.set(xlabel="goodput lost with one number [%]", title="What the curve is worth")
right.invert_yaxis()
figure.savefig("measured_models.png")
