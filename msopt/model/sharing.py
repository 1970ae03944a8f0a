"""The uplink: how a device's share of the band becomes a rate, and back.

Two ways to share, one interface. `rate` is concave in the bandwidth, so its inverse `bandwidth` is
convex in the rate; the solvers need that inverse with two derivatives.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.numerics.special import excess_root, log1p_minus

UplinkSharing = Literal["fixed-snr", "power-limited"]
LN2 = float(np.log(2.0))
_ROUND_OFF = 1e-15
_NO_SHARE = 1e-290  # of the ceiling of a rate: the bandwidth for it is 0 in floats


def spectral_efficiency(snr: FloatArray) -> FloatArray:
    """log2(1 + SNR) [bit/s/Hz] from a linear SNR, exact also where 1 + SNR rounds to 1."""
    return np.log1p(snr) / LN2


class Sharing(Protocol):
    """A way to share the uplink among n devices; arrays have shape (..., n), in hertz and bit/s.

    `proportional` tells whether a bandwidth is proportional to the rate that it carries.
    """

    proportional: bool

    def rate(self, bandwidth_hz: FloatArray) -> FloatArray:
        """Rate [bit/s] of each device in its bandwidth; 0 for no bandwidth."""
        ...

    def bandwidth(self, rate: FloatArray) -> FloatArray:
        """Least bandwidth [Hz] that carries a rate; infinite where none does."""
        ...

    def bandwidth_slope(self, rate: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`bandwidth` with its first and second derivative in the rate."""
        ...

    def ceiling(self) -> FloatArray:
        """The rate [bit/s] that no bandwidth carries."""
        ...

    def take(self, devices: IntArray) -> "Sharing":
        """The same sharing for some of the devices (an index or mask)."""
        ...


class FixedSnr:
    """[MS]: the SNR does not depend on the share, R = B e.

    Parameters
    ----------
    efficiency : array, shape (n,)
        Spectral efficiency e [bit/s/Hz].
    """

    proportional = True

    def __init__(self, efficiency: FloatArray) -> None:
        self.efficiency = efficiency
        self._hz_per_rate = 1.0 / efficiency

    def rate(self, bandwidth_hz: FloatArray) -> FloatArray:
        """R = B e."""
        with np.errstate(over="ignore"):  # of a share far beyond any band, which a limit tells
            return np.asarray(bandwidth_hz * self.efficiency)

    def bandwidth(self, rate: FloatArray) -> FloatArray:
        """B = R/e."""
        return np.asarray(rate / self.efficiency)

    def bandwidth_slope(self, rate: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """R/e, 1/e and 0."""
        slope = self._hz_per_rate
        if slope.shape != rate.shape:
            slope = np.broadcast_to(slope, rate.shape)
        return rate * slope, slope, np.zeros(rate.shape)

    def ceiling(self) -> FloatArray:
        """Infinite."""
        return np.full(self.efficiency.shape, np.inf)

    def take(self, devices: IntArray) -> "FixedSnr":
        """The same sharing for some of the devices."""
        return FixedSnr(self.efficiency[devices])


class PowerLimited:
    """[UD]: the device puts its whole power into its share, R = B log2(1 + s/B).

    Parameters
    ----------
    power_hz : array, shape (n,)
        Received power over noise density, s = SNR_k B [Hz], whatever the share.
    """

    proportional = False

    def __init__(self, power_hz: FloatArray) -> None:
        self.power_hz = power_hz

    def rate(self, bandwidth_hz: FloatArray) -> FloatArray:
        """R = B log2(1 + s/B)."""
        some = bandwidth_hz > 0.0
        band = np.where(some, bandwidth_hz, 1.0)
        with np.errstate(over="ignore"):
            snr = self.power_hz / band
        nats = np.log1p(snr)
        if (beyond := np.isinf(snr)).any():
            nats = np.where(beyond, np.log(np.where(beyond, self.power_hz, 1.0)) - np.log(band), nats)
        return np.where(some, band * nats / LN2, 0.0)

    def bandwidth(self, rate: FloatArray) -> FloatArray:
        """The inverse: with c = R ln2/s below 1 (the ceiling of the rate) it is s/z, ln(1 + z) = c z."""
        return self.bandwidth_slope(rate)[0]

    def bandwidth_slope(self, rate: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The inverse with its derivatives 1/R' and -R''/R'^3, finite at every rate below the ceiling.

        With t = c - 1 - ln c and d - log(1 + d) = t it is s/z, c z = d + 1 - c, and R' = (ln(1 + z) - z/(1 + z))/ln 2
        is d c z/((1 + d) ln 2): no terms cancel.
        """
        c = np.asarray(rate * LN2 / self.power_hz)
        carried = (c > _NO_SHARE) & (c < 1.0)
        if usual := bool(carried.all()):
            inner = c
        else:
            # An SNR so low that c rounds to 1 still carries its rate.
            c = np.where((c >= 1.0) & (c <= 1.0 + _ROUND_OFF), 1.0 - 0.5 * np.finfo(float).eps, c)
            carried = (c > _NO_SHARE) & (c < 1.0)
            inner = np.where(carried, c, 0.5)
        d = excess_root(_excess(inner))
        nats = d + (1.0 - inner)
        band = self.power_hz * (inner / nats)
        slope = LN2 * (1.0 + d) / (d * nats)
        curvature = slope * LN2 / (band * (d * d))
        if usual:
            return band, slope, curvature
        outside = np.where(c >= 1.0, np.inf, 0.0)
        return (
            np.where(carried, band, outside),
            np.where(carried, slope, outside),
            np.where(carried, curvature, outside),
        )

    def ceiling(self) -> FloatArray:
        """s/ln 2, that of an endless band."""
        return np.asarray(self.power_hz / LN2)

    def take(self, devices: IntArray) -> "PowerLimited":
        """The same sharing for some of the devices."""
        return PowerLimited(self.power_hz[devices])


def stacked(sharings: Sequence[Sharing]) -> Sharing:
    """S sharings of one kind with K devices each as one, whose arrays have shape (S, K)."""
    if isinstance(sharings[0], FixedSnr):
        return FixedSnr(np.array([sharing.efficiency for sharing in sharings if isinstance(sharing, FixedSnr)]))
    return PowerLimited(np.array([sharing.power_hz for sharing in sharings if isinstance(sharing, PowerLimited)]))


def _excess(c: FloatArray) -> FloatArray:
    """c - 1 - ln c for 0 < c < 1. Near c = 1 its terms cancel; there c - 1 is exact and a series takes over."""
    excess = np.asarray(c - 1.0 - np.log(c))
    if (near := c >= 0.5).any():
        excess[near] = -log1p_minus(c[near] - 1.0)
    return excess
