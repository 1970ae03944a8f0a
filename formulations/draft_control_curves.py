r"""Heterogeneous draft control with measured acceptance curves or Beta laws ([MS]'s problem; ours).

.. math::
    \max_{L, B, D} \frac{\sum_k E_k(L_k)}{D + T_{ver}(L)}, \qquad
    E_k(L) = \min_j \bigl\{ E_k(j) + S_k(j+1)\,(L - j) \bigr\},

under the constraints of `draft_control`. The expected tokens are the least of their chords through whole
lengths, since S_k never increases: with fixed-SNR sharing no exponential is left, only second-order cones.
With power-limited sharing the rates keep theirs; ECOS breaks down on that mixture, CLARABEL takes it.
"""

from typing import Any, ClassVar, final

import cvxpy as cp

from formulations.laws import piecewise_goodput, set_piecewise_goodput
from formulations.per_second import PerSecondProgram
from formulations.sharing import declare_sharing, set_sharing
from msopt.acceptance import Acceptance
from msopt.scenario import Scenario


@final
class DraftControlCurves(PerSecondProgram):
    """Lengths, bandwidths and deadline together, E_k piecewise linear; a geometric law is interpolated, too."""

    name: ClassVar[str] = "draft-control-curves"

    def _structure(self, scenario: Scenario) -> tuple[Any, ...]:
        return (
            f"{scenario.device_count} devices",
            f"lengths {scenario.length_limits(self.problem_name)}",
            scenario.uplink_sharing,
        )

    @property
    def acceptance(self) -> Acceptance:
        """The laws, piecewise linear between whole lengths."""
        return self.scenario.acceptance.interpolated()

    def _build(self) -> cp.Maximize:
        s, d, length = self._declare()
        declare_sharing(self, d, length)
        return self._count(piecewise_goodput(self, s, length))

    def _set_parameters(self) -> None:
        set_piecewise_goodput(self)
        set_sharing(self)
