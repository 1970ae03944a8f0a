r"""One draft length for all, as a quasi-convex program solved by bisection ([MS] Theorem 1; a cross-check).

.. math::
    \max_{L_{min} \le L \le L_{max}} \frac{\sum_k E_k(L)}{\theta L + c_1 K L + c_0 + (c_1 + c_2) K}

for a given per-token latency \theta. Concave over affine: every superlevel set is convex, and DQCP bisects on
the level. The set shrinks to a point there and solvers end inaccurate, so a second bisection asks for one level
just below the score of the point found, which is not hard. Its tolerance is its own, 1e-4, and DPP does not
apply: the numbers are compiled in. It exists to check the ratio itself, without the change of variables that
all other programs use.
"""

from typing import ClassVar, final

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.core.formulation import AbstractFormulation
from msopt.errors import ParameterError, describe
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario

WIDTH = 5e-5
"""How far bisection narrows the level, relative to the objective."""


@final
class HomogeneousLength(AbstractFormulation):
    """The best common relaxed length.

    Parameters
    ----------
    scenario : Scenario
        Any law; its sharing matters through theta only.
    per_token_s : float
        Theta: time in which every device drafts and sends one token [s].
    """

    name = "homogeneous-length"
    solvers = ("ECOS", "CLARABEL", "SCS")
    dpp: ClassVar[bool] = False
    quasiconvex: ClassVar[bool] = True
    agreement: ClassVar[float] = 1e-4
    passes: ClassVar[int] = 2

    def __init__(self, scenario: Scenario, per_token_s: float) -> None:
        self._theta = self._check(per_token_s)
        self._found: float | None = None
        super().__init__(scenario)

    @staticmethod
    def _check(per_token_s: float) -> float:
        if not (np.isfinite(per_token_s) and per_token_s > 0.0):
            raise ParameterError(f"per_token_s = {describe(per_token_s)} is not a finite number above 0")
        return float(per_token_s)

    def update(self, scenario: Scenario, per_token_s: float | None = None) -> None:
        """Take other numbers; being exempt from DPP, the problem is declared anew."""
        if per_token_s is not None:
            self._theta = self._check(per_token_s)
        if self.requirements and scenario is not self.scenario:
            raise ParameterError(f"{self.name} cannot keep its requirements over an update; build it anew")
        self.scenario = scenario
        self._found = None
        self._objective = self._build()
        self._compile()

    def _build(self) -> cp.Maximize:
        scenario = self.scenario
        least, greatest = scenario.length_limits("homogeneous")
        per_token = self._theta + scenario.verify_per_token_s * scenario.device_count
        middle = 0.5 * (least + greatest)
        self._scale, unit_s = self._goodput(middle), self._round_s(middle)
        length, tokens = self.variable("length", nonneg=True), self.variable("tokens", nonneg=True)
        self.constrain("tokens", tokens <= self._tokens(length, least, greatest) / (self._scale * unit_s))
        self.constrain("min_draft_length", length >= float(least))
        self.constrain("max_draft_length", length <= float(greatest))
        self.quantity("draft_length", length, "token")
        return cp.Maximize(tokens / ((per_token / unit_s) * length + scenario.verify_idle_s / unit_s))

    def _tokens(self, length: cp.Variable, least: int, greatest: int) -> cp.Expression:
        acceptance = self.scenario.acceptance
        if not acceptance.geometric:
            start = np.arange(least, max(greatest, least + 1), dtype=float)
            each = start[:, None] * np.ones(self.scenario.device_count)
            slope = np.sum(acceptance.survival(each + 1.0), axis=-1)
            return cp.min(np.sum(acceptance.expected_tokens(each), axis=-1) + cp.multiply(slope, length - start))
        alpha = acceptance.mean
        certain, never = np.sum(alpha == 1.0), np.sum(alpha == 0.0)
        tokens: cp.Expression = certain * (length + 1.0) + float(never)
        inner = alpha[(alpha > 0.0) & (alpha < 1.0)]
        if inner.size:
            survival = cp.exp(np.log(inner) * (length + 1.0))
            tokens += cp.sum(cp.multiply(1.0 / (1.0 - inner), 1.0 - survival))
        return tokens

    def _goodput(self, length: float) -> float:
        lengths = np.full(self.scenario.device_count, length)
        return float(round_at(self.scenario, lengths, self._theta * length).goodput)

    def _estimate(self) -> None:
        """Compiled in, but for the bracket."""
        self._found = None

    def _set_parameters(self) -> None:
        """Compiled in."""

    @property
    def objective_scale(self) -> float:
        """Tokens per second of one unit: about the goodput halfway between the limits."""
        return self._scale

    @property
    def bracket(self) -> tuple[float, float, float]:
        """First from 0 to the most tokens in the least time; then about the score of the point found."""
        if self._found is not None:
            return (self._found * (1.0 - 1.5 * WIDTH), self._found * (1.0 + 0.5 * WIDTH), 1.01 * WIDTH * self._found)
        least, greatest = (float(limit) for limit in self.scenario.length_limits("homogeneous"))
        most = self._goodput(greatest) * self._round_s(greatest) / self._round_s(least)
        return 0.0, most / self._scale, WIDTH

    def rescale(self, found: bool) -> None:
        """The next pass asks for a level just below the score of the last point."""
        self._found = self.score(self.decision()) / self._scale if found else None

    def _round_s(self, length: float) -> float:
        lengths = np.full(self.scenario.device_count, length)
        return float(round_at(self.scenario, lengths, self._theta * length).round_s)

    def decision(self) -> Decision:
        """The common length [token]."""
        least, greatest = self.scenario.length_limits("homogeneous")
        return {"draft_length": np.clip(np.asarray(self.draft_length.value), least, greatest)}

    def score(self, decision: Decision) -> float:
        """Goodput at that length [token/s]."""
        return self._goodput(float(decision["draft_length"]))
