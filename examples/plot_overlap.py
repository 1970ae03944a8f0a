"""
Rounds that overlap
===================

In the papers' rounds the server waits while the devices draft and send, and they wait while it verifies. With the
devices in N groups it verifies one group while the others draft. Two roofs bound what that brings. The server's: a
cycle takes no less than the N verifications, of which each pays the fixed time c0 again. The devices': whoever drafts
still waits for the verification of the own group.

**Finding.** In multispin-llama2 four groups deliver 48 to 52 % more than synchronous rounds, and the server is then
busy all the time; with twenty groups c0 is paid twenty times and 10 to 15 % less is delivered. In uldl-qwen25 the radio
is short and the best number of groups brings 8, 19 and 30 %: in all draws of both, 0.77 to 0.87 times the part of a
synchronous round in which the server verifies.

**Setting.** K = 20 devices, 3 draws of either preset; every device has one round under way.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt
from msopt.choices import solve_overlap

plt.style.use("msopt.plain")

GROUPS = (1, 2, 4, 5, 10, 20)
DRAWS, K = {"multispin-llama2": 3, "uldl-qwen25": 3}, 20


def server_roof(cell: msopt.Scenario, groups: int) -> float:
    """What a server that never waits delivers, however long the drafts [token/s]."""
    longest = cell.acceptance.expected_tokens(np.full(K, float(cell.max_draft_length)))
    return float(np.sum(longest)) / (groups * cell.verify_base_s + K * cell.verify_per_device_s)


def device_roof(cell: msopt.Scenario, groups: int) -> float:
    """What the devices deliver where a server for each group takes the time of one verification [token/s]."""
    own_s = cell.verify_base_s + cell.verify_per_device_s * K / groups
    return msopt.solve(cell.replace(verify_base_s=own_s, verify_per_device_s=0.0)).goodput


gain, busy, roofs = {}, {}, {}
for preset in ("multispin-llama2", "uldl-qwen25"):
    cells = [msopt.draw(preset, devices=K, seed=seed)[0] for seed in range(DRAWS[preset])]
    found = [[solve_overlap(cell, groups) for groups in GROUPS] for cell in cells]
    goodput = np.array([[one.goodput for one in row] for row in found])
    gain[preset] = goodput / goodput[:, :1] - 1.0
    busy[preset] = np.array([[one.server_busy for one in row] for row in found])
    roof = [[min(server_roof(cell, n), device_roof(cell, n)) for n in GROUPS] for cell in cells]
    roofs[preset] = np.array(roof) / goodput[:, :1] - 1.0

figure, (left, right) = plt.subplots(1, 2)
for preset, rows in gain.items():
    (line,) = left.plot(GROUPS, 100.0 * rows.mean(axis=0), label=preset)
    left.plot(GROUPS, 100.0 * roofs[preset].mean(axis=0), color=line.get_color(), linestyle=":", marker="")
    low, high = 100.0 * rows.min(axis=0), 100.0 * rows.max(axis=0)
    left.fill_between(GROUPS, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    right.plot(GROUPS, 100.0 * busy[preset].mean(axis=0), label=preset)
left.plot([], [], color="0.4", linestyle=":", marker="", label="the lower of the two roofs")
left.axhline(0.0, color="0.4", linewidth=0.8)
left.set(ylabel="goodput over synchronous rounds [%]", ylim=(-27.0, 135.0))
left.set_title("What overlap brings; lines: mean, bands: all draws")
right.set(ylabel="server busy [% of the cycle]", ylim=(0.0, 105.0), title="How much of the time the server verifies")
for axes in (left, right):
    axes.set_xscale("log")
    axes.set_xticks(GROUPS, [str(n) for n in GROUPS])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("groups")
    axes.legend(loc="upper left" if axes is left else "lower right")
figure.savefig("overlap.png")
