"""The loop closed: what real models delivered under controls, beside what the formula had promised.

Tables of plain rows: `plays` (one control on one set of prompts), `devices`, `phases` of the round, `assumptions` and
the `order` of methods.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from msopt import Control, PlayedRounds, Scenario, emulate, evaluate
from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.assumptions import (
    SAMPLE,
    DraftRecord,
    length_effect,
    place_effect,
    token_effects,
    tokens_per_round,
)
from msopt.emulation.drawn_rounds import FormulaClock
from msopt.emulation.left_out import FORMULA
from msopt.emulation.played_rounds import batch_starts, gain_over
from msopt.emulation.sources import OnUplink, PlayedTokens, RoundSources
from msopt.measured.task_acceptance import TaskAcceptance
from msopt.model.acceptance import Acceptance
from msopt.model.problems import KINDS
from msopt.numerics.intervals import mean_interval
from reports.shared.rows import Row
from reports.studies.prediction_error import prediction_reach

VERSION = 1
"""Of a stored result."""
MOST_FREED = 12
"""Devices up to which the expected correction over free shares is found within a second."""
BITS = "messages of the planned bits"
"""Those that models build hold only the entries that there are."""
PHASES = ("draft and upload", "verification", "correction", "round")


@dataclass(frozen=True, eq=False)
class LoopPlay:
    """One control on one set of prompts.

    Attributes
    ----------
    method : str
        Which found the control.
    others : tuple of str
        Methods that found the very same.
    prompts : str
        "seen" or "unseen" by the profile.
    control : Control
    played : PlayedRounds
    record : DraftRecord
    """

    method: str
    others: tuple[str, ...]
    prompts: str
    control: Control
    played: PlayedRounds
    record: DraftRecord

    @property
    def key(self) -> Row:
        """What tells its rows from those of other plays."""
        return {"problem": self.control.problem, "method": self.method, "prompts": self.prompts}


def with_geometric_law(scenario: Scenario, acceptance: Sequence[float]) -> Scenario:
    """The same scenario with one acceptance for every position, as the papers have it."""
    return scenario.replace(acceptance=Acceptance.of(acceptance))


def loop_tables(
    scenario: Scenario,
    geometric: Scenario,
    plays: Sequence[LoopPlay],
    tasks: Sequence[TaskAcceptance],
    verify_by_batch_s: tuple[float, float],
) -> Row:
    """All tables.

    Parameters
    ----------
    scenario : Scenario
        With the profile's curves, in which the controls were found.
    geometric : Scenario
        The same with the geometric law.
    plays : sequence of LoopPlay
    tasks : sequence of TaskAcceptance
        What the profile measured of each device's task.
    verify_by_batch_s : pair of float
        Verification as a batch and a device cost, were the drafts' lengths not looked at [s].
    """
    return {
        "plays": [_play_row(scenario, geometric, play, tasks) for play in plays],
        "devices": [row for play in plays for row in _device_rows(scenario, geometric, play)],
        "phases": [row for play in plays for row in _phase_rows(scenario, play)],
        "assumptions": [
            row
            for place, play in enumerate(plays)
            for row in (
                *(() if _told(play, plays[:place]) else _token_rows(scenario, play, tasks, plays)),
                *_time_rows(scenario, play, verify_by_batch_s),
            )
        ],
        "order": _order_rows(scenario, plays, tasks),
    }


def _expected(scenario: Scenario, play: LoopPlay) -> FloatArray:
    return np.asarray(scenario.acceptance.expected_tokens(play.control.draft_length.astype(float)))


def _reach_of_prediction(play: LoopPlay, tasks: Sequence[TaskAcceptance]) -> float:
    return prediction_reach(tasks, (play.control.draft_length, 1.0), over_prompts=play.prompts != "seen")


def _reach_of_gain(ours: LoopPlay, theirs: LoopPlay, scenario: Scenario, tasks: Sequence[TaskAcceptance]) -> float:
    """Of ln(our goodput/theirs) as predicted: what the curves' error moves is tokens; a correction is short."""
    each = [
        (play.control.draft_length, sign / float(_expected(scenario, play).sum()))
        for play, sign in ((ours, 1.0), (theirs, -1.0))
    ]
    return prediction_reach(tasks, *each, over_prompts=ours.prompts != "seen")


