r"""Homogeneous draft control: one length for all, and the bandwidths, in one program ([MS]; as one program ours).

.. math::
    \max_{L, B, D} \frac{\sum_k E_k(L)}{D + T_{ver}(L)} \quad\text{s.t.}\quad
    L \Bigl(\tau_k + \frac{q}{R_k(B_k)}\Bigr) \le D, \quad \sum_k B_k \le B, \quad L_{min} \le L \le L_{max}.

It is `draft_control` with one variable for the length; the deadline is L times the per-token latency \theta of
`bandwidth_minmax`, whose split it must find. Any law, both ways to share.
"""

from typing import ClassVar, final

import cvxpy as cp

from formulations.laws import goodput, set_goodput
from formulations.per_second import PerSecondProgram
from formulations.sharing import declare_sharing, set_sharing


@final
class HomogeneousJoint(PerSecondProgram):
    """One length, bandwidths and deadline together."""

    name: ClassVar[str] = "homogeneous-joint"
    common: ClassVar[bool] = True

    def _build(self) -> cp.Maximize:
        s, d, length = self._declare()
        declare_sharing(self, d, length)
        return self._count(goodput(self, s, length))

    def _set_parameters(self) -> None:
        set_goodput(self)
        set_sharing(self)
