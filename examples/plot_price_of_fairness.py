"""
The price of fairness
=====================

The sum of all goodputs cares for no single device. Fairer utilities do: alpha-fair ones the more the greater alpha is
(0: the sum, 1: proportionally fair), and max-min looks at the worst device alone. What does the total pay for that?

**Finding.** Synchronous rounds are fair by themselves: the longest draft sets the round for all, so that Jain's index
of the sum's optimum is 0.96 to 0.97 in multispin-llama2 and 0.82 to 0.87 in uldl-qwen25, and proportional fairness
costs less than half a percent. Max-min is dear: 6 to 10 % there, and 68 to 71 % here, where the worst device gains by
nothing but short rounds. Without any fairness it had 99 % or more of what max-min gives it.

**Setting.** K = 20 devices, 3 draws of multispin-llama2 and 2 of uldl-qwen25, no limits; every point a mean over draws.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt

plt.style.use("msopt.plain")

UTILITIES = {
    "sum": msopt.Sum(),
    "1": msopt.ProportionalFair(),
    "2": msopt.AlphaFair(fairness=2.0),
    "5": msopt.AlphaFair(fairness=5.0),
    "max-min": msopt.MaxMin(),
}
total, worst, jain = {}, {}, {}
for preset, draws in {"multispin-llama2": 3, "uldl-qwen25": 2}.items():
    cells = [msopt.draw(preset, devices=20, seed=seed)[0] for seed in range(draws)]
    best = [[msopt.solve(cell, utility=utility) for utility in UTILITIES.values()] for cell in cells]
    goodput = np.array([[one.evaluation.round.device_goodput for one in row] for row in best])
    sums, least = goodput.sum(axis=-1), goodput.min(axis=-1)
    total[preset] = sums / sums[:, :1]
    worst[preset] = least / least[:, -1:]
    jain[preset] = sums**2 / (goodput.shape[-1] * (goodput**2).sum(axis=-1))

figure, (left, right) = plt.subplots(1, 2, sharey=True)
for preset, rows in total.items():
    y = 100.0 * rows.mean(axis=0)
    for axes, x in ((left, 100.0 * worst[preset].mean(axis=0)), (right, jain[preset].mean(axis=0))):
        axes.plot(x, y, label=preset)
        axes.annotate("max-min", (x[-1], y[-1]), xytext=(6, 0), textcoords="offset points", va="center")
        axes.annotate("sum", (x[0], y[0]), xytext=(0, 6), textcoords="offset points", ha="center")
left.set(xlabel="worst device [% of what max-min gives it]", xlim=(78.0, 104.5))
left.set(ylabel="goodput of all [% of the greatest]", ylim=(0.0, 110.0))
left.set_title("Sum, alpha = 1, 2, 5, max-min")
right.set_xticks([0.85, 0.9, 0.95, 1.0])
right.set(xlabel="Jain's index [1]", xlim=(0.833, 1.036), title="The same against Jain's index")
left.legend(loc="lower left")
figure.savefig("price_of_fairness.png")