def _play_row(scenario: Scenario, geometric: Scenario, play: LoopPlay, tasks: Sequence[TaskAcceptance]) -> Row:
    played, error = play.played, _reach_of_prediction(play, tasks)
    means, _, reach = tokens_per_round(played, play.record)
    low, high = played.interval()
    total, expected = float(means.sum()), float(_expected(scenario, play).sum())
    promised = evaluate(scenario, play.control).goodput
    return play.key | {
        "same_control": list(play.others),
        "rounds": played.rounds,
        "device_rounds": int(np.count_nonzero(played.arrives)),
        "texts": int(np.unique(play.record.text).size),
        "tokens_per_round": total,
        "tokens_low": total - reach,
        "tokens_high": total + reach,
        "predicted_tokens_curve": expected,
        "predicted_tokens_low": expected - error,
        "predicted_tokens_high": expected + error,
        "predicted_tokens_geometric": float(_expected(geometric, play).sum()),
        "goodput": played.goodput,
        "goodput_low": low,
        "goodput_high": high,
        "predicted_goodput_curve": promised,
        "predicted_goodput_geometric": evaluate(geometric, play.control).goodput,
        **_beside("tokens", total / expected, reach / expected, error / expected),
        **_beside("goodput", played.goodput / promised, (high - low) / 2.0 / promised, error / expected),
    }


def _beside(what: str, ratio: float, reach: float, predicted: float) -> Row:
    """By how much more was delivered than promised, with the errors of both; reaches as shares of what was promised."""
    more, both = ratio - 1.0, float(np.hypot(reach, ratio * predicted))
    return {f"{what}_more": more, f"{what}_more_low": more - both, f"{what}_more_high": more + both}


def _device_rows(scenario: Scenario, geometric: Scenario, play: LoopPlay) -> list[Row]:
    means, reaches, _ = tokens_per_round(play.played, play.record)
    curve, one = _expected(scenario, play), _expected(geometric, play)
    return [
        play.key
        | {
            "device": name,
            "draft_length": int(play.control.draft_length[k]),
            "tokens_per_round": float(means[k]),
            "tokens_low": float(means[k] - reaches[k]),
            "tokens_high": float(means[k] + reaches[k]),
            "predicted_tokens_curve": float(curve[k]),
            "predicted_tokens_geometric": float(one[k]),
        }
        for k, name in enumerate(scenario.device_names)
    ]


def phase_seconds(played: PlayedRounds) -> dict[str, FloatArray]:
    """How long each phase of every round took [s]."""
    ends = (played.verify_start_s, played.verified_s, played.start_s[1:])
    starts = (played.start_s[:-1], *ends[:2])
    each = [end - start for start, end in zip(starts, ends, strict=True)]
    return dict(zip(PHASES, [*each, played.round_s], strict=True))


def _phase_rows(scenario: Scenario, play: LoopPlay) -> list[Row]:
    predicted = evaluate(scenario, play.control).round
    said = (predicted.draft_upload_s, predicted.verify_s, predicted.correction_s, predicted.round_s)
    starts = batch_starts(play.played.rounds, play.played.correlated_rounds)
    sizes = np.diff([*starts, play.played.rounds])
    rows = []
    for (phase, seconds), expected in zip(phase_seconds(play.played).items(), said, strict=True):
        low, high = mean_interval(np.add.reduceat(seconds, starts) / sizes)
        own = {"phase": phase, "predicted_s": float(expected), "realised_s": float(seconds.mean())}
        rows.append(play.key | own | {"low_s": low, "high_s": high})
    return rows


def _told(play: LoopPlay, before: Sequence[LoopPlay]) -> bool:
    """Whether a play before wrote the same texts."""
    lengths = play.control.draft_length
    return any(_alike(other, play) and np.array_equal(other.control.draft_length, lengths) for other in before)


def _with_longer_drafts(play: LoopPlay, plays: Sequence[LoopPlay]) -> LoopPlay | None:
    """The play of the same prompts with the longest drafts, where no device of it drafts less."""
    same = [other for other in plays if _alike(other, play)]
    longest = max(same, key=lambda other: int(other.control.draft_length.min()))
    longer = np.all(longest.control.draft_length > play.control.draft_length)
    return longest if longer else None


