"""Cells: from uniform random numbers to the SNRs of a scenario. The two papers', and 3GPP's.

`stated` and `ours` say whose each number is; they are format strings of the cell `c` and end up in the comment of
the scenario file.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from msopt.arrays import FloatArray
from msopt.drawn.channel.path_loss import PathLoss, PowerLaw, Urban, urban_macro, urban_micro
from msopt.drawn.channel.randomness import exponential, uniform, uniform_in_area
from msopt.errors import ParameterError, describe
from msopt.model.sharing import UplinkSharing
from msopt.model.validation import POSITIVE, Flag
from msopt.units import dbm_to_w, linear_to_db, snr_db, w_to_dbm

_POWERS = ("uplink_power_dbm", "downlink_power_dbm")
_POWER = (-200.0, 200.0, "a number of dBm from -200 to 200")
_DOMAINS = {
    "bandwidth_hz": (math.ulp(0.0), sys.float_info.max, POSITIVE),
    **dict.fromkeys(_POWERS, _POWER),
    "power_ratio": (1e-9, 1e9, "a number from 1e-9 to 1e9"),
}


class Draws(NamedTuple):
    """What is drawn of each device's channel: uniform numbers in [0, 1), shape (K,)."""

    place: FloatArray
    fading: FloatArray
    sight: FloatArray
    shadow: FloatArray

    @classmethod
    def of(cls, place: FloatArray, fading: FloatArray, seed: int) -> Self:
        """Place and fading as given, line of sight and shadowing from a stream of their own of the same seed."""
        own = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        sight, shadow = own.random((np.size(place), 2)).T
        return cls(place, fading, sight, shadow)


@dataclass(frozen=True, kw_only=True)
class Cell(ABC):
    """One server, devices at random places, one band for either direction.

    Attributes
    ----------
    bandwidth_hz : float
        The band [Hz].
    uplink_sharing : "fixed-snr" or "power-limited"
        How a share of it becomes a rate on the uplink.
    uplink_power_dbm, downlink_power_dbm : float
        Power of each device and of the server [dBm].
    power_budget_dbm : tuple of 2 float, or None
        Where powers may be given by their ratio: what the server and each device add to the fixed sum [dBm].
    fading : bool
        Whether Rayleigh fading is drawn; without it every gain is its average.
    stated, ours : tuples of str
        What the paper states; what is ours because the paper does not state it, or neglects it.
    """

    bandwidth_hz: float
    uplink_sharing: UplinkSharing
    uplink_power_dbm: float
    downlink_power_dbm: float
    power_budget_dbm: tuple[float, float] | None = None
    fading: bool = True
    stated: tuple[str, ...]
    ours: tuple[str, ...]

    @abstractmethod
    def snrs_db(self, drawn: Draws) -> tuple[FloatArray, FloatArray]:
        """Uplink and downlink SNR [dB] over the whole band, both through the same gain (ours); shape (K,)."""

    def faded(self, drawn: Draws) -> FloatArray:
        """What fading multiplies each average gain by [1]; shape (K,)."""
        return exponential(drawn.fading) if self.fading else np.ones(np.shape(drawn.fading))

    @property
    def fade_words(self) -> str:
        """Whether it is drawn."""
        return "times Rayleigh fading" if self.fading else "without fading"

    @property
    def downlink_power_w(self) -> float:
        """Power of the server [W], to the 12 digits that every machine's powers of ten agree in."""
        return float(f"{float(dbm_to_w(self.downlink_power_dbm)):.12g}")

    def fields(self, drawn: Draws) -> dict[str, Any]:
        """What a `Scenario` takes from the cell and the devices drawn, by the scenario's field names.

        SNRs are rounded far below what matters, so that a scenario file is the same on every machine.
        """
        uplink_snr_db, downlink_snr_db = self.snrs_db(drawn)
        return {
            "downlink_power_w": self.downlink_power_w,
            "uplink_bandwidth_hz": self.bandwidth_hz,
            "downlink_bandwidth_hz": self.bandwidth_hz,
            "uplink_sharing": self.uplink_sharing,
            "uplink_snr_db": np.round(uplink_snr_db, 9),
            "downlink_snr_db": np.round(downlink_snr_db, 9),
        }

    def with_options(self, device_count: int, options: Mapping[str, float]) -> Self:
        """The same cell with its band and powers as options say.

        ParameterError for a value outside its domain, or a ratio where there can be none.

        Parameters
        ----------
        device_count : int
            K.
        options : mapping
            Any of bandwidth_hz, uplink_power_dbm and downlink_power_dbm; or, in place of the two powers,
            power_ratio: R = P_dl/P_ul, with P_dl + K P_ul held at its budget ([UD]).
        """
        for option, value in options.items():
            low, high, allowed = _DOMAINS[option]
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (number and low <= value <= high):
                raise ParameterError(f"{option} = {describe(value)} is not {allowed}")
        uplink_dbm = float(options.get("uplink_power_dbm", self.uplink_power_dbm))
        downlink_dbm = float(options.get("downlink_power_dbm", self.downlink_power_dbm))
        if "power_ratio" in options:
            uplink_dbm, downlink_dbm = self._powers_of_ratio(device_count, options)
        return replace(
            self,
            bandwidth_hz=float(options.get("bandwidth_hz", self.bandwidth_hz)),
            uplink_power_dbm=uplink_dbm,
            downlink_power_dbm=downlink_dbm,
        )

    def with_laws(self, fading: bool | None, over_area: bool | None) -> Self:
        """The same cell with fading, and with places uniform in the area or in the distance, as given.

        ParameterError for what is no flag, or an area where places have none.
        """
        given: dict[str, Any] = {"fading": fading, "over_area": over_area}
        for option, value in given.items():
            if value is not None:
                Flag().check(option, value)
        if over_area is not None and not isinstance(self, PathLossCell):
            raise ParameterError("over_area is for cells with distances: [UD]'s presets, uldl-..., and 3GPP's cells")
        return replace(self, **{option: value for option, value in given.items() if value is not None})

    def _powers_of_ratio(self, device_count: int, options: Mapping[str, float]) -> tuple[float, float]:
        ratio = float(options["power_ratio"])
        if self.power_budget_dbm is None:
            raise ParameterError(
                f"power_ratio = {ratio:g} is not for this preset or cell but for [UD]'s own, uldl-...; "
                "set uplink_power_dbm and downlink_power_dbm"
            )
        for power in _POWERS:
            if power in options:
                raise ParameterError(
                    f"power_ratio = {ratio:g} sets both powers, so {power} = {options[power]:g} is not "
                    "allowed beside it"
                )
        server_w, device_w = (float(dbm_to_w(part)) for part in self.power_budget_dbm)
        uplink_w = (server_w + device_count * device_w) / (ratio + device_count)
        return float(w_to_dbm(uplink_w)), float(w_to_dbm(ratio * uplink_w))


