r"""Heterogeneous draft control as one exponential-cone program (design section 4, ours; the problem is [MS]'s).

.. math::
    \max_{L, B, D} \frac{\sum_k E_k(L_k)}{D + T_{ver}(L)} \quad\text{s.t.}\quad
    L_k \Bigl(\tau_k + \frac{c_k}{B_k}\Bigr) \le D, \quad \sum_k B_k \le B, \quad
    L_{min} \le L_k \le L_{max}.

Divided by the round time T, with s = 1/T, d = D/T, l = L/T, x_k = B_k d/c_k and p_k = d/\tau_k, it reads

.. math::
    \max \sum_k g_k \quad\text{s.t.}\quad & d + (c_0 + (c_1 + c_2) K) s + c_1 \sum_k l_k = 1, \qquad
    \sum_k c_k x_k \le B d, \\
    & (p_k - l_k)(x_k - l_k) \ge l_k^2, \qquad
    s \exp\frac{\ln\alpha_k (l_k + s)}{s} \le s - (1 - \alpha_k) g_k, \qquad
    L_{min} s \le l_k \le L_{max} s.

The units are those of `per_second`, the cones those of `laws` and `sharing`.
"""

from typing import Any, ClassVar, final

import cvxpy as cp

from formulations.laws import geometric_goodput, need_geometric, set_geometric_goodput
from formulations.per_second import PerSecondProgram
from formulations.sharing import airtime_per_token, declare_fixed_snr, set_fixed_snr
from msopt.scenario import Scenario


@final
class DraftControl(PerSecondProgram):
    """Lengths, bandwidths and deadline together: geometric law, fixed SNR.

    Examples
    --------
    Build once, solve, add a constraint, read a price::

        program = DraftControl(scenario)
        program.require(program.draft_length[3] >= 2, name="at least two")
        solution = program.solve("CLARABEL")
        solution.shadow_price("bandwidth")
    """

    name: ClassVar[str] = "draft-control"

    def _structure(self, scenario: Scenario) -> tuple[Any, ...]:
        need_geometric(scenario, self.name)
        airtime_per_token(scenario)
        return (f"{scenario.device_count} devices",)

    def _build(self) -> cp.Maximize:
        s, d, length = self._declare()
        declare_fixed_snr(self, d, length)
        return self._count(geometric_goodput(self, s, length))

    def _set_parameters(self) -> None:
        set_geometric_goodput(self)
        set_fixed_snr(self)
