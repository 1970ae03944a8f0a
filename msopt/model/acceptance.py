"""How likely drafted tokens are accepted: three laws behind one small interface.

Each law speaks for n devices at once and answers three questions on arrays of shape (..., n):
`survival` S(l), the probability that the first l drafted tokens are all accepted; `expected_tokens`
E(L) = S(0) + ... + S(L), the tokens one round yields; and `log_marginal_tokens`, the logarithm of its
right derivative E'(L), which itself may be too small for a float. E is concave for every law, because S
never increases. Between whole lengths the geometric law is the papers' smooth formula, the others are
piecewise linear. `Acceptance` mixes the laws in one scenario.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from msopt.arrays import LARGEST_TABLE, BoolArray, FloatArray, Frozen, IntArray, frozen, vector
from msopt.errors import ParameterError
from msopt.numerics.special import log_or_minus_infinity


class AcceptanceLaw(Protocol):
    """One law for n devices; lengths have shape (..., n) and are at least 0.

    `log_slope`, shape (n,), is the derivative of ln E' where E' is smooth; `knots` tells whether E' is a
    step function, constant between whole lengths.
    """

    log_slope: FloatArray
    knots: bool

    def survival(self, length: FloatArray) -> FloatArray:
        """S(l) at whole lengths."""
        ...

    def expected_tokens(self, length: FloatArray) -> FloatArray:
        """E(L) at real lengths [token]."""
        ...

    def log_marginal_tokens(self, length: FloatArray) -> FloatArray:
        """ln E'(L), right derivative, at real lengths; -inf where no further token can be accepted."""
        ...


class Geometric:
    """Every drafted token is accepted with probability alpha, independently: S(l) = alpha^l ([MS], [UD])."""

    knots = False
    geometric = True

    def __init__(self, alpha: FloatArray) -> None:
        self.mean = alpha
        self._certain = alpha == 1.0
        self._never = alpha == 0.0
        inner = ~(self._certain | self._never)
        self._ordinary = bool(inner.all())
        self._log = np.log(np.where(inner, alpha, 0.5))
        self._rejection = np.where(inner, 1.0 - alpha, 0.5)
        self._log_first = np.log(-self._log / self._rejection)
        self.log_slope = np.where(inner, self._log, 0.0)

    def survival(self, length: FloatArray) -> FloatArray:
        """S(l) = alpha^l."""
        return np.asarray(self.mean**length)

    def expected_tokens(self, length: FloatArray) -> FloatArray:
        """E(L) = (1 - alpha^(L+1))/(1 - alpha); L + 1 for alpha = 1, 1 for alpha = 0."""
        inner = -np.expm1((length + 1.0) * self._log) / self._rejection
        if self._ordinary:
            return np.asarray(inner)
        return np.where(self._certain, length + 1.0, np.where(self._never, 1.0, inner))

    def log_marginal_tokens(self, length: FloatArray) -> FloatArray:
        """ln E'(L) with E'(L) = -ln(alpha) alpha^(L+1)/(1 - alpha)."""
        inner = self._log_first + (length + 1.0) * self._log
        if self._ordinary:
            return np.asarray(inner)
        return np.where(self._certain, 0.0, np.where(self._never, -np.inf, inner))


class GeometricChords:
    """The geometric law at whole lengths, with E piecewise linear in between."""

    knots = True

    def __init__(self, alpha: FloatArray) -> None:
        self._whole = Geometric(alpha)
        self.log_slope = np.zeros(alpha.size)

    def survival(self, length: FloatArray) -> FloatArray:
        """S(l) = alpha^l."""
        return self._whole.survival(length)

    def expected_tokens(self, length: FloatArray) -> FloatArray:
        """E(L), linear between whole lengths."""
        whole = np.floor(length)
        return np.asarray(self._whole.expected_tokens(whole) + (length - whole) * self._whole.survival(whole + 1.0))

    def log_marginal_tokens(self, length: FloatArray) -> FloatArray:
        """ln S(floor(L) + 1), the slope of E to the right of L."""
        return log_or_minus_infinity(self._whole.survival(np.floor(length) + 1.0))


