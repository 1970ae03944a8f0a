r"""Bandwidths and downlink power for one rejected set in given modes (ours; [UD] has equal bandwidths).

With \nu the exchanges in a second, f_k the fraction of its band W_k and \pi_k = p_k/P,

.. math::
    \max_{\nu, f, \pi} \nu \quad\text{s.t.}\quad & V_k \nu \le f_k W_k \log_2(1 + S_k \pi_k/f_k)
    \quad\text{(downlink; power-limited uplink with } \pi_k = 1), \\
    & V_k \nu \le f_k B e_k \quad\text{(fixed-SNR uplink)}, \qquad \sum_k f_k \le 1, \qquad \sum_k \pi_k \le 1,

the fractions added up over both directions where they share one band, over each where they have bands of their own.
"""

from collections.abc import Sequence
from typing import ClassVar, final

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.core.formulation import AbstractFormulation
from formulations.problems.downlink_power import device_set
from formulations.terms.program_limits import DownlinkPowerBudget
from formulations.terms.rate_cone import declare_rate, set_rate
from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.budget import within_budget
from msopt.model.control import BAND_RULES, BandRule
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2, FixedSnr

_LEAST = 1e-12  # a fraction is sized as at least this


@final
class FreeCorrection(AbstractFormulation):
    """The fastest exchange in given modes; the objective is the reverse of its time.

    Parameters
    ----------
    scenario : Scenario
        Any.
    rejected : sequence of int
        Indices of the rejected devices.
    on_uplink : sequence of bool
        Which of them are corrected by uplink.
    bands : "shared-band" or "separate-bands"
    bits : sequence of float, optional
        What each of them exchanges [bit], above 0; the whole distribution where left out.
    """

    name = "free-correction"
    objective_unit = "1/s"
    passes: ClassVar[int] = 2

    def __init__(
        self,
        scenario: Scenario,
        rejected: Sequence[int],
        on_uplink: Sequence[bool],
        *,
        bands: BandRule = "shared-band",
        bits: Sequence[float] | None = None,
    ) -> None:
        self.name = f"{type(self).name}-{bands}"
        self._rejected = device_set(scenario, rejected, "rejected")
        self._up: BoolArray = np.array(on_uplink, dtype=bool)
        if self._up.shape != self._rejected.shape:
            raise ParameterError(f"on_uplink = {describe(list(on_uplink))} is not one mode for each rejected device")
        if bands not in BAND_RULES:
            raise ParameterError(f"bands = {describe(bands)} is not {' or '.join(BAND_RULES)}")
        self._given_bits = None if bits is None else np.array(bits, dtype=float)
        if self._given_bits is not None and not (
            self._given_bits.shape == self._up.shape and bool(np.all(self._given_bits > 0.0))
        ):
            raise ParameterError(f"bits = {describe(bits)} are not {self._up.size} positive numbers")
        sides = (self._up, ~self._up) if bands == "separate-bands" else (np.ones_like(self._up),)
        self._bands = [side for side in sides if side.any()]
        super().__init__(scenario)

    def _structure(self, scenario: Scenario) -> tuple[str, ...]:
        return (*super()._structure(scenario), scenario.uplink_sharing)

    @property
    def _bits(self) -> FloatArray:
        """What each exchanges [bit]."""
        return np.full(self._up.size, self.scenario.distribution_bits) if self._given_bits is None else self._given_bits

    @property
    def _cone(self) -> BoolArray:
        """Whose rate is a logarithm of power over band."""
        return ~self._up if isinstance(self.scenario.uplink, FixedSnr) else np.ones_like(self._up)

    def _build(self) -> cp.Maximize:
        r, down, cone = self._rejected.size, np.flatnonzero(~self._up), np.flatnonzero(self._cone)
        nu, band = self.variable("nu"), self.variable("band", r)
        sent, share = (self.parameter(name, r, nonneg=True) for name in ("sent", "band_share"))
        place = np.zeros((r, down.size))
        place[down, np.arange(down.size)] = 1.0
        power: cp.Expression = cp.Constant(self._up.astype(float))
        if down.size:
            some = self.variable("power", down.size)
            power = power + place @ some
            used = cp.multiply(self.parameter("power_share", down.size, nonneg=True), some)
            self.quantity("downlink_power_w", used, "W", lambda: self.scenario.downlink_power_w)
            self.limit(DownlinkPowerBudget())
        if cone.size:
            declare_rate(self, nu * sent[cone], band[cone], power[cone])
        if cone.size < r:
            linear = np.flatnonzero(~self._cone)
            self.constrain("uplink_rate", nu * sent[linear] <= band[linear])
        fraction = cp.multiply(share, band)
        for number, side in enumerate(self._bands):
            self.constrain(f"band {number + 1}", cp.sum(fraction[np.flatnonzero(side)]) <= 1.0)
        self.quantity("band_fraction", fraction, "1")
        return cp.Maximize(nu)

    # Units.

    def _estimate(self) -> None:
        self._snr = np.where(
            self._up, self.scenario.uplink_snr[self._rejected], self.scenario.downlink_snr[self._rejected]
        )
        self._hz = np.where(self._up, self.scenario.uplink_bandwidth_hz, self.scenario.downlink_bandwidth_hz)
        band = np.zeros(self._up.size)
        for side in self._bands:
            band[side] = 1.0 / np.count_nonzero(side)
        need = np.where(self._up, 0.0, 1.0 / self._snr)
        self._guess(band, need / max(float(np.sum(need)), _LEAST))

    def _guess(self, band: FloatArray, power: FloatArray) -> None:
        self.band_0, self.power_0 = np.maximum(band, _LEAST), np.maximum(np.where(self._up, 1.0, power), _LEAST)
        self.nu_0 = float(np.min(self._per_s(self.band_0, self.power_0)))

    def _per_s(self, band: FloatArray, power: FloatArray) -> FloatArray:
        """Exchanges per second of each at fractions of band and power."""
        snr = self._snr * np.where(self._cone, np.where(self._up, 1.0, power) / band, 1.0)
        return np.asarray(band * self._hz * np.log1p(snr) / (LN2 * self._bits))

    def rescale(self, found: bool) -> None:
        """Take bands and powers from the last answer."""
        if found:
            decision = self.decision()
            power = decision["downlink_power_w"] / self.scenario.downlink_power_w
            self._guess(decision["bandwidth_hz"] / self._hz, power)

    def _set_parameters(self) -> None:
        cone = self._cone
        snr = self._snr * np.where(cone, self.power_0 / self.band_0, 1.0)
        exponent = self.nu_0 * self._bits * LN2 / (self._hz * self.band_0)
        self.set("sent", exponent / np.where(cone, 1.0, np.log1p(snr)))
        self.set("band_share", self.band_0)
        if cone.any():
            set_rate(self, snr[cone])
        if not self._up.all():
            self.set("power_share", self.power_0[~self._up])

    @property
    def objective_scale(self) -> float:
        """Exchanges per second of one unit."""
        return self.nu_0

    # Solution.

    def decision(self) -> Decision:
        """Bandwidths [Hz] and powers [W], 0 on the uplink, within their limits, and the time of the slowest [s]."""
        band = np.maximum(self.band_0 * self.solved("band"), _LEAST)
        for side in self._bands:
            band[side] = within_budget(band[side], 1.0)
        power = np.zeros(band.size)
        if not self._up.all():
            total = self.scenario.downlink_power_w
            power[~self._up] = within_budget(np.maximum(self.downlink_power_w.value, 0.0), total)
        slowest = np.min(self._per_s(band, power / self.scenario.downlink_power_w))
        return {"bandwidth_hz": band * self._hz, "downlink_power_w": power, "correction_s": np.asarray(1.0 / slowest)}

    def score(self, decision: Decision) -> float:
        """Reverse of the time of the slowest, from the rates themselves [1/s]."""
        power = decision["downlink_power_w"] / self.scenario.downlink_power_w
        return float(np.min(self._per_s(decision["bandwidth_hz"] / self._hz, power)))
