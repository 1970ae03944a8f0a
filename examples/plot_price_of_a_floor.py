"""
The price of a floor
====================

A floor promises every device a goodput of its own, and the rest may be used for the sum. How dear is the promise, up to
the floor that no control keeps any more? The greatest floor is what max-min gives the worst device.

**Finding.** In multispin-llama2 the best sum gives the worst device 90 to 96 % of the greatest floor already, so that a
floor of 90 % costs next to nothing; but a floor of 99.9 % costs 2 to 10 % of the goodput. In uldl-qwen25 the worst
device has one token a round whatever is done, and a floor of 97 % costs nothing.

**Setting.** K = 8 devices, 3 draws of multispin-llama2 and 2 of uldl-qwen25; just above the greatest floor the solver
proves that no control keeps it.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt

plt.style.use("msopt.plain")

PARTS = np.array([0.8, 0.9, 0.95, 0.97, 0.99, 0.999])
DRAWS = {"multispin-llama2": 3, "uldl-qwen25": 2}

kept, worst, refused = {}, {}, []
for preset, draws in DRAWS.items():
    kept[preset], worst[preset] = [], []
    for seed in range(draws):
        cell = msopt.draw(preset, devices=8, seed=seed)[0]
        free = msopt.solve(cell)
        greatest = msopt.solve(cell, utility=msopt.MaxMin()).evaluation.utility_value
        floored = [msopt.solve(cell, limits=[msopt.GoodputFloor(part * greatest)]) for part in PARTS]
        kept[preset].append([one.goodput / free.goodput for one in floored])
        worst[preset].append(free.evaluation.round.device_goodput.min() / greatest)
        try:
            msopt.solve(cell, limits=[msopt.GoodputFloor(1.001 * greatest)])
        except msopt.InfeasibleError as error:
            refused.append(str(error))

figure, axes = plt.subplots(figsize=(5.2, 3.4))
for preset, draws in DRAWS.items():
    rows = 100.0 * np.array(kept[preset])
    (line,) = axes.plot(100.0 * PARTS, rows.mean(axis=0), label=f"{preset}, mean of {draws} draws")
    low, high = rows.min(axis=0), rows.max(axis=0)
    axes.fill_between(100.0 * PARTS, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
axes.axvline(100.0, color="0.3", linewidth=1.0)
axes.annotate("infeasible", (100.4, 0.5), xycoords=("data", "axes fraction"), rotation=90, va="center", color="0.3")
axes.set(xlim=(79.0, 102.0), xlabel="floor [% of the greatest]", ylabel="goodput of all [% of that without a floor]")
axes.set_title("Goodput under a floor for every device; bands: all draws")
axes.legend(loc="lower left")
figure.savefig("price_of_a_floor.png")
