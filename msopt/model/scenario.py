"""The scenario: every number a problem depends on, as the scenario file names it.

Fields carry the file's keys and units; arrays have shape (K,). What the solvers need in other units is
derived here, once: `uplink` (rates), `token_payload_bits`, `length_limits`, `verify_s`.
"""

import warnings
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msopt.arrays import BoolArray, FloatArray, Frozen, frozen, vector
from msopt.errors import PowerWarning
from msopt.model.acceptance import Acceptance
from msopt.model.budget import equal_share
from msopt.model.fields import OF_A_VARIANT, ONE_FOR_ALL, PER_DEVICE
from msopt.model.problems import KINDS, PROBLEMS, Problem
from msopt.model.scenario_checks import check, device_label, powers_changed, slips
from msopt.model.scenario_shown import scenario_plot, scenario_summary
from msopt.model.sharing import FixedSnr, PowerLimited, Sharing, UplinkSharing, spectral_efficiency
from msopt.shown.object_summary import Shown, Summary
from msopt.units import db_to_linear, linear_to_db

if TYPE_CHECKING:
    from msopt.shown.pictures import Axes

__all__ = ["DEFAULT_MAX_DRAFT_LENGTH", "PROBLEMS", "Problem", "Scenario"]

DEFAULT_MAX_DRAFT_LENGTH = 16


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scenario(Shown, Frozen):
    """K devices, one server, one radio cell (design section 1); immutable and checked.

    Attributes
    ----------
    name : str
        What tables and reports call the scenario.
    device_names : tuple of K str
        Unique, not empty; "device-1", "device-2", ... where left out.
    acceptance : Acceptance
        Acceptance law of each device; K numbers mean the geometric law.
    draft_s_per_token, uplink_snr_db, downlink_snr_db : arrays, shape (K,)
        Time to draft one token [s]; uplink SNR with the device's full power over the whole uplink band,
        downlink SNR were all the server's power given to the device over the whole downlink band [dB].
    verify_base_s, verify_per_device_s, verify_per_token_s : float
        Verification takes their sum, the last two times K and the number of tokens verified [s].
    downlink_power_w : float
        The server's total downlink power [W].
    server_draft_s_per_token : float or None
        One drafting step for the whole batch at the server [s]; only the centralised baseline needs it.
    uplink_bandwidth_hz, downlink_bandwidth_hz : float
        The bands [Hz].
    uplink_sharing : "fixed-snr" or "power-limited"
        How a share of the uplink band becomes a rate.
    token_bits, distribution_bits : float
        One drafted token's index; one vocabulary distribution as sent [bit].
    min_draft_length, max_draft_length : int or None, int
        Limits of every draft length [token]; without a minimum it is 1 for [MS]'s problems, 0 for [UD]'s.
    weight, device_goodput_floor_tokens_per_s, draft_power_w, transmit_power_w, average_power_w, round_trip_s :
        arrays, shape (K,), or None. What variants need of the devices (design section 7).
    utility, fairness_alpha, goodput_floor_tokens_per_s, token_latency_ceiling_s, token_budget, slots,
    bandwidth_floor_hz, bandwidth_cap_hz, resource_block_hz, padded_batches :
        The keys of `[variant]`, or None: another utility in place of the sum, and limits (design section 7).

    Raises
    ------
    ParameterError
        For any value outside its domain; the text names the field, the device, the value and what is allowed.

    Examples
    --------
    >>> cell = Scenario(
    ...     verify_base_s=0.2, verify_per_token_s=1e-4, downlink_power_w=10.0,
    ...     uplink_bandwidth_hz=20e6, downlink_bandwidth_hz=20e6, token_bits=17, distribution_bits=33792,
    ...     acceptance=[0.8, 0.6], draft_s_per_token=[0.02, 0.04],
    ...     uplink_snr_db=[10.0, -5.0], downlink_snr_db=[25.0, 10.0],
    ... )
    >>> cell.device_count
    2
    """

    name: str = "scenario"
    verify_base_s: float
    downlink_power_w: float
    uplink_bandwidth_hz: float
    downlink_bandwidth_hz: float
    token_bits: float
    distribution_bits: float
    acceptance: Acceptance
    draft_s_per_token: FloatArray
    uplink_snr_db: FloatArray
    downlink_snr_db: FloatArray
    device_names: tuple[str, ...] = ()
    verify_per_device_s: float = 0.0
    verify_per_token_s: float = 0.0
    server_draft_s_per_token: float | None = None
    uplink_sharing: UplinkSharing = "fixed-snr"
    min_draft_length: int | None = None
    max_draft_length: int = DEFAULT_MAX_DRAFT_LENGTH
    weight: FloatArray | None = None
    device_goodput_floor_tokens_per_s: FloatArray | None = None
    draft_power_w: FloatArray | None = None
    transmit_power_w: FloatArray | None = None
    average_power_w: FloatArray | None = None
    round_trip_s: FloatArray | None = None
    utility: str | None = None
    fairness_alpha: float | None = None
    goodput_floor_tokens_per_s: float | None = None
    token_latency_ceiling_s: float | None = None
    token_budget: int | None = None
    slots: int | None = None
    bandwidth_floor_hz: float | None = None
    bandwidth_cap_hz: float | None = None
    resource_block_hz: float | None = None
    padded_batches: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.acceptance, Acceptance):
            object.__setattr__(self, "acceptance", Acceptance.of(self.acceptance))
        for row in (row for row in PER_DEVICE if getattr(self, row.field) is not None or not row.optional):
            object.__setattr__(self, row.field, vector(getattr(self, row.field), row.field))
        names = (self.device_names,) if isinstance(self.device_names, str) else tuple(self.device_names)
        names = names or tuple(f"device-{k + 1}" for k in range(self.acceptance.mean.size))
        object.__setattr__(self, "device_names", names)
        check(vars(self))
        for row in ONE_FOR_ALL:
            if getattr(self, row.field) is not None:
                object.__setattr__(self, row.field, row.kind(getattr(self, row.field)))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a scenario file (design section 2); raises ParameterError naming the file, key and value."""
        from msopt.files.scenario_toml import parse
        from msopt.files.whole_files import read_as

        return read_as(path, lambda text: cls(**parse(text, Path(path).stem, Path(path).parent)))

    def write(self, path: str | PathLike[str], comment: str = "") -> None:
        """Write the scenario file in numbers, whole or not at all, under a comment; `read` gives an equal scenario."""
        from msopt.files.scenario_toml import to_toml
        from msopt.files.whole_files import write_text

        write_text(path, to_toml(vars(self), comment))

    def replace(self, **changes: Any) -> Self:
        """The same scenario with some fields changed, checked anew.

        Warns
        -----
        PowerWarning
            Where an SNR that stays means another transmit power, because its band or the server's power changed.
        """
        changed = replace(self, **changes)
        for text in powers_changed(vars(self), vars(changed), changes):
            warnings.warn(text, PowerWarning, stacklevel=2)
        return changed

    def with_bandwidth(self, uplink_hz: float | None = None, downlink_hz: float | None = None) -> Self:
        """The same scenario with other bands at the same transmit powers.

        A power that is spread over twice the band has half the SNR, so SNR times band stays for the downlink and for
        `power-limited` sharing. With `fixed-snr` the uplink SNRs stay: there a device has its SNR in any share of the
        band ([MS], where the noise is a power whatever the band). Either way what some hertz of the uplink carry for
        a device stays, and the derivative of the best goodput in `uplink_hz` is the price of bandwidth.

        Parameters
        ----------
        uplink_hz, downlink_hz : float, optional
            The new bands [Hz]; None leaves one as it is.

        Raises
        ------
        ParameterError
            For a band, or an SNR that comes of it, outside its domain.

        Examples
        --------
        >>> cell = Scenario(
        ...     verify_base_s=0.2, downlink_power_w=10.0, uplink_bandwidth_hz=10e6, downlink_bandwidth_hz=10e6,
        ...     uplink_sharing="power-limited", token_bits=17, distribution_bits=33792,
        ...     acceptance=[0.8], draft_s_per_token=[0.02], uplink_snr_db=[10.0], downlink_snr_db=[25.0],
        ... )
        >>> cell.with_bandwidth(uplink_hz=100e6).uplink_snr_db
        array([0.])
        """
        wider = self
        if uplink_hz is not None:
            wider = replace(wider, uplink_bandwidth_hz=uplink_hz)
            if self.uplink_sharing == "power-limited":
                fall_db = linear_to_db(wider.uplink_bandwidth_hz / self.uplink_bandwidth_hz)
                wider = replace(wider, uplink_snr_db=self.uplink_snr_db - fall_db)
        if downlink_hz is not None:
            wider = replace(wider, downlink_bandwidth_hz=downlink_hz)
            fall_db = linear_to_db(wider.downlink_bandwidth_hz / self.downlink_bandwidth_hz)
            wider = replace(wider, downlink_snr_db=self.downlink_snr_db - fall_db)
        return wider

    def with_downlink_power(self, power_w: float) -> Self:
        """The same scenario with another power of the server [W], and downlink SNRs to match."""
        louder = replace(self, downlink_power_w=power_w)
        rise_db = linear_to_db(louder.downlink_power_w / self.downlink_power_w)
        return replace(louder, downlink_snr_db=self.downlink_snr_db + rise_db)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    @property
    def device_count(self) -> int:
        """K, the number of devices."""
        return len(self.device_names)

    def device_label(self, k: int) -> str:
        """How messages name device k."""
        return device_label(self.device_names, k)

    @cached_property
    def uplink_snr(self) -> FloatArray:
        """Linear uplink SNR, shape (K,)."""
        return frozen(db_to_linear(self.uplink_snr_db))

    @cached_property
    def downlink_snr(self) -> FloatArray:
        """Linear downlink SNR, shape (K,)."""
        return frozen(db_to_linear(self.downlink_snr_db))

    @cached_property
    def uplink(self) -> Sharing:
        """Rates on the uplink as a function of bandwidth."""
        if self.uplink_sharing == "fixed-snr":
            return FixedSnr(spectral_efficiency(self.uplink_snr))
        return PowerLimited(self.uplink_snr * self.uplink_bandwidth_hz)

    @cached_property
    def equal_share_hz(self) -> float:
        """B/K, rounded down so that K of them are within the band [Hz]."""
        return equal_share(self.uplink_bandwidth_hz, self.device_count)

    def token_payload_bits(self, problem: Problem) -> float:
        """Bits each drafted token costs before verification, its distribution included where the problem sends it."""
        return self.token_bits + (self.distribution_bits if KINDS[problem].sends_distribution else 0.0)

    def length_limits(self, problem: Problem) -> tuple[int, int]:
        """Least and greatest draft length [token]."""
        if self.min_draft_length is not None:
            return self.min_draft_length, self.max_draft_length
        return KINDS[problem].least_length, self.max_draft_length

    @property
    def verify_idle_s(self) -> float:
        """Verification time of a round in which nobody drafts: c0 + (c2 + c1) K [s]."""
        return self.verify_base_s + (self.verify_per_device_s + self.verify_per_token_s) * self.device_count

    def verify_s(self, draft_length: Any, served: BoolArray | None = None) -> FloatArray:
        """Verification time T_ver [s] for lengths of shape (..., K).

        Parameters
        ----------
        draft_length : array, shape (..., K)
        served : array of bool, shape (..., K), optional
            Who takes part in the round; all by default.
        """
        if served is None and not self.padded_batches:
            return np.asarray(self.verify_idle_s + self.verify_per_token_s * np.add.reduce(draft_length, axis=-1))
        lengths = np.asarray(draft_length, dtype=float)
        part = np.ones(lengths.shape, dtype=bool) if served is None else served
        count = np.count_nonzero(part, axis=-1)
        drafted = np.where(part, lengths, 0.0)
        tokens = count * np.max(drafted, axis=-1) if self.padded_batches else np.sum(drafted, axis=-1)
        each = self.verify_per_device_s + self.verify_per_token_s
        return np.asarray(self.verify_base_s + each * count + self.verify_per_token_s * tokens)

    def trip_s(self, drafts: BoolArray) -> FloatArray:
        """What the messages of those who draft are under way besides being sent [s], shape (..., K)."""
        return np.where(drafts, 0.0 if self.round_trip_s is None else self.round_trip_s, 0.0)

    @property
    def variant_fields(self) -> tuple[str, ...]:
        """Which of its fields make it a problem of its own; empty for the papers'."""
        return tuple(name for name in OF_A_VARIANT if getattr(self, name) is not None)

    def summary(self) -> Summary:
        """What `repr`, `print` and a notebook show of it."""
        return scenario_summary(vars(self), self.variant_fields)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The devices by uplink, drafting time and acceptance, on `ax` or a new figure; loads matplotlib."""
        return scenario_plot(vars(self), ax)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed but looks like a slip."""
        return slips(vars(self))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Acceptance):
        return (
            np.array_equal(one.mean, other.mean)
            and np.array_equal(one.std, other.std)
            and all(
                (a is None) == (b is None) and (a is None or np.array_equal(a, b))
                for a, b in zip(one.curves, other.curves, strict=True)
            )
        )
    return bool(np.array_equal(one, other))
