r"""Heterogeneous lengths and bandwidths for a given deadline ([MS] Proposition 1).

.. math::
    \max_{L, B} \frac{\sum_k E_k(L_k)}{D + T_{ver}(L)} \quad\text{s.t.}\quad
    L_k \Bigl(\tau_k + \frac{q}{R_k(B_k)}\Bigr) \le D, \quad \sum_k B_k \le B, \quad L_{min} \le L_k \le L_{max}.

`draft_control` with D given: in per-second variables d = D s, one more linear equation. Without a cost per
verified token (c1 = 0) the denominator is constant, and the lengths are those of Proposition 1. Any law, both
ways to share. The shadow price of the deadline is dG*(D)/dD.
"""

from typing import final

import cvxpy as cp
import numpy as np

from formulations.problems.at_deadline import AtDeadline
from formulations.terms.acceptance_laws import goodput, set_goodput
from formulations.terms.program import PerSecondProgram
from formulations.terms.uplink_sharing import declare_sharing, set_sharing
from msopt.arrays import FloatArray


@final
class LengthsAtDeadline(AtDeadline, PerSecondProgram):
    """Lengths and bandwidths for a deadline.

    Parameters
    ----------
    scenario : Scenario
        Any law and sharing.
    deadline_s : float
        When all drafts must be there [s].
    """

    name = "lengths-at-deadline"

    def _build(self) -> cp.Maximize:
        s, d, length = self._declare()
        self.constrain("deadline", d == s, "s", self._deadline_price)
        declare_sharing(self, d, length)
        return self._count(goodput(self, s, length))

    def _deadline_price(self) -> FloatArray:
        """The equation is D/T = D s/T: a second more on its right side moves it by s/D."""
        return np.asarray(self.dual("deadline") * float(self.solved("s")) / self._given)

    @property
    def fixed_deadline_s(self) -> float:  # type: ignore[override]
        """The deadline given."""
        return self._given

    def _set_parameters(self) -> None:
        set_goodput(self)
        set_sharing(self)
