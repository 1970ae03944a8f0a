"""
A payload for each device
=========================

Every drafted token travels with the distribution that it was drawn from, cut to some entries of some bits. The fewer
are kept, the fewer tokens are accepted: a profile's payload table measured by how much. One payload for all is a
compromise between devices that are near and far; here every device has its own.

**Finding.** A payload for each device delivers 1 to 10 % more than the best one for all, measured on three draws of the
cell and two tasks. The device with the worst channel then sends 384 to 1536 bits a token, of which the fewest keep
82 % of its acceptance, and the one with the best channel 7168 or 8192 bits.

**Setting.** K = 8 devices of the bundled profile smollm2-skip-2 in [UD]'s cell, 8 times as fast as the CPU core that
drafts were timed on.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt
from msopt.choices import payload_actions, payload_options

plt.style.use("msopt.plain")

PROFILE = msopt.read_profile(msopt.bundled.profile_path("smollm2-skip-2"))
SPEED, DRAWS = 8.0, 3

gain, snr_db, sent_bits, for_all = {}, {}, {}, {}
for task in ("chat", "summary"):
    options = payload_options(PROFILE, task)
    gain[task], snr_db[task], sent_bits[task] = [], [], []
    for seed in range(DRAWS):
        cell, _ = msopt.draw_from_profiles({"smollm2-skip-2": PROFILE}, tasks=[task], devices=8, seed=seed)
        cell = cell.replace(draft_s_per_token=cell.draft_s_per_token / SPEED)
        each = msopt.solve_actions(cell, payload_actions(cell, [options]))
        common = [msopt.solve_actions(cell, payload_actions(cell, [[one]])).goodput for one in options]
        if (task, seed) == ("chat", 0):
            for_all = dict(zip([one.distribution_bits for one in options], common, strict=True))
            best_of_each = each.goodput
        gain[task].append(each.goodput / max(common) - 1.0)
        order = np.argsort(cell.uplink_snr_db)
        snr_db[task].append(cell.uplink_snr_db[order])
        chosen = each.table.extra["distribution_bits"][each.choice, np.arange(8)]
        sent_bits[task].append(chosen[order])

figure, (left, right) = plt.subplots(1, 2)
left.plot(list(for_all), list(for_all.values()), label="one for all")
left.axhline(best_of_each, color="0.3", label="a payload for each")
left.set(xscale="log", xlabel="payload of a distribution [bit]", ylabel="goodput [token/s]", title="chat, draw 0")
left.set_ylim(bottom=0.0)
left.legend(loc="lower left")
for task in gain:
    size, fill = (5.0, "full") if task == "chat" else (9.0, "none")
    x, y = np.concatenate(snr_db[task]), np.concatenate(sent_bits[task])
    right.plot(x, y, linestyle="", markersize=size, fillstyle=fill, label=task)
right.set(yscale="log", xlabel="uplink SNR over the whole band [dB]", ylabel="payload chosen [bit]")
right.set_yticks([500, 1000, 2000, 5000], ["500", "1000", "2000", "5000"])
right.set_yticks([], minor=True)
right.set_title("What each device sends, all draws")
right.legend(loc="upper left")
figure.savefig("payload_choice.png")