def _token_rows(
    scenario: Scenario, play: LoopPlay, tasks: Sequence[TaskAcceptance], plays: Sequence[LoopPlay]
) -> list[Row]:
    """Tokens: what each assumption is worth to the played drafts themselves, and what is left to the prediction."""
    longer = _with_longer_drafts(play, plays)
    expected, lengths = float(_expected(scenario, play).sum()), play.control.draft_length
    effects = [
        *token_effects(scenario.acceptance, lengths, play.played, play.record),
        place_effect(lengths, play.played, play.record),
    ]
    if longer is not None:
        effects.append(length_effect(lengths, (play.played, play.record), (longer.played, longer.record)))
    rows = []
    for one in (each for each in effects if each.known):
        error = _reach_of_prediction(play, tasks) if one.assumption == SAMPLE else 0.0
        reach = float(np.hypot(one.high - one.tokens, error))
        ends = {"low": (one.tokens - reach) / expected, "high": (one.tokens + reach) / expected}
        rows.append(play.key | {"assumption": one.assumption, "of": "tokens", "change": one.tokens / expected} | ends)
    return rows


def _time_rows(scenario: Scenario, play: LoopPlay, verify_by_batch_s: tuple[float, float]) -> list[Row]:
    """Times: the formula with and without each assumption, and the play with and without the planned bits."""
    rows: list[Row] = []
    control, before = play.control, evaluate(scenario, play.control).goodput
    base_s, device_s = verify_by_batch_s
    by_batch = scenario.replace(verify_base_s=base_s, verify_per_device_s=device_s, verify_per_token_s=0.0)
    switched = {
        "tokens sent in no time": evaluate(scenario.replace(token_bits=0), control),
        "verification time by batch size alone": evaluate(by_batch, control),
    }
    if not KINDS[control.problem].corrects:
        shares = np.full(scenario.device_count, scenario.equal_share_hz)
        switched["equal shares"] = evaluate(scenario, replace(control, bandwidth_hz=shares))
    elif scenario.device_count <= MOST_FREED:
        switched["corrections over free shares"] = evaluate(scenario, replace(control, mode_rule="shared-band"))
    built, reach = gain_over(play.played, _with_planned_bits(scenario, play))
    found = [(name, after.goodput / before - 1.0, 0.0) for name, after in switched.items()]
    for name, change, error in (*found, (BITS, built, reach)):
        ends = {"low": change - error, "high": change + error}
        rows.append(play.key | {"assumption": name, "of": "time", "change": change} | ends)
    return rows


class _Told(NamedTuple):
    """A `TokenSource` of rounds that were played before."""

    tokens: PlayedTokens

    def play(self, draft_length: IntArray, drafts: BoolArray, arrives: BoolArray, on_uplink: OnUplink) -> PlayedTokens:
        """All of them."""
        del draft_length, drafts, arrives, on_uplink
        return self.tokens


def _with_planned_bits(scenario: Scenario, play: LoopPlay) -> PlayedRounds:
    """The same drafts, sent with the bits that the scenario names."""
    played = play.played
    told = _Told(PlayedTokens(played.drafted, played.accepted, played.tokens))
    clock = FormulaClock(scenario, FORMULA, np.random.SeedSequence(0))
    sources = RoundSources(told, clock, played.correlated_rounds)
    return emulate(scenario, play.control, played.rounds, sources=sources)


def _alike(one: LoopPlay, other: LoopPlay) -> bool:
    """Whether two plays are of one problem and the same prompts."""
    return (one.control.problem, one.prompts) == (other.control.problem, other.prompts)


def _order_rows(scenario: Scenario, plays: Sequence[LoopPlay], tasks: Sequence[TaskAcceptance]) -> list[Row]:
    """The first method of each problem and set of prompts against each other one, on as many rounds of both.

    `low` and `high` are the ends of what was realised; those of what was predicted come from the profile's error, and
    those of the difference from both.
    """
    rows = []
    for place, play in enumerate(plays):
        rivals = [other for other in plays[place + 1 :] if _alike(other, play)]
        first = not any(_alike(other, play) for other in plays[:place])
        for other in rivals if first else []:
            realised, reach = gain_over(play.played, other.played)
            ratio = evaluate(scenario, play.control).goodput / evaluate(scenario, other.control).goodput
            error = ratio * _reach_of_gain(play, other, scenario, tasks)
            said, both = ratio - 1.0, float(np.hypot(reach, error))
            rows.append(
                play.key
                | {"against": other.method, "predicted_gain": said, "realised_gain": realised}
                | {"low": realised - reach, "high": realised + reach}
                | {"predicted_low": said - error, "predicted_high": said + error}
                | {"difference": realised - said, "difference_low": realised - said - both}
                | {"difference_high": realised - said + both}
            )
    return rows


def batch_fit_s(batch: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Verification as a cost of the batch and one of each device, by least squares over all draft lengths [s]."""
    slope, base = np.polyfit(batch, seconds, 1)
    return max(float(base), 0.0), max(float(slope), 0.0)
