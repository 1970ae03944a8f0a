"""msopt's problems declared in CVXPY: each reads like its mathematics and is solved by a real convex solver.

Every formulation is built once from a scenario, updated with another, and solved by `solve_checked`, which
knows no success but `optimal`, agreed to by the evaluator. Nothing here imports msopt's closed forms: they
are what the formulations check.

Examples
--------
>>> from formulations import DraftControl
>>> from msopt.model.scenario import Scenario
>>> cell = Scenario(
...     verify_base_s=0.2, verify_per_token_s=1e-4, downlink_power_w=10.0,
...     uplink_bandwidth_hz=20e6, downlink_bandwidth_hz=20e6, token_bits=17, distribution_bits=33792,
...     acceptance=[0.8, 0.6], draft_s_per_token=[0.02, 0.04],
...     uplink_snr_db=[10.0, -5.0], downlink_snr_db=[25.0, 10.0],
... )
>>> program = DraftControl(cell)
>>> solution = program.solve("CLARABEL")
>>> print(round(solution.objective, 4), solution["draft_length"].round(2))
18.619 [5.08 2.24]

What a megahertz more would bring, in tokens per second; how near to optimal the point is, whoever found it:

>>> price = solution.shadow_price("bandwidth")
>>> print(round(1e6 * float(price.value), 3), price.unit, solution.certificate.worst < 1e-6)
0.026 (token/s)/(Hz) True

A constraint on a named decision, in SI units, and its price; then other numbers without a new build:

>>> name = program.require(program.draft_length[1] >= 3, name="three")
>>> bound = program.solve("CLARABEL")
>>> print(round(bound.objective, 3), round(float(bound.shadow_price("three").value), 2))
18.32 -0.7
>>> program.withdraw("three")
>>> program.update(cell.replace(verify_base_s=0.1))
>>> print(round(program.solve("CLARABEL").objective, 2))
28.62

Decisions over the same divisor add up, with units (here 0.2 W from the last drafted token to the deadline):

>>> idle_s = program.deadline_s - Amount(cell.draft_s_per_token, "s/token") * program.draft_length
>>> name = program.require(Amount(0.2, "W") * idle_s <= Amount(1.5e-3, "J"), name="energy")
>>> print(round(program.solve("CLARABEL").objective, 2))
28.43

Another utility in place of the sum is a class with two methods, a `ControlLimit` one with two sides:

>>> import numpy as np
>>> from msopt.model.objective import Utility
>>> class Logarithms(Utility):
...     name, unit = "logarithms", "ln(token/s)"
...     def of_device(self, goodput): return np.log(goodput)
...     def expression(self, goodput, cp): return cp.sum(cp.log(goodput))
>>> program.withdraw("energy")
>>> program.maximise(Logarithms())
>>> fair = program.solve("CLARABEL")
>>> print(round(fair.objective, 3), fair["device_goodput"].round(2))
5.253 [17.9  10.68]
"""

from formulations.core.amount import Amount as Amount
from formulations.core.conic_solution import Attempt as Attempt
from formulations.core.conic_solution import Certificate as Certificate
from formulations.core.conic_solution import FormulationSolution as FormulationSolution
from formulations.core.conic_solution import ShadowPrice as ShadowPrice
from formulations.core.formulation import AbstractFormulation as AbstractFormulation
from formulations.core.limit import LimitSides as LimitSides
from formulations.core.solver_errors import FormulationError as FormulationError
from formulations.core.solver_errors import InaccurateSolutionError as InaccurateSolutionError
from formulations.core.solver_errors import ProblemInfeasibleError as ProblemInfeasibleError
from formulations.core.solver_errors import ProblemUnboundedError as ProblemUnboundedError
from formulations.core.solver_errors import SolveError as SolveError
from formulations.core.solver_errors import SolverFailedError as SolverFailedError
from formulations.core.solver_errors import SolverMissingError as SolverMissingError
from formulations.core.solvers import SolverOptions as SolverOptions
from formulations.problems.bandwidth_for_lengths import BandwidthForLengths as BandwidthForLengths
from formulations.problems.bandwidth_minmax import BandwidthMinMax as BandwidthMinMax
from formulations.problems.downlink_power import DownlinkPower as DownlinkPower
from formulations.problems.draft_control import DraftControl as DraftControl
from formulations.problems.free_correction import FreeCorrection as FreeCorrection
from formulations.problems.homogeneous_length import HomogeneousLength as HomogeneousLength
from formulations.problems.joint_law_bound import JointLawBound as JointLawBound
from formulations.problems.lengths_at_deadline import LengthsAtDeadline as LengthsAtDeadline
from formulations.problems.mode_selection import ModeSelection as ModeSelection
from formulations.problems.mode_selection import enumerate_modes as enumerate_modes
from formulations.problems.whole_lengths import WholeLengths as WholeLengths
from formulations.registry import REGISTRY as REGISTRY
from formulations.registry import Entry as Entry
