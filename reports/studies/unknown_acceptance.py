"""What it is worth to know the acceptance of a prompt, and how soon it is learnt: two studies of ours.

Pure functions of a preset, the number of a draw and its seed, like those of `closed_forms`. Every device's acceptance
has a Beta law over prompts, with the mean of its dataset and the deviation of [MS] Table I or a part of it; the table's
deviation holds the noise of short prompts, too, so the whole of it is the most that prompts may differ.

Found at K = 20 (12 draws of the channel; Llama-2, Qwen3.5): where prompts differ as in Table I, knowing each adds 12.6
and 2.8 % to planning by the law, and planning with the mean alone loses 19 and 17 %. Learning from counts, planned anew
after 1, 2, 4, ... rounds, has lost 60 and 20 tokens of all devices in 10 rounds and 151 and 41 in 10 000, less than
a second's worth; CUCB loses 8870 and 2180, UCB1 368 000 and 300 000, because one length for all, even the best one,
costs 14 and 4 % for ever.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from msopt import Acceptance, Scenario, draw, evaluate, solve, solve_many
from msopt.arrays import FloatArray
from msopt.model.control import Control
from msopt.uncertain.common_length_bandit import CommonLengthBandit
from msopt.uncertain.knowing import value_of_knowing
from msopt.uncertain.online import OnlineRounds, Policy, doubling, every, play_online
from msopt.uncertain.policies import Kept, Learner, posterior_mean, upper_confidence
from msopt.uncertain.prompt_laws import BetaPrompts
from msopt.uncertain.worst_case import worst_case
from reports.shared.rows import Row
from reports.studies.paper_figures import Figure, pair
from reports.studies.probes import with_table_i

MIDDLE = 0.8
"""The share of prompts that the interval of the worst case holds."""
KNOWN, BY_LAW, BY_MEAN = "each prompt known", "law known", "mean alone known"
GUARDED = f"worst of the middle {100.0 * MIDDLE:g} %"
NEVER, COMMON, OPTIMIST = "never learnt", "UCB1, one length", "CUCB, each device"
LEARNT, LEARNT_RARELY = "posterior, doubling", "posterior, every 100"
POINTS = (1, 10, 30, 100, 300, 1000, 3000, 10_000)
"""Rounds at which the regret is shown."""
PLAYED_PROMPTS = 4
"""Side by side, of each draw."""
_SOURCE = "the cell of [MS] with the deviations over prompts of its Table I as Beta laws; the study is ours"

UNKNOWN: dict[str, Figure] = {
    "unknown_value": Figure(
        title="Goodput against planning by the law, as prompts differ more",
        paper_says=None,
        source=_SOURCE,
        x="table_i_part",
        y="goodput above planning by the law",
        y_unit="1",
        value="gain",
    ),
    "unknown_regret": Figure(
        title="Tokens lost against knowing the prompt",
        paper_says=None,
        source=_SOURCE,
        x="rounds",
        y="regret, all devices",
        y_unit="token",
        value="regret_tokens",
    ),
}
"""The figures by table."""


def value_rows(
    preset: str, draw_number: int, seed: int, devices: int, parts: Sequence[float], prompts: int
) -> list[Row]:
    """The mean goodput over prompts of four ways to plan, over that of planning by the law, less 1; at each part."""
    scenario, _ = draw(preset, devices=devices, seed=seed)
    rows = []
    for part in parts:
        cell = with_table_i(preset, scenario, part)
        found = value_of_knowing(cell, prompts=prompts, seed=seed)
        foreseen = found.planned.goodput
        gains = {
            KNOWN: found.value / foreseen,
            BY_LAW: 0.0,
            BY_MEAN: _score(cell, solve(scenario).control) / foreseen - 1.0,
            GUARDED: _score(cell, _guarded(cell)) / foreseen - 1.0,
        }
        head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed, "table_i_part": part}
        rows += [head | {"scheme": name, "method": name, "gain": gain} for name, gain in gains.items()]
    return rows


def _guarded(cell: Scenario) -> Control | None:
    """The best control for the worst of the middle of every device's law."""
    law = BetaPrompts.of(cell)
    low, high = (stats.beta.ppf(0.5 + side * MIDDLE / 2.0, law.a, law.b) for side in (-1.0, 1.0))
    return worst_case(cell, low, high).solution.control


def _score(cell: Scenario, control: Control | None) -> float:
    assert control is not None
    return evaluate(cell, control).goodput


def regret_rows(preset: str, draw_number: int, seed: int, devices: int, rounds: int) -> list[Row]:
    """Mean regret over a few prompts of each policy, after so many rounds of them."""
    cell = with_table_i(preset, draw(preset, devices=devices, seed=seed)[0], 1.0)
    law = BetaPrompts.of(cell)
    truth = law.draw(np.random.default_rng(seed), PLAYED_PROMPTS)
    best = solve_many([cell.replace(acceptance=Acceptance.of(prompt)) for prompt in truth]).goodput
    first = solve(cell).control
    assert first is not None
    posterior = posterior_mean(law)
    policies: dict[str, tuple[Policy, list[int]]] = {
        NEVER: (Kept(first, PLAYED_PROMPTS), [rounds]),
        COMMON: (CommonLengthBandit(cell, PLAYED_PROMPTS), every(1, rounds)),
        OPTIMIST: (Learner(cell, upper_confidence, first, PLAYED_PROMPTS), doubling(rounds)),
        LEARNT_RARELY: (Learner(cell, posterior, first, PLAYED_PROMPTS), every(100, rounds)),
        LEARNT: (Learner(cell, posterior, first, PLAYED_PROMPTS), doubling(rounds)),
    }
    head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed}
    rows = []
    for name, (policy, blocks) in policies.items():
        played = play_online(cell, truth, policy, blocks, seed=seed)
        at = [point for point in POINTS if point <= rounds]
        lost = played.lost_share(best)[-1].mean()
        rows += [
            head | {"rounds": point, "scheme": name, "method": name, "regret_tokens": regret, "lost_share_in_all": lost}
            for point, regret in zip(at, _regret_at(played, best, at), strict=True)
        ]
    return rows


def _regret_at(played: OnlineRounds, best: FloatArray, rounds: list[int]) -> list[float]:
    """The mean regret over prompts after some rounds; it is linear within a block."""
    mean = np.mean(played.regret(best), axis=1)
    return [float(value) for value in np.interp(rounds, [0, *played.rounds], [0.0, *mean])]
