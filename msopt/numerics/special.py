"""Scalar functions that several closed forms share, without loss of digits and without warnings."""

import numpy as np

from msopt.arrays import FloatArray

_SERIES_BELOW = 0.2  # above it the difference loses a digit at most
_SERIES_TERMS = 9  # of r^2 < 0.01: the tenth is below 1e-19
_OMEGA_SQUARED = 1e100  # beyond it z - ln z is the root to the last digit, and its square may leave the floats
_OMEGA_FROM = -700.0  # e^z below it is next to the least float


def log_or_minus_infinity(x: FloatArray) -> FloatArray:
    """log x for x >= 0, -inf at 0."""
    return np.log(x, out=np.full(x.shape, -np.inf), where=x > 0.0)


def log1p_minus(x: FloatArray) -> FloatArray:
    """log(1 + x) - x for x > -1, to full relative accuracy near 0 where the difference cancels.

    With r = x/(2 + x), log(1 + x) = 2 artanh r and x = 2r/(1 - r), so the difference is
    -r x + 2(r^3/3 + r^5/5 + ...): no two nearly equal terms are subtracted.
    """
    x = np.asarray(x, dtype=float)
    found = np.asarray(np.log1p(x) - x)
    if (near := np.abs(x) < _SERIES_BELOW).any():
        small = x[near]
        r = small / (2.0 + small)
        square = r * r
        tail = np.zeros_like(small)
        for n in range(_SERIES_TERMS, 0, -1):
            tail = square * (1.0 / (2 * n + 1) + tail)
        found[near] = 2.0 * r * tail - r * small
    return found


def near_excess_root(t: FloatArray) -> FloatArray:
    """The root d >= 0 of d - log(1 + d) = t, within 3e-5 of it for every t >= 0.

    It is t + log(1 + d), with the d in the logarithm as a fraction in u = sqrt(2t): d = u + u^2/3 + u^3/36 + ... where
    it is small, and where it is large the logarithm hardly matters. Three numbers are fitted.
    """
    u = np.sqrt(2.0 * t)
    fraction = u * ((1.0 + u * (0.50162594 + u * 0.08511262)) / (1.0 + 0.16864662 * u))
    return np.asarray(t + np.log1p(fraction))


def excess_root(t: FloatArray) -> FloatArray:
    """The root d >= 0 of d - log(1 + d) = t for t >= 0, by one of Householder's steps.

    The step multiplies the number of correct digits of `near_excess_root` by four. This is -1 - W of Lambert's lower
    branch at -exp(-1 - t), without its branch point and overflow.

    >>> float(excess_root(np.array(0.0)))
    0.0
    >>> d = excess_root(np.array([1e-20, 1.0, 1e9]))
    >>> bool(np.allclose(-log1p_minus(d), [1e-20, 1.0, 1e9], rtol=1e-14))
    True
    """
    t = np.asarray(t, dtype=float)
    if (none := t <= 0.0).any():
        return np.where(none, 0.0, excess_root(np.where(none, 1.0, t)))
    root = near_excess_root(t)
    newton = (log1p_minus(root) + t) * ((1.0 + root) / root)
    bend = newton / root / (1.0 + root)
    return np.asarray(root + newton * (1.0 + 0.5 * bend) / (1.0 + bend - bend * bend * root / 3.0))


def omega(z: FloatArray) -> FloatArray:
    """The root w > 0 of w + ln w = z, Wright's omega function W_0(e^z), for finite z.

    A step of Fritsch, Shafer and Crowley, which multiplies the number of correct digits by four, from a start within
    2e-4: Winitzki's s(1 - log(1 + s)/(2 + s)), s = log(1 + e^z), with a fitted fraction in place of 1/(2 + s). Below
    z = -700 the answer is that for -700, as good as 0. It is scipy's `wrightomega` in array operations, which spare the
    greater part of its time.

    >>> w = omega(np.array([-50.0, 1.0, 1e9]))
    >>> bool(np.allclose(w + np.log(w), [-50.0, 1.0, 1e9], rtol=1e-15))
    True
    """
    if z.max(initial=0.0) > _OMEGA_SQUARED:
        large = z > _OMEGA_SQUARED
        return np.where(large, z - np.log(np.where(large, z, 1.0)), omega(np.where(large, 1.0, z)))
    z = np.maximum(z, _OMEGA_FROM)
    soft = np.maximum(np.log1p(np.exp(np.minimum(z, -_OMEGA_FROM))), z)
    fraction = 1.0 + soft * (0.71743911 + soft * 0.19611934)
    fraction = fraction / (2.0 + soft * (3.03547128 + soft * (0.92072297 + soft * 0.19717915)))
    root = soft - soft * np.log1p(soft) * fraction
    error = z - root - np.log(root)
    above = 1.0 + root
    weight = above * (above + 2.0 / 3.0 * error) - error
    return np.asarray(root + root * error / above * (1.0 + 0.5 * error / weight))
