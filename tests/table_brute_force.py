"""An independent oracle for tables of actions: every choice, its deadline by bisection, its utility and limits.

Bandwidths of rates are roots of the rate functions (`brute_force.bandwidth_of_rate`); nothing else of this is shared
with what it checks but the numbers of the table and of the scenario.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import msopt
from msopt import ActionTable, Scenario
from tests import brute_force
from tests.brute_force import Floats

ROUND_OFF = 1e-12
LONGER, HALVINGS = 16, 50


@dataclass
class Cell:
    """A scenario with its table, a utility of the goodputs (N, K), and limits as plain numbers by name."""

    scenario: Scenario
    table: ActionTable
    utility: Callable[[Floats], Floats]
    limits: dict[str, Any] = field(default_factory=dict)

    def best(self) -> tuple[float, Any]:
        """The greatest utility of all choices and a choice that has it; -inf and None where none keeps the limits."""
        choices = self._choices()
        if not len(choices):
            return -np.inf, None
        at = choices, np.arange(choices.shape[1])
        server = self.scenario
        verified = self.table.verified[at]
        each = server.verify_per_device_s + server.verify_per_token_s * verified
        verify = server.verify_base_s + np.where(verified > 0, each, 0.0).sum(axis=1)
        deadline = self._deadlines(at, verify)
        there = np.isfinite(deadline)
        goodput = self.table.tokens[at] / np.where(there, deadline + verify, 1.0)[:, None]
        if "floor" in self.limits:
            there &= np.all(goodput >= self.limits["floor"] * (1 - ROUND_OFF), axis=1)
        with np.errstate(divide="ignore"):
            values = np.where(there, self.utility(goodput), -np.inf)
        best = int(np.argmax(values))
        return float(values[best]), choices[best] if np.isfinite(values[best]) else None

    def _choices(self) -> Any:
        rows, count = self.table.shape
        choices = np.array(list(itertools.product(range(rows), repeat=count)))
        at = choices, np.arange(count)
        drafted, part = self.table.drafted[at], self.table.verified[at] > 0
        good = self.table.allowed[at].all(axis=1)
        good &= drafted.sum(axis=1) <= self.limits.get("tokens", np.inf)
        good &= part.sum(axis=1) <= self.limits.get("slots", np.inf)
        if "lengths" in self.limits:
            good &= np.all(np.isin(drafted, self.limits["lengths"]) | ~part, axis=1)
        return choices[good]

    def _deadlines(self, at: Any, verify_s: Floats) -> Floats:
        """The shortest deadlines at which all bandwidths needed fit into the band; infinite where none do."""
        first = (self.table.compute_s[at] + self.table.trip_s[at]).max(axis=1)
        low, high = first.copy(), np.maximum(first, 1e-9)
        fits = self._fits(at, high, verify_s)
        for _ in range(LONGER):
            if fits.all():
                break
            high = np.where(fits, high, 8 * high)
            fits = self._fits(at, high, verify_s)
        never = ~fits
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            early = self._fits(at, middle, verify_s)
            low, high = np.where(early, low, middle), np.where(early, middle, high)
        return np.where(never, np.inf, np.where(self._fits(at, first, verify_s), first, high))

    def _fits(self, at: Any, deadline_s: Floats, verify_s: Floats) -> Any:
        table, limits, server = self.table, self.limits, self.scenario
        busy, bits = table.compute_s[at] + table.trip_s[at], table.bits[at]
        airtime = deadline_s[:, None] - busy
        for power, per_round, per_token in (("power", 1, 0), ("energy", 0, 1)):
            if power in limits:
                draft_w, send_w, most = limits[power]
                joule = most * (per_round * (deadline_s + verify_s)[:, None] + per_token * table.tokens[at])
                airtime = np.minimum(airtime, (joule - draft_w * table.compute_s[at]) / send_w)
        sends = bits > 0
        some = airtime > 0
        radio = {"uplink_bandwidth_hz": server.uplink_bandwidth_hz, "uplink_sharing": server.uplink_sharing}
        cell = {"radio": radio, "devices": [{"uplink_snr_db": snr} for snr in server.uplink_snr_db]}
        rate = np.where(sends & some, bits / np.where(some, airtime, 1.0), 0.0)
        hertz = brute_force.bandwidth_of_rate(cell, rate, by_brentq=False)
        hertz = np.maximum(hertz, limits.get("least_hz", 0.0))
        if "block_hz" in limits:
            hertz = np.ceil(hertz / limits["block_hz"] * (1 - ROUND_OFF)) * limits["block_hz"]
        hertz = np.where(hertz > limits.get("most_hz", np.inf) * (1 + ROUND_OFF), np.inf, hertz)
        ready = np.where(sends, some, deadline_s[:, None] >= busy)
        needed = np.where(ready, np.where(sends, hertz, 0.0), np.inf)
        return needed.sum(axis=1) <= server.uplink_bandwidth_hz * (1 + ROUND_OFF)


def random_scenario(rng: np.random.Generator, most_devices: int = 3, longest: int = 4) -> Scenario:
    """A cell whose numbers span what devices, links and servers have."""
    count = int(rng.integers(1, most_devices + 1))
    return msopt.Scenario(
        verify_base_s=float(10 ** rng.uniform(-2, -0.5)),
        verify_per_token_s=float(rng.choice([0.0, 10 ** rng.uniform(-4, -2)])),
        verify_per_device_s=float(rng.choice([0.0, 10 ** rng.uniform(-3, -2)])),
        downlink_power_w=1.0,
        uplink_bandwidth_hz=float(10 ** rng.uniform(5.5, 7)),
        downlink_bandwidth_hz=1e7,
        uplink_sharing=rng.choice(["fixed-snr", "power-limited"]).item(),
        token_bits=17,
        distribution_bits=float(10 ** rng.uniform(3.5, 5)),
        acceptance=rng.uniform(0.2, 0.98, count),
        draft_s_per_token=10 ** rng.uniform(-2.5, -1, count),
        uplink_snr_db=rng.uniform(-5, 25, count),
        downlink_snr_db=rng.uniform(0, 30, count),
        max_draft_length=longest,
        min_draft_length=int(rng.integers(0, 2)),
        round_trip_s=None if rng.random() < 0.7 else rng.uniform(0, 0.05, count),
    )
