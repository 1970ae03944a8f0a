"""
Is my closed form right?
========================

Theorem 1 of [MS] needs a branch of Lambert's W. A phone would rather have elementary functions: with λ = -ln α, y =
(h/a - 1) λ and s = √(2y) the length is about L = log1p(s)/λ - 1, or with the next term of the series log1p(s +
s²/3)/λ - 1. What does either lose? The optimum to hold them against comes twice: from msopt, and from a convex
program that shares no line with it.

**Finding.** With one term the formula never drafts too much, mostly too little, and loses 1.5 to 3 % of the goodput
on average, 5 % at most; with two terms 0.1 % on average and 0.6 % at most. The convex program, whose length is real,
is 0 to 0.5 % above msopt's whole optimum.

**Setting.** multispin-llama2, K from 4 to 24, 12 draws each; the mean acceptance stands for all devices in the
formula.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt
from formulations import HomogeneousLength

plt.style.use("msopt.plain")

DEVICES, DRAWS = (4, 8, 16, 24), 12


def split(cell: msopt.Scenario) -> tuple[float, np.ndarray]:
    """Lemma 1 of [MS]: the time of a token at every device, and the band that each gets for it."""
    per_token_bits = cell.token_bits + cell.distribution_bits
    airtime_hz_s = per_token_bits / np.log2(1.0 + 10.0 ** (cell.uplink_snr_db / 10.0))
    return msopt.multispin.per_token_split(cell.draft_s_per_token, airtime_hz_s, cell.uplink_bandwidth_hz)


def own_formula(cell: msopt.Scenario, terms: int) -> msopt.Control:
    """The whole length next to the formula's."""
    theta_s, share_hz = split(cell)
    fixed_s = cell.verify_base_s + cell.device_count * cell.verify_per_device_s
    slope = abs(np.log(cell.acceptance.mean.mean()))
    root = np.sqrt(2.0 * max(fixed_s / theta_s - 1.0, 0.0) * slope)
    length = np.log1p(root + (root**2 / 3.0 if terms == 2 else 0.0)) / slope - 1.0
    whole = np.full(cell.device_count, int(np.clip(round(length), 1, cell.max_draft_length)))
    return msopt.Control(problem="homogeneous", draft_length=whole, bandwidth_hz=share_hz)


loss: dict[int, list[float]] = {1: [], 2: []}
too_long, above = {1: 0, 2: 0}, []
for devices in DEVICES:
    for seed in range(DRAWS):
        cell, _ = msopt.draw("multispin-llama2", devices=devices, seed=seed)
        best = msopt.solve(cell, "homogeneous")
        for terms, lost in loss.items():
            own = own_formula(cell, terms)
            lost.append(1.0 - msopt.evaluate(cell, own).goodput / best.goodput)
            too_long[terms] += own.draft_length[0] > best.control.draft_length[0]
    theta_s, _ = split(cell)
    above.append(HomogeneousLength(cell, float(theta_s)).solve("CLARABEL").objective / best.goodput - 1.0)

figure, axes = plt.subplots(figsize=(5.0, 3.4))
for terms, values in loss.items():
    part = (np.arange(len(values)) + 1.0) / len(values)
    axes.plot(100.0 * np.sort(values), part, label=f"with {terms} term{'s'[: terms - 1]}", markersize=3.0)
axes.set(xlabel="goodput lost to the optimum [%]", ylabel="part of the draws", ylim=(0.0, 1.05))
axes.set_title("A formula of one's own against the optimum")
axes.legend(loc="lower right")
figure.savefig("own_formula.png")
