r"""Draft control as one conic program (design section 4, ours; the problem is [MS]'s).

.. math::
    \max_{L, B, D} \frac{\sum_k E_k(L_k)}{D + T_{ver}(L)} \quad\text{s.t.}\quad
    L_k \Bigl(\tau_k + \frac{q}{R_k(B_k)}\Bigr) \le D, \quad \sum_k B_k \le B, \quad
    L_{min} \le L_k \le L_{max}.

Divided by the round time T, with s = 1/T, d = D/T, l = L/T, p_k = d/\tau_k and x_k the tokens that could be sent
in the whole deadline, it reads, for the geometric law and fixed SNR (c_k = q/e_k),

.. math::
    \max \sum_k g_k \quad\text{s.t.}\quad & d + (c_0 + (c_1 + c_2) K) s + c_1 \sum_k l_k = 1, \qquad
    \sum_k c_k x_k \le B d, \\
    & (p_k - l_k)(x_k - l_k) \ge l_k^2, \qquad
    s \exp\frac{\ln\alpha_k (l_k + s)}{s} \le s - (1 - \alpha_k) g_k, \qquad
    L_{min} s \le l_k \le L_{max} s.

The units are those of `program`. A measured curve or a Beta law has chords in place of the exponential cone
(`acceptance_laws`); power-limited sharing has a relative entropy for the rates (`uplink_sharing`). With one length
for all, the deadline is L times the per-token latency \theta of `bandwidth_minmax`, whose split the program must find.
"""

from typing import final

import cvxpy as cp

from formulations.terms.acceptance_laws import goodput, set_goodput
from formulations.terms.program import PerSecondProgram
from formulations.terms.uplink_sharing import declare_sharing, set_sharing
from msopt.model.scenario import Scenario
from msopt.model.sharing import FixedSnr

ECOS_LAST = ("CLARABEL", "ECOS", "SCS")
"""ECOS breaks down on exponential and second-order cones with many chords beside them."""

ONE_SLOW = 2.0 / 3.0
"""`residual_share` where one slow device can leave the others millionths of the round: 7.5e-8 was seen 1.3e-6 off."""


@final
class DraftControl(PerSecondProgram):
    """Lengths, bandwidths and deadline together: any law, both ways to share; its name says which.

    Parameters
    ----------
    scenario : Scenario
    common : bool
        Whether all devices draft equally many tokens (problem `homogeneous`).
    chords : bool
        Whether a geometric law, too, is piecewise linear between whole lengths.

    Examples
    --------
    Build once, solve, add a constraint, read a price::

        program = DraftControl(scenario)
        program.require(program.draft_length[3] >= 2, name="at least two")
        solution = program.solve("CLARABEL")
        solution.shadow_price("bandwidth")
    """

    def __init__(self, scenario: Scenario, *, common: bool = False, chords: bool = False) -> None:
        self.common = common
        self.always_chords = chords
        self.scenario = scenario
        limited = not isinstance(scenario.uplink, FixedSnr)
        self.residual_share = ONE_SLOW if common and limited else 1.0
        if common:
            self.name = "homogeneous-joint"
        elif self.chords:
            self.name = "draft-control-curves"
        else:
            self.name = "draft-control-power-limited" if limited else "draft-control"
        if self.chords and limited:
            self.solvers = ECOS_LAST
        super().__init__(scenario)

    def _build(self) -> cp.Maximize:
        s, d, length = self._declare()
        declare_sharing(self, d, length)
        return self._count(goodput(self, s, length))

    def _set_parameters(self) -> None:
        set_goodput(self)
        set_sharing(self)
