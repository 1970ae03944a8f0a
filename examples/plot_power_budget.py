"""
What the battery allows
=======================

A device may draw only so much power on average: 2 W while it drafts and 0.2 W while it sends, over the whole round,
the wait for verification included. Which part of the goodput does a budget leave, and how long are the drafts then?

**Finding.** Devices in synchronous rounds wait most of the time: without a budget they draft for 23 to 26 % of a round,
and 0.75 W, little more than a third of what drafting takes, costs nothing. Half a watt costs 2 to 3 % of the goodput, a
quarter of a watt 24 to 26 %: every device then drafts one token.

**Setting.** K = 20 devices of multispin-llama2, 2 draws. At 0.15 W even drafts of one token are too much for
such short rounds: the server then waits before it verifies, which costs 35 %.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt

plt.style.use("msopt.plain")

BUDGETS_W = np.array([0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0])
DRAFT_W, SEND_W = 2.0, 0.2
DRAWS = 2

kept, lengths, drafting = [], [], []
for seed in range(DRAWS):
    cell = msopt.draw("multispin-llama2", devices=20, seed=seed)[0]
    free = msopt.solve(cell)
    busy_s = free.control.draft_length * cell.draft_s_per_token
    drafting.append(np.mean(busy_s) / float(free.evaluation.round.round_s))
    found = [msopt.solve(cell, limits=[msopt.AveragePower(DRAFT_W, SEND_W, watt)]) for watt in BUDGETS_W]
    kept.append([one.goodput / free.goodput for one in found])
    lengths.append([one.control.draft_length.mean() for one in found])

figure, (left, right) = plt.subplots(1, 2)
for axes, rows in ((left, 100.0 * np.array(kept)), (right, np.array(lengths))):
    axes.plot(BUDGETS_W, rows.mean(axis=0))
    axes.fill_between(BUDGETS_W, rows.min(axis=0), rows.max(axis=0), alpha=0.2, linewidth=0)
    axes.set(xlabel="average power of a device, at most [W]", xlim=(0.2, 1.03))
    axes.set_ylim(bottom=0.0)
left.set(ylabel="goodput [% of that without a budget]", title="Goodput; line: mean, band: both draws")
right.set(ylabel="mean draft [token]", title="Length of the drafts")
figure.savefig("power_budget.png")
