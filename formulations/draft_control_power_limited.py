r"""Heterogeneous draft control where a device puts its whole power into its share ([UD]'s sharing; ours).

.. math::
    \max_{L, B, D} \frac{\sum_k E_k(L_k)}{D + T_{ver}(L)} \quad\text{s.t.}\quad
    L_k \Bigl(\tau_k + \frac{q}{R_k(B_k)}\Bigr) \le D, \quad
    R_k(B_k) = B_k \log_2\Bigl(1 + \frac{SNR_k B}{B_k}\Bigr), \quad \sum_k B_k \le B.

The same program as `draft_control`, with the bits of a round under a relative entropy (`sharing`). The price
of bandwidth holds SNR_k B, the received power over the noise density, fixed.
"""

from typing import Any, ClassVar, final

import cvxpy as cp

from formulations.laws import goodput, set_goodput
from formulations.per_second import PerSecondProgram
from formulations.sharing import declare_power_limited, set_power_limited
from msopt.errors import ParameterError
from msopt.scenario import Scenario


@final
class DraftControlPowerLimited(PerSecondProgram):
    """Lengths, bandwidths and deadline together: any law, power-limited sharing."""

    name: ClassVar[str] = "draft-control-power-limited"

    def _structure(self, scenario: Scenario) -> tuple[Any, ...]:
        if scenario.uplink_sharing != "power-limited":
            raise ParameterError(f'{self.name} is for uplink_sharing = "power-limited"; use draft-control')
        return self.program_shape(scenario)

    def _build(self) -> cp.Maximize:
        s, d, length = self._declare()
        declare_power_limited(self, d, length)
        return self._count(goodput(self, s, length))

    def _set_parameters(self) -> None:
        set_goodput(self)
        set_power_limited(self)
