"""Acceptance that nobody knows beforehand: laws over prompts, the value of knowing, the worst case, learning online.

value_of_knowing  what it is worth to know each prompt's acceptance, under `BetaPrompts` or `SampledPrompts`
worst_case        the best guarantee where acceptance is known to an interval
play_online       rounds in which a policy plans for blocks of them (`every`, `doubling`) and learns from what it sees:
                  `Kept` (one control), `Learner` (with the belief `posterior_mean`, `posterior_law` or
                  `upper_confidence`), `CommonLengthBandit`
"""

from msopt.uncertain.common_length_bandit import CommonLengthBandit as CommonLengthBandit
from msopt.uncertain.knowing import value_of_knowing as value_of_knowing
from msopt.uncertain.online import doubling as doubling
from msopt.uncertain.online import every as every
from msopt.uncertain.online import play_online as play_online
from msopt.uncertain.policies import Kept as Kept
from msopt.uncertain.policies import Learner as Learner
from msopt.uncertain.policies import posterior_law as posterior_law
from msopt.uncertain.policies import posterior_mean as posterior_mean
from msopt.uncertain.policies import upper_confidence as upper_confidence
from msopt.uncertain.prompt_laws import BetaPrompts as BetaPrompts
from msopt.uncertain.prompt_laws import SampledPrompts as SampledPrompts
from msopt.uncertain.worst_case import worst_case as worst_case