class Tabulated:
    """A law known at whole lengths through the ratios S(l+1)/S(l); E is piecewise linear in between.

    Parameters
    ----------
    head : array, shape (n, m)
        The first m ratios, S(1)/S(0) onwards.
    alpha, spread : arrays, shape (n,)
        The ratio at l >= m is (alpha + l*spread)/(1 + l*spread): constant alpha where spread is 0 (a
        geometric tail), the Beta law's (a + l)/(a + b + l) with alpha its mean and spread = 1/(a + b).
    """

    knots = True

    def __init__(self, head: FloatArray, alpha: FloatArray, spread: FloatArray) -> None:
        self.log_slope, self._devices = np.zeros(alpha.size), np.arange(alpha.size)
        self._head, self._alpha, self._spread = head, alpha, spread
        self._survival: FloatArray = np.ones((1, alpha.size))
        self._tokens: FloatArray = np.ones((1, alpha.size))

    def survival(self, length: FloatArray) -> FloatArray:
        """S(l), read from the table."""
        whole = self._reach(length)
        return np.asarray(self._survival[whole, self._devices])

    def expected_tokens(self, length: FloatArray) -> FloatArray:
        """E(L), linear between whole lengths."""
        whole = self._reach(length + 1.0) - 1
        more = (length - whole) * self._survival[whole + 1, self._devices]
        return np.asarray(self._tokens[whole, self._devices] + more)

    def log_marginal_tokens(self, length: FloatArray) -> FloatArray:
        """ln S(floor(L) + 1), the slope of E to the right of L."""
        return log_or_minus_infinity(self.survival(np.floor(length) + 1.0))

    def _reach(self, length: FloatArray) -> IntArray:
        """Whole lengths as indices, after growing the table (by doubling) to hold them."""
        whole = np.floor(length).astype(np.int64)
        longest = int(whole.max(initial=0))
        if longest >= len(self._survival):
            self._grow(max(longest + 1, 2 * len(self._survival)))
        return whole

    def _grow(self, rows: int) -> None:
        if rows * self._alpha.size > LARGEST_TABLE:
            raise ParameterError(
                f"draft lengths up to {rows} for {self._alpha.size} devices with acceptance curves need a table "
                f"of more than {LARGEST_TABLE} numbers; lower max_draft_length"
            )
        place = np.arange(float(rows - 1))[:, None] * self._spread
        ratio = (self._alpha + place) / (1.0 + place)
        known = min(rows - 1, self._head.shape[1])
        ratio[:known] = self._head.T[:known]
        self._survival = np.cumprod(np.vstack([np.ones(self._alpha.size), ratio]), axis=0, dtype=float)
        self._tokens = np.cumsum(self._survival, axis=0, dtype=float)


def _measured_curves(curves: Sequence[FloatArray]) -> Tabulated:
    """Curves S(1), S(2), ... of each device, continued geometrically with their last ratio."""
    longest = max(len(curve) for curve in curves)
    head = np.empty((len(curves), longest))
    for row, curve in zip(head, curves, strict=True):
        before = np.concatenate([[1.0], curve[:-1]])
        ratio = np.divide(curve, before, out=np.zeros(len(curve)), where=before > 0.0)
        row[: len(curve)] = ratio
        row[len(curve) :] = ratio[-1]
    return Tabulated(head, head[:, -1].copy(), np.zeros(len(curves)))


def beta_counts(mean: Any, std: Any) -> tuple[Any, Any]:
    """The counts (a, b) of Beta laws by their moments, 0 < std^2 < mean(1 - mean): a + b = mean(1 - mean)/std^2 - 1."""
    total = mean * (1.0 - mean) / std**2 - 1.0
    return mean * total, (1.0 - mean) * total


def _beta_laws(mean: FloatArray, std: FloatArray) -> Tabulated:
    """Beta laws by their moments, as `beta_counts` has them: the spread is 1/(a + b)."""
    variance = std * std
    return Tabulated(np.empty((mean.size, 0)), mean, variance / (mean * (1.0 - mean) - variance))