@dataclass(frozen=True, kw_only=True)
class AverageGainCell(Cell):
    """[MS]: gain |CN(0, m)|², m uniform in a range; the noise is a power, whatever the bandwidth.

    Attributes
    ----------
    lowest_gain, highest_gain : float
        Range of the average gain m [1].
    noise_w : float
        Noise power, at the server ([MS]) and at the devices (ours) [W].
    """

    lowest_gain: float
    highest_gain: float
    noise_w: float

    @property
    def gain_words(self) -> str:
        """What the gain is, m being its average."""
        return "|CN(0, m)|^2, its average m" if self.fading else "without fading, its average"

    def snrs_db(self, drawn: Draws) -> tuple[FloatArray, FloatArray]:
        """Power times gain over the noise power, the same in every band."""
        gain = uniform(drawn.place, self.lowest_gain, self.highest_gain) * self.faded(drawn) / self.noise_w
        return (
            linear_to_db(dbm_to_w(self.uplink_power_dbm) * gain),
            linear_to_db(dbm_to_w(self.downlink_power_dbm) * gain),
        )


@dataclass(frozen=True, kw_only=True)
class PathLossCell(Cell):
    """Gain by distance, Rayleigh fading, white noise that differs between the server and the devices: [UD], 3GPP.

    Attributes
    ----------
    nearest_m, farthest_m : float
        Range of the distance on the ground [m].
    over_area : bool
        Whether devices are anywhere in that ring with equal probability, or at any distance (the default).
    loss : PathLoss
        Average gain by distance.
    server_noise_dbm_per_hz, device_noise_dbm_per_hz : float
        Noise densities [dBm/Hz]: thermal noise and noise figure.
    """

    nearest_m: float
    farthest_m: float
    over_area: bool = False
    loss: PathLoss
    server_noise_dbm_per_hz: float
    device_noise_dbm_per_hz: float

    @property
    def area_words(self) -> str:
        """In what places are uniform, where that is not the distance."""
        return " in the area" if self.over_area else ""

    def snrs_db(self, drawn: Draws) -> tuple[FloatArray, FloatArray]:
        """Power times gain over the noise in the whole band."""
        law = uniform_in_area if self.over_area else uniform
        distance_m = law(drawn.place, self.nearest_m, self.farthest_m)
        gain = self.loss.gain(distance_m, drawn.sight, drawn.shadow)
        gain_db = linear_to_db(gain * self.faded(drawn))
        return (
            snr_db(self.uplink_power_dbm, gain_db, self.server_noise_dbm_per_hz, self.bandwidth_hz),
            snr_db(self.downlink_power_dbm, gain_db, self.device_noise_dbm_per_hz, self.bandwidth_hz),
        )


def unreplaced(statements: Iterable[str], options: Iterable[str]) -> list[str]:
    """The statements of a cell that none of some options makes untrue: those that show nothing which an option sets."""
    fields = [field for option in options for field in (_POWERS if option == "power_ratio" else (option,))]
    return [text for text in statements if not any(f"{{{of}.{field}" in text for field in fields for of in "cp")]


_MULTISPIN_POWER_W = 1.3e-8

