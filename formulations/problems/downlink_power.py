r"""Downlink power that equalises the delays of a given downlink set ([UD] Lemma 1; unequal shares too).

.. math::
    \max_{p, R} R \quad\text{s.t.}\quad
    \beta_k B_d \log_2\Bigl(1 + \frac{SNRd_k\, p_k}{P\, \beta_k}\Bigr) \ge R, \quad \sum_k p_k \le P,

with \beta_k device k's share of the band. All are sent one distribution of V bits, so the common rate R gives
the common delay V/R. No power is negative where R is not. Scaled by a guess of the powers and of the rate.
"""

from collections.abc import Sequence
from typing import ClassVar, final

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.core.formulation import AbstractFormulation
from formulations.terms.program_limits import DownlinkPowerBudget
from formulations.terms.rate_cone import declare_rate, set_rate
from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError, describe
from msopt.model.budget import within_budget
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2


def device_set(scenario: Scenario, devices: Sequence[int] | None, name: str) -> IntArray:
    """Indices of the devices named, all where None; raises ParameterError for a repeated or unknown one."""
    chosen = np.arange(scenario.device_count) if devices is None else np.asarray(devices, dtype=np.int64).reshape(-1)
    if (
        chosen.size == 0
        or np.unique(chosen).size != chosen.size
        or chosen.min() < 0
        or chosen.max() >= scenario.device_count
    ):
        raise ParameterError(
            f"{name} = {describe(list(chosen))} is not a set of devices; "
            f"some of the indices from 0 to {scenario.device_count - 1} are"
        )
    return chosen


@final
class DownlinkPower(AbstractFormulation):
    """The greatest common downlink rate.

    Parameters
    ----------
    scenario : Scenario
        Any.
    devices : sequence of int, optional
        Indices of the downlink set; all devices where left out.
    shares : sequence of float, optional
        Share of the downlink band of each of them; equal and summing to one where left out.
    """

    name = "downlink-power"
    objective_unit = "bit/s"
    passes: ClassVar[int] = 2

    def __init__(
        self, scenario: Scenario, devices: Sequence[int] | None = None, shares: Sequence[float] | None = None
    ) -> None:
        self._devices = device_set(scenario, devices, "devices")
        count = self._devices.size
        self._shares = np.full(count, 1.0 / count) if shares is None else np.array(shares, dtype=float)
        good = (
            self._shares.shape == (count,) and bool(np.all(self._shares > 0.0)) and np.sum(self._shares) <= 1.0 + 1e-12
        )
        if not good:
            raise ParameterError(
                f"shares = {describe(shares)} are not {count} positive numbers with a sum of at most 1"
            )
        super().__init__(scenario)

    def _build(self) -> cp.Maximize:
        n = self._devices.size
        rate, power = self.variable("rate"), self.variable("power", n)
        exponent, share = (self.parameter(name, n, nonneg=True) for name in ("exponent", "power_share"))
        declare_rate(self, rate * exponent, cp.Constant(np.ones(n)), power)
        used = cp.multiply(share, power)
        self.quantity("downlink_power_w", used, "W", lambda: self.scenario.downlink_power_w)
        self.limit(DownlinkPowerBudget())
        return cp.Maximize(rate)

    def _estimate(self) -> None:
        needed = self._shares / self.scenario.downlink_snr[self._devices]
        self._guess_power(needed / np.sum(needed))

    def _guess_power(self, share: FloatArray) -> None:
        self.power_0 = np.maximum(share, 1e-12)
        self.rate_0 = float(np.min(self._rates(share)[share > 0.0]))

    def _rates(self, share_of_power: FloatArray) -> FloatArray:
        snr = self.scenario.downlink_snr[self._devices] * share_of_power / self._shares
        return np.asarray(self._shares * self.scenario.downlink_bandwidth_hz * np.log1p(snr) / LN2)

    def rescale(self, found: bool) -> None:
        """Take the powers from the last answer."""
        if found:
            share = np.maximum(self.downlink_power_w.value / self.scenario.downlink_power_w, 1e-12)
            self._guess_power(share / np.sum(share))

    def _set_parameters(self) -> None:
        snr = self.scenario.downlink_snr[self._devices] * self.power_0 / self._shares
        self.set("exponent", self.rate_0 * LN2 / (self._shares * self.scenario.downlink_bandwidth_hz))
        set_rate(self, snr)
        self.set("power_share", self.power_0)

    @property
    def objective_scale(self) -> float:
        """Bits per second of one unit."""
        return self.rate_0

    def decision(self) -> Decision:
        """Powers [W], within the total, and the common delay of one distribution [s]."""
        power = within_budget(np.maximum(self.downlink_power_w.value, 0.0), self.scenario.downlink_power_w)
        slowest = float(np.min(self._rates(power / self.scenario.downlink_power_w)))
        delay_s = self.scenario.distribution_bits / slowest if slowest > 0.0 else np.inf
        return {"downlink_power_w": power, "delay_s": np.asarray(delay_s)}

    def score(self, decision: Decision) -> float:
        """The least rate [bit/s]."""
        return float(np.min(self._rates(decision["downlink_power_w"] / self.scenario.downlink_power_w)))
