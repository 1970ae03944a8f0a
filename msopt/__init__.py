"""msopt: how many tokens each device drafts, and how radio and power are shared, in Multi-SPIN.

Many devices with small language models and one edge server with a large one generate text together by
speculative decoding. This package solves the problems that [MS], Multi-SPIN (arXiv 2606.04581), and [UD],
Uplink or Downlink? (arXiv 2608.29618), pose. What you find here:

Scenario      K devices, a server, a cell; `Scenario.read`, `.write`, `.replace`
solve         a problem of a scenario by one of `METHODS`, as a `Solution` (`.to_dict`, `.to_frame`;
              `.sensitivity`: what every number of the scenario is worth)
react         the best modes and power once it is known whose drafts were rejected
best_payloads who sends distributions with its drafts, and who exchanges one after a rejection
evaluate      the score of any `Control`; `evaluate_reaction` of any `Reaction`
draw          a scenario from the papers' settings, `PRESETS`
emulate       a control played round after round, a `PlayedRounds`; `attribution`: what each effect `LeftOut` costs,
              each `Fault` of a `FaultPlan` among them
worst_case    the best guarantee where acceptance is known to an interval; `value_of_knowing`, to a law over prompts
read_profile  a `Profile`: what was measured on a pair of models; `write_profile`, `draw_from_profiles`
solve_actions the best row of an `ActionTable` for each device; utilities (`ProportionalFair`, ...) and limits
              (`GoodputFloor`, `TokenBudget`, ...) go to `solve` and `evaluate`, too; one's own are a `Utility`
              or a `ControlLimit`
choices       payloads, draft models and trees for each device; overlap, turns, who drafts, capacity
uncertain     laws of acceptance over prompts, learning it online
bundled       the scenarios and profiles that come with the package
multispin     the lemmas, the theorem and the proposition of [MS], on plain arrays
uldl          the lemmas and the proposition of [UD], on plain arrays

Scenarios, solutions, profiles and plays show themselves: `repr` in a line, `print` in several, a notebook in a table,
`.plot()` as a figure. What is solved is told to the logger "msopt" at level INFO, which is quiet by default.

Symbols: alpha, `acceptance`; L, `draft_length` [token]; tau, `draft_s_per_token` [s]; e, spectral efficiency
[bit/s/Hz]; B, bandwidth [Hz]; V, `distribution_bits` [bit]; G, goodput [token/s]; theta, `per_token_s` [s].
"""

import logging
from importlib.metadata import version

from msopt import choices as choices
from msopt import uncertain as uncertain
from msopt.drawn.draw_preset import draw as draw
from msopt.drawn.from_profiles import draw_from_profiles as draw_from_profiles
from msopt.drawn.presets import PRESETS as PRESETS
from msopt.emulation.attribution import attribution as attribution
from msopt.emulation.event_loop import emulate as emulate
from msopt.emulation.faults import Fault as Fault
from msopt.emulation.faults import FaultPlan as FaultPlan
from msopt.emulation.left_out import LeftOut as LeftOut
from msopt.emulation.played_rounds import PlayedRounds as PlayedRounds
from msopt.errors import InfeasibleError as InfeasibleError
from msopt.errors import MsoptError as MsoptError
from msopt.errors import ParameterError as ParameterError
from msopt.errors import PowerWarning as PowerWarning
from msopt.evaluation import Evaluation as Evaluation
from msopt.evaluation import evaluate as evaluate
from msopt.evaluation import evaluate_reaction as evaluate_reaction
from msopt.files import bundled as bundled
from msopt.files.profile_json import read_profile as read_profile
from msopt.files.profile_json import write_profile as write_profile
from msopt.formulas import multispin as multispin
from msopt.formulas import uldl as uldl
from msopt.many import ManySolutions as ManySolutions
from msopt.many import solve_many as solve_many
from msopt.measured.profile import Profile as Profile
from msopt.methods import METHODS as METHODS
from msopt.model.acceptance import Acceptance as Acceptance
from msopt.model.control import Control as Control
from msopt.model.control import Reaction as Reaction
from msopt.model.control_limit import ControlLimit as ControlLimit
from msopt.model.objective import Sum as Sum
from msopt.model.objective import Utility as Utility
from msopt.model.scenario import PROBLEMS as PROBLEMS
from msopt.model.scenario import Scenario as Scenario
from msopt.modes.correction import react as react
from msopt.modes.uplink_payload import best_payloads as best_payloads
from msopt.solution import Solution as Solution
from msopt.solve import solve as solve
from msopt.uncertain.knowing import value_of_knowing as value_of_knowing
from msopt.uncertain.worst_case import worst_case as worst_case
from msopt.variants.action_table import ActionTable as ActionTable
from msopt.variants.bandwidth_limits import BandwidthCap as BandwidthCap
from msopt.variants.bandwidth_limits import BandwidthFloor as BandwidthFloor
from msopt.variants.bandwidth_limits import ResourceBlocks as ResourceBlocks
from msopt.variants.best_actions import ActionsSolution as ActionsSolution
from msopt.variants.best_actions import solve_actions as solve_actions
from msopt.variants.capacity_limits import DeviceMemory as DeviceMemory
from msopt.variants.capacity_limits import EarliestDeadline as EarliestDeadline
from msopt.variants.capacity_limits import ServerMemory as ServerMemory
from msopt.variants.capacity_limits import Slots as Slots
from msopt.variants.energy_limits import AveragePower as AveragePower
from msopt.variants.energy_limits import EnergyPerToken as EnergyPerToken
from msopt.variants.goodput_limits import GoodputFloor as GoodputFloor
from msopt.variants.goodput_limits import TokenLatencyCeiling as TokenLatencyCeiling
from msopt.variants.length_limits import AllowedLengths as AllowedLengths
from msopt.variants.length_limits import LongestDraft as LongestDraft
from msopt.variants.length_limits import TokenBudget as TokenBudget
from msopt.variants.utilities import Admission as Admission
from msopt.variants.utilities import AlphaFair as AlphaFair
from msopt.variants.utilities import MaxMin as MaxMin
from msopt.variants.utilities import ProportionalFair as ProportionalFair
from msopt.variants.utilities import WeightedSum as WeightedSum

__version__ = version("msopt")

logging.getLogger("msopt").addHandler(logging.NullHandler())  # quiet until a user asks
