"""Scalar functions that several closed forms share, without loss of digits and without warnings."""

import numpy as np

from msopt.arrays import FloatArray

_SERIES_BELOW = 0.2  # above it the difference loses a digit at most
_SERIES_TERMS = 9  # of r^2 < 0.01: the tenth is below 1e-19
_HALLEY_STEPS = 2  # from 4 % to 1e-4 to 1e-12 and, the error being cubed, to the last digit
_OMEGA_STEPS = 2  # from 17 % to the last digit, the power of the error being four
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
    near = np.abs(x) < _SERIES_BELOW
    small = np.where(near, x, 0.0)
    r = small / (2.0 + small)
    square = r * r
    tail = np.zeros_like(small)
    for n in range(_SERIES_TERMS, 0, -1):
        tail = square * (1.0 / (2 * n + 1) + tail)
    large = np.where(near, 1.0, x)
    return np.where(near, 2.0 * r * tail - r * small, np.log1p(large) - large)


def near_excess_root(t: FloatArray) -> FloatArray:
    """t + log(1 + t + sqrt(2t)), within 4 % of the root d >= 0 of d - log(1 + d) = t for every t >= 0."""
    return np.asarray(t + np.log1p(t + np.sqrt(2.0 * t)))


def excess_root(t: FloatArray) -> FloatArray:
    """The root d >= 0 of d - log(1 + d) = t for t >= 0, by Halley's iteration.

    Each step multiplies the number of correct digits of `near_excess_root` by three. This is -1 - W of Lambert's lower
    branch at -exp(-1 - t), without its branch point and overflow.

    >>> float(excess_root(np.array(0.0)))
    0.0
    >>> d = excess_root(np.array([1e-20, 1.0, 1e9]))
    >>> bool(np.allclose(-log1p_minus(d), [1e-20, 1.0, 1e9], rtol=1e-14))
    True
    """
    t = np.asarray(t, dtype=float)
    some = t > 0.0
    root = np.where(some, near_excess_root(t), 1.0)
    for _ in range(_HALLEY_STEPS):
        error = -log1p_minus(root) - t
        slope = root / (1.0 + root)
        root = root - 2.0 * error * slope / (2.0 * slope * slope - error / (1.0 + root) / (1.0 + root))
    return np.where(some, root, 0.0)


def omega(z: FloatArray) -> FloatArray:
    """The root w > 0 of w + ln w = z, Wright's omega function W_0(e^z), for finite z.

    Two steps of Fritsch, Shafer and Crowley from a start within 17 % for z up to 700; each step multiplies the number
    of correct digits by four. Below z = -700 the answer is that for -700, as good as 0. It is scipy's `wrightomega`
    in array operations, which spare the greater part of its time.

    >>> w = omega(np.array([-50.0, 1.0, 1e9]))
    >>> bool(np.allclose(w + np.log(w), [-50.0, 1.0, 1e9], rtol=1e-15))
    True
    """
    if (large := z > _OMEGA_SQUARED).any():
        return np.where(large, z - np.log(np.where(large, z, 1.0)), omega(np.where(large, 1.0, z)))
    z = np.maximum(z, _OMEGA_FROM)
    soft = np.log1p(np.exp(np.minimum(z, -_OMEGA_FROM)))
    root = soft - soft / (1.0 + soft) * np.log1p(soft)
    for _ in range(_OMEGA_STEPS):
        error = z - root - np.log(root)
        above = 1.0 + root
        weight = above * (above + 2.0 / 3.0 * error) - error
        root = root + root * error / above * (1.0 + 0.5 * error / weight)
    return np.asarray(root)
