"""
Bandwidth in whole blocks
=========================

A scheduler hands out bandwidth in resource blocks, 180 kHz each in LTE and in 5G at its narrowest spacing, or in groups
of them. The papers' shares are real numbers. What does rounding them to blocks cost, where the shares and lengths are
chosen again for every block size?

**Finding.** With 8 devices in 10 MHz single blocks of 180 kHz cost 0.4 to 0.8 % of the goodput in multispin-llama2 and
groups of six, of which there are nine, 2.5 to 3.8 %. In uldl-qwen25, where power is short and not bandwidth, they cost
less than 0.1 % and 0.6 to 1.2 %.

**Setting.** K = 8 devices, a band of 10 MHz, 3 draws of multispin-llama2 and 2 of uldl-qwen25; every optimum proven to
1e-10.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt

plt.style.use("msopt.plain")

BLOCKS = np.array([1, 2, 3, 4, 6])
BLOCK_HZ = 180e3
DRAWS = {"multispin-llama2": 3, "uldl-qwen25": 2}

loss, gaps = {}, []
for preset, draws in DRAWS.items():
    rows = []
    for seed in range(draws):
        cell = msopt.draw(preset, devices=8, seed=seed)[0]
        free = msopt.solve(cell)
        found = [msopt.solve(cell, limits=[msopt.ResourceBlocks(n * BLOCK_HZ)]) for n in BLOCKS]
        rows.append([1.0 - one.goodput / free.goodput for one in found])
        gaps += [one.gap for one in found]
    loss[preset] = np.array(rows)

figure, axes = plt.subplots(figsize=(5.2, 3.4))
for preset, rows in loss.items():
    (line,) = axes.plot(BLOCKS * BLOCK_HZ / 1e3, 100.0 * rows.mean(axis=0), label=preset)
    low, high = 100.0 * rows.min(axis=0), 100.0 * rows.max(axis=0)
    axes.fill_between(BLOCKS * BLOCK_HZ / 1e3, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
axes.set_xticks(BLOCKS * BLOCK_HZ / 1e3)
axes.set(xlabel="block [kHz]", ylabel="goodput lost [%]", title="Loss by block size; lines: mean, bands: all draws")
axes.set_ylim(bottom=0.0)
axes.legend(loc="upper left")
figure.savefig("resource_blocks.png")