@dataclass(frozen=True, eq=False)
class Acceptance(Frozen):
    """The acceptance of K devices, each by its own law.

    Raises
    ------
    ParameterError
        Where there is not one number of each for each device.

    Attributes
    ----------
    mean : array, shape (K,)
        Probability that a drafted token is accepted; for a measured curve its first value S(1).
    std : array, shape (K,)
        Standard deviation of that probability from prompt to prompt (Beta law, ours); 0: geometric.
    curves : tuple of K
        A device's measured curve S(1), S(2), ..., or None.
    piecewise : bool
        Whether the geometric law, too, is taken as piecewise linear between whole lengths.
    """

    mean: FloatArray
    std: FloatArray
    curves: tuple[FloatArray | None, ...]
    piecewise: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", vector(self.mean, "acceptance"))
        object.__setattr__(self, "std", vector(self.std, "acceptance_std"))
        curves = tuple(None if c is None else vector(c, "acceptance_curve") for c in self.curves)
        object.__setattr__(self, "curves", curves)
        for name, count in (("acceptance_std", self.std.size), ("acceptance_curve", len(curves))):
            if count != self.mean.size:
                raise ParameterError(f"{name} has {count} values; {self.mean.size} are needed")

    @classmethod
    def of(cls, mean: Any = None, std: Any = None, curves: Sequence[Any | None] | None = None) -> Self:
        """Build from K means, and where needed K deviations and K curves (None: no curve).

        Where every device has a curve the means are left out: each is the curve's first value.
        """
        if mean is None:
            if curves is None or any(curve is None for curve in curves):
                raise ParameterError("acceptance has no mean; a device without an acceptance_curve needs one")
            mean = np.ones(len(curves))
        if curves is not None and any(curve is not None for curve in curves):
            held = tuple(None if c is None else vector(c, "acceptance_curve") for c in curves)
            given = vector(mean, "acceptance")
            if given.size != len(held):
                raise ParameterError(f"acceptance_curve has {len(held)} values; {given.size} are needed")
            mean = [m if c is None else c[0] for m, c in zip(given, held, strict=True)]
        else:
            held = ()
        values = vector(mean, "acceptance")
        return cls(values, np.zeros(values.size) if std is None else std, held or (None,) * values.size)

    @cached_property
    def groups(self) -> tuple[tuple[IntArray | slice, AcceptanceLaw], ...]:
        """The devices of each law that occurs, and the law; one law for all is given as a slice."""
        if set(map(type, self.curves)) == {type(None)} and not self.std.any():  # as usual, and then quickly told
            return ((slice(None), GeometricChords(self.mean) if self.piecewise else Geometric(self.mean)),)
        measured = np.array([curve is not None for curve in self.curves])
        beta = ~measured & (self.std > 0.0)
        geometric = ~measured & ~beta
        found: list[tuple[IntArray, AcceptanceLaw]] = []
        if geometric.any():
            alpha = self.mean[geometric]
            found.append((np.flatnonzero(geometric), GeometricChords(alpha) if self.piecewise else Geometric(alpha)))
        if measured.any():
            found.append((np.flatnonzero(measured), _measured_curves([c for c in self.curves if c is not None])))
        if beta.any():
            found.append((np.flatnonzero(beta), _beta_laws(self.mean[beta], self.std[beta])))
        if len(found) == 1:
            return ((slice(None), found[0][1]),)
        return tuple(found)

    @cached_property
    def smooth(self) -> bool:
        """Whether every E_k is smooth between whole lengths."""
        return not bool(self.knots.any())

    @cached_property
    def geometric(self) -> bool:
        """Whether every device follows the geometric law, smooth between whole lengths."""
        return len(self.groups) == 1 and isinstance(self.groups[0][1], Geometric)

    @cached_property
    def last_measured(self) -> IntArray:
        """The last measured length of each device; where nothing was measured, a length no draft reaches."""
        never = np.iinfo(np.int64).max
        return frozen(np.array([never if c is None else c.size for c in self.curves], dtype=np.int64))

    def survival(self, length: Any) -> FloatArray:
        """S_k(l) at whole lengths of shape (..., K)."""
        return self._each(length, lambda law, lengths: law.survival(lengths))

    def expected_tokens(self, length: Any) -> FloatArray:
        """E_k(L), tokens a round yields each device, at real lengths of shape (..., K)."""
        return self._each(length, lambda law, lengths: law.expected_tokens(lengths))

    def log_marginal_tokens(self, length: Any) -> FloatArray:
        """ln E_k'(L), right derivative, at real lengths of shape (..., K)."""
        return self._each(length, lambda law, lengths: law.log_marginal_tokens(lengths))

    @cached_property
    def log_slope(self) -> FloatArray:
        """Derivative of ln E_k' where E_k' is smooth, shape (K,)."""
        return self._each(0.0, lambda law, lengths: np.broadcast_to(law.log_slope, lengths.shape))

    @cached_property
    def knots(self) -> BoolArray:
        """Whether E_k is piecewise linear between whole lengths, shape (K,)."""
        return self._each(0.0, lambda law, lengths: np.full(lengths.shape, float(law.knots))) > 0.0

    def interpolated(self) -> "Acceptance":
        """The same laws at whole lengths, with every E_k piecewise linear in between."""
        return replace(self, piecewise=True)

    def _each(self, length: Any, ask: Callable[[AcceptanceLaw, FloatArray], FloatArray]) -> FloatArray:
        lengths = np.asarray(length, dtype=float)
        if lengths.shape[-1:] != self.mean.shape:
            lengths = np.broadcast_to(lengths, np.broadcast_shapes(lengths.shape, self.mean.shape))
        if len(self.groups) == 1:
            return np.asarray(ask(self.groups[0][1], lengths))
        answer = np.empty(lengths.shape)
        for devices, law in self.groups:
            answer[..., devices] = ask(law, lengths[..., devices])
        return answer
