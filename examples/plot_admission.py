"""
How many devices to admit
=========================

A cell that guarantees every admitted device a goodput has to turn some away when the guarantee is high. Those that are
left out take no share of the band and no time at the server. How many can be admitted at which rate?

**Finding.** Six devices can have 13.7 to 14.1 tokens/s each. A tenth more costs one of them its place, a quarter more
two, half as much again three or four, and at twice the rate one alone is admitted; what is delivered in all falls to
about a third.

**Setting.** K = 6 devices of multispin-llama2, drafts of up to 4 tokens, 3 draws; every number of devices is proven.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt

plt.style.use("msopt.plain")

FACTORS = np.array([1.0, 1.1, 1.25, 1.5, 2.0])
K, DRAWS = 6, 3

admitted, proven, total, rates = [], [], [], []
for seed in range(DRAWS):
    cell = msopt.draw("multispin-llama2", devices=K, seed=seed)[0].replace(max_draft_length=4)
    for_all = msopt.solve(cell, utility=msopt.MaxMin()).evaluation.utility_value
    found = [msopt.solve(cell, utility=msopt.Admission(factor * for_all)) for factor in FACTORS]
    rates.append(FACTORS * for_all)
    admitted.append([one.evaluation.utility_value for one in found])
    proven.append([one.utility_bound for one in found])
    total.append([one.goodput for one in found])

figure, (left, right) = plt.subplots(1, 2)
for seed in range(DRAWS):
    left.plot(rates[seed], admitted[seed], label=f"draw {seed}")
    right.plot(rates[seed], total[seed], label=f"draw {seed}")
left.set(ylabel="devices admitted", ylim=(0.0, K + 0.3), title="Admitted of six")
right.set(ylabel="goodput of the admitted [token/s]", title="What they get in all")
right.set_ylim(bottom=0.0)
for axes in (left, right):
    axes.set_xlabel("guaranteed goodput [token/s]")
    axes.legend()
figure.savefig("admission.png")
