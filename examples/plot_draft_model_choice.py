"""
A draft model for each device
=============================

A small draft model is quick and takes little memory, a large one is accepted more often. Which one a device should have
depends on its speed, on its channel and on its memory, and on the others, because all wait for the last.

**Finding.** Of drafts made of SmolLM2-135M by leaving out 2, 4 or 8 of its 30 layers, the best mix delivers 4 to 6 %
more than one for all in each of six tasks: of nine devices the slowest in the worst place has the smallest one, which
saves time for everyone, and all others the largest. That the slow ones have no memory for it costs 0 to 3 %.

**Setting.** Nine devices, at 0.5, 2 and 8 times the speed of the CPU core that drafts were timed on, and at SNRs of
-20, -10 and 0 dB; the three bundled profiles smollm2-skip-2, -4, -8; 8192 bits a distribution; two bytes a weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt
from msopt.choices import draft_model_actions, ladder

plt.style.use("msopt.plain")

SPEEDS, SNRS_DB, LEFT_OUT = (0.5, 2.0, 8.0), (-20.0, -10.0, 0.0), (2, 4, 8)
RUNGS = [msopt.read_profile(msopt.bundled.profile_path(f"smollm2-skip-{layers}")) for layers in LEFT_OUT]
TASKS = tuple(RUNGS[0].tasks)
speed, snr_db = np.repeat(SPEEDS, 3), np.tile(SNRS_DB, 3)
memory_bytes = np.where(speed < 1.0, 245e6, 300e6)  # the largest takes 255 MB, the next 241 MB

cell, _ = msopt.draw_from_profiles({"largest": RUNGS[0]}, devices=9, distribution_bits=8192, bandwidth_hz=20e6)
cell = cell.replace(uplink_snr_db=snr_db, max_draft_length=8)
one_for_all, best, limited, rung, rung_limited, length = {}, {}, {}, {}, {}, {}
for task in TASKS:
    models = ladder(RUNGS, [task] * 9, speed=speed)
    table = draft_model_actions(cell, models)
    found = msopt.solve_actions(cell, table)
    best[task] = found.goodput
    tight = msopt.solve_actions(cell, table, limits=[msopt.DeviceMemory(memory_bytes)])
    limited[task] = tight.goodput
    one_for_all[task] = [msopt.solve_actions(cell, draft_model_actions(cell, [one])).goodput for one in models]
    lengths = table.shape[0] // len(models)
    rung[task], rung_limited[task] = found.choice // lengths, tight.choice // lengths
    length[task] = table.drafted[tight.choice, np.arange(9)]

figure, (left, right) = plt.subplots(1, 2, width_ratios=(2, 3))
for place, (layers, marker) in enumerate(zip(LEFT_OUT, "osv", strict=True)):
    has = rung_limited["summary"] == place
    left.scatter(speed[has], snr_db[has], s=110, marker=marker, color=f"C{place}", label=f"{layers} layers left out")
for x, y, tokens in zip(speed, snr_db, length["summary"], strict=True):
    left.annotate(f"{tokens:.0f}", (x, y), xytext=(9, 0), textcoords="offset points", va="center")
left.set(
    xscale="log", xlim=(0.35, 13.0), ylim=(-24.0, 11.0), xlabel="speed [of the timed core]", ylabel="uplink SNR [dB]"
)
left.set_xticks(SPEEDS, [f"{one:g}" for one in SPEEDS])
left.set_xticks([], minor=True)
left.set_title("summary, memory limits: model and tokens")
left.legend(loc="upper left", ncols=2, columnspacing=0.8, handletextpad=0.2)
bars = {f"all {layers} layers less": [one_for_all[t][n] for t in TASKS] for n, layers in enumerate(LEFT_OUT)}
bars |= {"each its own, memory limits": list(limited.values()), "each its own": list(best.values())}
for n, (label, values) in enumerate(bars.items()):
    hatch = ("", "///", "...", "xxx", "")[n]
    colour = ("C0", "C1", "C2", "C5", "C3")[n]
    right.bar(
        np.arange(len(TASKS)) + 0.16 * (n - 2), values, 0.16, label=label, color=colour, hatch=hatch, edgecolor="w"
    )
right.set_xticks(np.arange(len(TASKS)), [task.replace("question-", "question-\n") for task in TASKS], fontsize=7)
right.set(ylabel="goodput [token/s]", title="Goodput by task", ylim=(0.0, 1.45 * max(best.values())))
right.legend(loc="upper left", ncols=2)
figure.savefig("draft_model_choice.png")
