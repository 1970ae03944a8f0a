"""
Sizing a cell
=============

An operator promises its devices a goodput on average and can buy two things: bandwidth, and a faster server. How many
devices does each bring, and which of them is short?

**Finding.** The server is. With the paper's one 5 MHz serve 15 devices and four times the band three more; at 5 MHz a
server twice as fast serves 9 more. Bandwidth pays beside a fast server: one four times as fast serves 36 devices at 5
MHz and 62 at 20 MHz.

**Setting.** Devices like the twenty of multispin-llama2, seed 1, in turn; 8 tokens/s for each on average; uplink SNRs
as the preset draws them.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt
from msopt.choices import capacity, distributed_goodput

plt.style.use("msopt.plain")

PROMISED, BANDS_HZ, SPEEDS = 8.0, (5e6, 10e6, 20e6), (1.0, 2.0, 4.0)
TIMES = ("verify_base_s", "verify_per_device_s", "verify_per_token_s")

cell, _ = msopt.draw("multispin-llama2", seed=1)
served = np.zeros((len(SPEEDS), len(BANDS_HZ)), dtype=int)
for row, speed in enumerate(SPEEDS):
    verify_s = {name: getattr(cell, name) / speed for name in TIMES}
    for column, band_hz in enumerate(BANDS_HZ):
        bought = cell.replace(**verify_s).with_bandwidth(uplink_hz=band_hz)
        served[row, column] = capacity(bought, PROMISED, distributed_goodput)

figure, axes = plt.subplots(figsize=(5.0, 3.4))
for speed, row in zip(SPEEDS, served, strict=True):
    axes.plot(np.array(BANDS_HZ) / 1e6, row, label="the paper's server" if speed == 1.0 else f"{speed:g} times as fast")
axes.set(
    xlabel="uplink band [MHz]", ylabel=f"devices at {PROMISED:g} tokens/s on average", title="What each purchase brings"
)
axes.set_xscale("log")
axes.set_xticks(np.array(BANDS_HZ) / 1e6, [f"{band_hz / 1e6:g}" for band_hz in BANDS_HZ])
axes.set_xticks([], minor=True)
axes.set_ylim(bottom=0.0)
axes.legend(loc="upper left")
figure.savefig("sizing.png")