MULTISPIN_CELL = AverageGainCell(
    bandwidth_hz=10e6,
    uplink_sharing="fixed-snr",
    uplink_power_dbm=float(w_to_dbm(_MULTISPIN_POWER_W)),
    downlink_power_dbm=float(w_to_dbm(16 * _MULTISPIN_POWER_W)),
    lowest_gain=0.2,
    highest_gain=0.5,
    noise_w=1e-10,
    stated=(
        "uplink band: {c.bandwidth_hz:g} Hz",
        "uplink: a device keeps its SNR in any share of the band; the noise is a power, {c.noise_w:g} W",
        "gain: {c.gain_words} uniform in [{c.lowest_gain:g}, {c.highest_gain:g}]",
    ),
    ours=(
        "power of a device: {c.uplink_power_dbm:.2f} dBm (1.3e-08 W), not stated; with it the mean of "
        "log2(1 + SNR) is 5.5 bit/s/Hz at the average gains, 4.8 with fading",
        "power of the server: {c.downlink_power_dbm:.2f} dBm (2.08e-07 W), 16 times the power of a device "
        "where no option sets it; the paper neglects the downlink",
        "downlink: the same band, gain and noise power as the uplink; the paper neglects it",
    ),
)
"""[MS]; the powers and all of the downlink are ours."""

ULDL_CELL = PathLossCell(
    bandwidth_hz=10e6,
    uplink_sharing="power-limited",
    uplink_power_dbm=10.0,
    downlink_power_dbm=30.0,
    power_budget_dbm=(30.0, 15.0),
    nearest_m=100.0,
    farthest_m=500.0,
    loss=PowerLaw(gain_at_1m_db=-30.0, exponent=3.5),
    server_noise_dbm_per_hz=-169.0,
    device_noise_dbm_per_hz=-167.0,
    stated=(
        "band: {c.bandwidth_hz:g} Hz, used in either direction",
        "uplink: a device puts its whole power into its share of the band",
        "power of a device: {c.uplink_power_dbm:g} dBm",
        "distance: between {c.nearest_m:g} and {c.farthest_m:g} m",
        "gain: {c.loss.gain_at_1m_db:g} dB at 1 m, falling with the distance to the power {c.loss.exponent:g}, "
        "{c.fade_words}",
        "noise: {c.server_noise_dbm_per_hz:g} dBm/Hz at the server, {c.device_noise_dbm_per_hz:g} dBm/Hz at "
        "the devices",
    ),
    ours=(
        "power of the server: {c.downlink_power_dbm:g} dBm; the paper sweeps it in a range not stated",
        "law of the distances: uniform{c.area_words}; the paper gives the range alone",
        "fading: the same in both directions; not stated",
    ),
)
"""[UD]; the server's power is ours, one of those it sweeps."""

THERMAL_NOISE_DBM_PER_HZ = -174.0
"""Of a receiver at 290 K, to the whole decibel."""

_SERVER_NOISE_FIGURE_DB, _DEVICE_NOISE_FIGURE_DB = 5.0, 9.0
_CARRIER_GHZ = 3.5


def _urban_cell(loss: Urban, nearest_m: float, farthest_m: float, downlink_power_dbm: float) -> PathLossCell:
    return PathLossCell(
        bandwidth_hz=10e6,
        uplink_sharing="power-limited",
        uplink_power_dbm=23.0,
        downlink_power_dbm=downlink_power_dbm,
        nearest_m=nearest_m,
        farthest_m=farthest_m,
        over_area=True,
        loss=loss,
        server_noise_dbm_per_hz=THERMAL_NOISE_DBM_PER_HZ + _SERVER_NOISE_FIGURE_DB,
        device_noise_dbm_per_hz=THERMAL_NOISE_DBM_PER_HZ + _DEVICE_NOISE_FIGURE_DB,
        stated=(),
        ours=(
            "radio: not the paper's but {c.loss.name} of 3GPP TR 38.901, outdoors, at {c.loss.carrier_ghz:g} GHz: "
            "median path loss, probability of line of sight and log-normal shadowing, {c.fade_words}, the same "
            "in both directions; server {c.loss.server_height_m:g} m, devices {c.loss.device_height_m:g} m high",
            "place: anywhere between {c.nearest_m:g} and {c.farthest_m:g} m with equal probability{c.area_words}",
            "band: {c.bandwidth_hz:g} Hz, used in either direction",
            "uplink: a device puts its whole power into its share of the band",
            "power of a device: {c.uplink_power_dbm:g} dBm",
            "power of the server: {c.downlink_power_dbm:g} dBm",
            "noise: {c.server_noise_dbm_per_hz:g} dBm/Hz at the server, {c.device_noise_dbm_per_hz:g} dBm/Hz at the "
            "devices: thermal noise and noise figures of 5 and 9 dB",
        ),
    )


CELLS: Mapping[str, PathLossCell] = {
    "3gpp-uma": _urban_cell(urban_macro(_CARRIER_GHZ), 35.0, 250.0, 46.0),
    "3gpp-umi": _urban_cell(urban_micro(_CARRIER_GHZ), 10.0, 100.0, 44.0),
}
"""Cells that may stand in for a preset's own: sites 500 and 200 m apart; powers, band and carrier are ours."""
