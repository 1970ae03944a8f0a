"""Average gains by distance, each model with its source; linear outside, in dB where its source is.

3GPP TR 38.901: *Study on channel model for frequencies from 0.5 to 100 GHz*, Tables 7.4.1-1 (path loss and deviation
of the shadowing) and 7.4.2-1 (probability of line of sight); UMa: urban macro, UMi: urban micro, street canyon.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from msopt.arrays import FloatArray
from msopt.drawn.channel.randomness import normal
from msopt.errors import ParameterError
from msopt.units import db_to_linear

LIGHT_M_PER_S = 3e8
"""The propagation speed that TR 38.901 gives for the breakpoint distance."""

_EFFECTIVE_HEIGHT_M = 1.0
_SURE_SIGHT_M = 18.0
_DEVICE_HEIGHT_M = (1.5, 13.0)
_REFERENCE_HEIGHT_M = 1.5


class PathLoss(Protocol):
    """From distances and uniform random numbers to linear gains without fading, all of shape (K,)."""

    def gain(self, distance_m: FloatArray, sight: FloatArray, shadow: FloatArray) -> FloatArray:
        """Gain [1]; `sight` decides who is in line of sight, `shadow` how much is in the way."""
        ...


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """Gain falling with a power of the distance: [UD] has -30 dB at 1 m and the power 3.5, without shadowing.

    Attributes
    ----------
    gain_at_1m_db, exponent : float
        Gain at 1 m [dB], and the power of the distance it falls with [1].
    """

    gain_at_1m_db: float
    exponent: float

    def gain(self, distance_m: FloatArray, sight: FloatArray, shadow: FloatArray) -> FloatArray:
        """Gain [1] by the distance alone."""
        del sight, shadow
        return np.asarray(db_to_linear(self.gain_at_1m_db) / distance_m**self.exponent)


@dataclass(frozen=True, kw_only=True)
class Urban:
    """TR 38.901 in a city, outdoors: two slopes in line of sight, one without, and log-normal shadowing.

    Without line of sight the loss is A log10(d3D) + B + C log10(f) - D (h_UT - 1.5), never below that in line of sight.

    Attributes
    ----------
    name : str
        "UMa" or "UMi".
    carrier_ghz, server_height_m, device_height_m : float
        f [GHz], h_BS and h_UT [m]; h_UT from 1.5 to 13 m, where the height of the surroundings is 1 m.
    sight_intercept_db, sight_slope_db, breakpoint_slope_db : float
        In line of sight: intercept + slope log10(d3D) + 20 log10(f), and beyond the breakpoint distance
        intercept + 40 log10(d3D) + 20 log10(f) - breakpoint_slope log10(d_BP² + (h_BS - h_UT)²).
    blocked : tuple of 4 float
        A, B, C and D.
    sight_length_m : float
        How the probability of line of sight falls off.
    sight_deviation_db, blocked_deviation_db : float
        Deviation of the shadowing, with and without line of sight.

    Raises
    ------
    ParameterError
        For heights or a carrier that the model is not made for.
    """

    name: str
    carrier_ghz: float
    server_height_m: float
    device_height_m: float
    sight_intercept_db: float
    sight_slope_db: float
    breakpoint_slope_db: float
    blocked: tuple[float, float, float, float]
    sight_length_m: float
    sight_deviation_db: float
    blocked_deviation_db: float

    def __post_init__(self) -> None:
        low, high = _DEVICE_HEIGHT_M
        if not low <= self.device_height_m <= high:
            raise ParameterError(f"device_height_m = {self.device_height_m:g} is not from {low:g} to {high:g}")
        if not 0.5 <= self.carrier_ghz <= 100.0:
            raise ParameterError(f"carrier_ghz = {self.carrier_ghz:g} is not from 0.5 to 100")

    @property
    def breakpoint_m(self) -> float:
        """d'_BP = 4 h'_BS h'_UT f/c, the heights above the surroundings [m]."""
        server, device = (height - _EFFECTIVE_HEIGHT_M for height in (self.server_height_m, self.device_height_m))
        return 4.0 * server * device * self.carrier_ghz * 1e9 / LIGHT_M_PER_S

    def sight_probability(self, distance_m: FloatArray) -> FloatArray:
        """Probability of line of sight at a distance on the ground (Table 7.4.2-1, devices of at most 13 m)."""
        far = np.maximum(distance_m, _SURE_SIGHT_M)
        near = _SURE_SIGHT_M / far
        return np.asarray(near + np.exp(-far / self.sight_length_m) * (1.0 - near))

    def loss_db(self, distance_m: FloatArray, in_sight: np.ndarray) -> FloatArray:
        """Median path loss [dB] at distances on the ground, with and without line of sight (Table 7.4.1-1)."""
        rise = self.server_height_m - self.device_height_m
        distance_3d = np.log10(np.hypot(distance_m, rise))
        carrier = np.log10(self.carrier_ghz)
        common = self.sight_intercept_db + 20.0 * carrier
        beyond = 40.0 * distance_3d - self.breakpoint_slope_db * np.log10(self.breakpoint_m**2 + rise**2)
        before = distance_m <= self.breakpoint_m
        sight = common + np.where(before, self.sight_slope_db * distance_3d, beyond)
        slope, intercept, by_carrier, by_height = self.blocked
        above = self.device_height_m - _REFERENCE_HEIGHT_M
        blocked = slope * distance_3d + intercept + by_carrier * carrier - by_height * above
        return np.asarray(np.where(in_sight, sight, np.maximum(sight, blocked)), dtype=float)

    def gain(self, distance_m: FloatArray, sight: FloatArray, shadow: FloatArray) -> FloatArray:
        """Gain [1]: line of sight by its probability, median loss, log-normal shadowing."""
        in_sight = sight < self.sight_probability(distance_m)
        deviation = np.where(in_sight, self.sight_deviation_db, self.blocked_deviation_db)
        return db_to_linear(-self.loss_db(distance_m, in_sight) - deviation * normal(shadow))


def urban_macro(carrier_ghz: float, device_height_m: float = 1.5) -> Urban:
    """UMa: the server 25 m high."""
    return Urban(
        name="UMa",
        carrier_ghz=carrier_ghz,
        server_height_m=25.0,
        device_height_m=device_height_m,
        sight_intercept_db=28.0,
        sight_slope_db=22.0,
        breakpoint_slope_db=9.0,
        blocked=(39.08, 13.54, 20.0, 0.6),
        sight_length_m=63.0,
        sight_deviation_db=4.0,
        blocked_deviation_db=6.0,
    )


def urban_micro(carrier_ghz: float, device_height_m: float = 1.5) -> Urban:
    """UMi, street canyon: the server 10 m high."""
    return Urban(
        name="UMi",
        carrier_ghz=carrier_ghz,
        server_height_m=10.0,
        device_height_m=device_height_m,
        sight_intercept_db=32.4,
        sight_slope_db=21.0,
        breakpoint_slope_db=9.5,
        blocked=(35.3, 22.4, 21.3, 0.3),
        sight_length_m=36.0,
        sight_deviation_db=4.0,
        blocked_deviation_db=7.82,
    )
