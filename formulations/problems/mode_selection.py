r"""Modes and powers for one rejected set, mixed-integer linear with tangent cuts ([UD]; as a program ours; HiGHS).

The r rejected devices exchange one distribution of V bits each, over B/r up or B_d/r down. With \nu the reverse
of the time of the slowest, m_k = 1 for the uplink and \pi_k = p_k/P,

.. math::
    \max_{\nu, \pi, m} \nu \quad\text{s.t.}\quad & \nu \le \frac{R_k(B/r)}{V} + M_k (1 - m_k), \qquad
    \sum_k \pi_k \le 1, \qquad m_k \in \{0, 1\}, \\
    & \nu \le \frac{B_d}{r V} \log_2(1 + r\, SNRd_k\, \pi_k) + M m_k.

The concave rate is replaced by the least of some of its tangents, so that the program bounds \nu from above;
its modes and powers, scored exactly, bound it from below. Tangents at the powers found, and at those the score
needs, are added until the two are within 1e-7. M is the least over devices of the best either mode could do.

`enumerate_modes` does without integers: every choice of modes, with `downlink_power` for each downlink set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, final

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.core.formulation import AbstractFormulation
from formulations.problems.downlink_power import DownlinkPower, device_set
from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.budget import equal_share, within_budget
from msopt.model.control import Reaction
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2

FIRST_TANGENTS = (0.0, 0.03, 0.1, 0.3, 0.6, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0)
CUTS = 40
LARGEST_EXPONENT = 300.0
ENUMERATED = 6
GAP = 1e-7


def uplink_rates(scenario: Scenario, rejected: IntArray) -> FloatArray:
    """Distributions per second that each rejected device can send over its share B/r."""
    share = np.full(rejected.size, scenario.uplink_bandwidth_hz / rejected.size)
    return np.asarray(scenario.uplink.take(rejected).rate(share) / scenario.distribution_bits)


def downlink_rates(scenario: Scenario, rejected: IntArray, share_of_power: FloatArray) -> FloatArray:
    """Distributions per second that the server sends to each over B_d/r with its share of the power."""
    r = rejected.size
    capacity = scenario.downlink_bandwidth_hz / (r * scenario.distribution_bits * LN2)
    return np.asarray(capacity * np.log1p(r * scenario.downlink_snr[rejected] * share_of_power))


@final
class ModeSelection(AbstractFormulation):
    """The best modes and powers; the objective is the reverse of the correction's time.

    Parameters
    ----------
    scenario : Scenario
        Any.
    rejected : sequence of int
        Indices of the rejected devices.
    """

    name = "mode-selection"
    objective_unit = "1/s"
    solvers = ("HIGHS",)
    passes: ClassVar[int] = 1
    least_repeats: ClassVar[int] = CUTS
    agreement: ClassVar[float] = GAP

    def __init__(self, scenario: Scenario, rejected: Sequence[int]) -> None:
        self._rejected = device_set(scenario, rejected, "rejected")
        super().__init__(scenario)

    def _build(self) -> cp.Maximize:
        r, rows = self._rejected.size, len(FIRST_TANGENTS) + 2 * CUTS
        nu, power, uplink = (self.variable("nu"), self.variable("power", r), self.variable("uplink", r, boolean=True))
        rate, relax = self.parameter("uplink_rate", r, nonneg=True), self.parameter("relax", r, nonneg=True)
        most = self.parameter("most", nonneg=True)
        intercept, slope = (self.parameter(name, (rows, r), nonneg=True) for name in ("intercept", "slope"))
        share = self.parameter("power_share", r, nonneg=True)
        column = np.ones((rows, 1))
        tangent = intercept + cp.multiply(slope, column @ cp.reshape(power, (1, r), order="C"))
        self.constrain("uplink", nu <= rate + cp.multiply(relax, 1.0 - uplink))
        self.constrain("downlink", nu <= tangent + most * (column @ cp.reshape(uplink, (1, r), order="C")))
        self.constrain("no_power", power >= 0.0)
        self.constrain("most", nu <= most)
        used = cp.multiply(share, power)
        self.constrain("power", cp.sum(used) <= 1.0)
        self.quantity("downlink_power_w", used, "W", lambda: self.scenario.downlink_power_w)
        self.quantity("uplink", uplink, "1")
        return cp.Maximize(nu)

    # Units and tangents.

    def _estimate(self) -> None:
        scenario, rejected = self.scenario, self._rejected
        snr = scenario.downlink_snr[rejected]
        self._up = uplink_rates(scenario, rejected)
        down = float(np.min(downlink_rates(scenario, rejected, (1.0 / snr) / np.sum(1.0 / snr))))
        self.nu_0 = max(float(np.min(self._up)), down)
        r = rejected.size
        self._exponent = self.nu_0 * r * scenario.distribution_bits * LN2 / scenario.downlink_bandwidth_hz
        needed = np.expm1(min(self._exponent, LARGEST_EXPONENT)) / (r * snr)
        self.power_0 = np.minimum(needed, 1.0)
        self._gain = r * snr * self.power_0
        self._points = [np.full(r, point) for point in FIRST_TANGENTS]

    def rescale(self, found: bool) -> None:
        """Add tangents at the powers found, and at those that the score of these modes needs."""
        if found:
            level = self.score(self.decision()) / self.nu_0
            needed = np.expm1(min(level * self._exponent, LARGEST_EXPONENT)) / self._gain
            self._points += [np.maximum(self.solved("power"), 0.0), np.minimum(needed, 1.0 / self.power_0)]

    def _set_parameters(self) -> None:
        rows = self.parameters["slope"].shape[0]
        points = np.array((self._points + [self._points[0]] * rows)[:rows])
        rate = np.log1p(self._gain * points) / self._exponent
        slope = self._gain / (self._exponent * (1.0 + self._gain * points))
        alone = np.log1p(self._gain / self.power_0) / self._exponent
        up = self._up / self.nu_0
        most = float(np.min(np.maximum(up, alone)))
        self.set("intercept", rate - slope * points)
        self.set("slope", slope)
        self.set("uplink_rate", np.minimum(up, most))
        self.set("relax", most - np.minimum(up, most))
        self.set("most", most)
        self.set("power_share", self.power_0)

    @property
    def objective_scale(self) -> float:
        """Corrections per second of one unit."""
        return self.nu_0

    # Solution.

    def decision(self) -> Decision:
        """1 for the uplink, powers [W] that use the total, and the time of the slowest [s]."""
        uplink = np.rint(self.solved("uplink"))
        share = np.where(uplink > 0.5, 0.0, np.maximum(self.power_0 * self.solved("power"), 0.0))
        share = share / np.sum(share) if np.sum(share) > 0.0 else share
        return {
            "uplink": uplink,
            "downlink_power_w": within_budget(share * self.scenario.downlink_power_w, self.scenario.downlink_power_w),
            "correction_s": np.asarray(1.0 / max(self._slowest(uplink, share), np.finfo(float).tiny)),
        }

    def _slowest(self, uplink: FloatArray, share: FloatArray) -> float:
        down = downlink_rates(self.scenario, self._rejected, share)
        return float(np.min(np.where(uplink > 0.5, self._up, down)))

    def score(self, decision: Decision) -> float:
        """Reverse of the time of the slowest, from the rates themselves [1/s]."""
        return self._slowest(decision["uplink"], decision["downlink_power_w"] / self.scenario.downlink_power_w)


@dataclass(frozen=True, kw_only=True, eq=False)
class EnumeratedModes:
    """The best of all choices of modes.

    Attributes
    ----------
    correction_s : float
        Time of the slowest [s].
    reaction : Reaction
        A choice that attains it.
    """

    correction_s: float
    reaction: Reaction


def enumerate_modes(scenario: Scenario, rejected: Sequence[int], solver: str = "ECOS") -> EnumeratedModes:
    """Every choice of modes for at most six rejected devices, powers by the conic program for each downlink set.

    Raises
    ------
    ParameterError
        For more than six rejected devices.
    """
    devices = device_set(scenario, rejected, "rejected")
    r = devices.size
    if r > ENUMERATED:
        raise ParameterError(f"{r} rejected devices are too many to enumerate; use ModeSelection above {ENUMERATED}")
    up = 1.0 / uplink_rates(scenario, devices)
    best, choice, powers = np.inf, np.ones(r, dtype=bool), np.zeros(r)
    for mask in product((True, False), repeat=r):
        uplink: BoolArray = np.array(mask)
        time, power = float(np.max(up, where=uplink, initial=0.0)), np.full(r, np.nan)
        if not np.all(uplink):
            down = devices[~uplink]
            solution = DownlinkPower(scenario, down.tolist(), [1.0 / r] * down.size).solve(solver)
            time, power[~uplink] = max(time, float(solution["delay_s"])), solution["downlink_power_w"]
        if time < best:
            best, choice, powers = time, uplink, power
    up_hz, down_hz = (equal_share(band, r) for band in (scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz))
    reaction = Reaction(
        rejected=devices,
        modes=tuple("uplink" if one else "downlink" for one in choice),
        bandwidth_hz=np.where(choice, up_hz, down_hz),
        downlink_power_w=np.where(choice, np.nan, powers),
    )
    return EnumeratedModes(correction_s=best, reaction=reaction)
