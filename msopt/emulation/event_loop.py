"""The loop: rounds one after another on a virtual clock, tokens and times from whoever gives them (ours)."""

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.emulation.channels import channel_blocks
from msopt.emulation.drawn_rounds import FormulaClock, LawTokens
from msopt.emulation.exchanges import Corrections
from msopt.emulation.left_out import FORMULA, PROMPT_ROUNDS, LeftOut
from msopt.emulation.played_rounds import PlayedRounds, joined
from msopt.emulation.round_plan import RoundPlan, round_plan, uploading_s
from msopt.emulation.sources import RoundSources, Watch
from msopt.errors import ParameterError
from msopt.evaluation import Evaluation, evaluate
from msopt.model.control import Control
from msopt.model.problems import KINDS
from msopt.model.scenario import Scenario
from msopt.model.validation import check_whole
from msopt.numerics.memory import require_memory

MOST_DRAFTS = 100_000_000
"""Rounds times devices of one play."""
_BYTES_A_DRAFT = 200


def emulate(  # noqa: PLR0913  (one argument for each thing that a caller may have or want)
    scenario: Scenario,
    control: Control,
    rounds: int,
    *,
    left_out: LeftOut = FORMULA,
    prompt_rounds: int = PROMPT_ROUNDS,
    seed: int = 0,
    predicted: Evaluation | None = None,
    sources: RoundSources | None = None,
    watch: Watch | None = None,
) -> PlayedRounds:
    """Play a control round after round.

    A device drafts, then sends; the server waits for the last draft, or up to its deadline where faults have one, and
    as long as the control says, verifies those that came in one batch, and in problem `modes` the rejected devices
    exchange their distributions; then the next round begins. A device whose draft is not verified, or that is away,
    keeps its text as it is.

    Parameters
    ----------
    scenario, control
    rounds : int
        R, at least 1.
    left_out : LeftOut
        What the play has that the formula has not; nothing by default.
    prompt_rounds : int
        Rounds of one prompt where texts have no end: under the Beta law each prompt has one alpha.
    seed : int
        One seed, one play, whatever the machine. Plays of one seed meet the same luck in all that they share.
    predicted : Evaluation, optional
        The formula's, where it is at hand.
    sources : RoundSources, optional
        In place of the acceptance laws and the scenario's times; they then know of texts, jitter and, if they build
        messages, of bits themselves. Faults strike them, too, but for acceptance that drifts: theirs is their own.
    watch : Watch, optional
        Who is told of the rounds as they are played, which are the same.

    Raises
    ------
    ParameterError
        For numbers out of range, a control that is not the scenario's, or faults of devices that it does not have.
    InfeasibleError
        For a control that breaks a constraint.
    """
    _check(scenario, rounds, prompt_rounds, seed)
    formula = evaluate(scenario, control) if predicted is None else predicted
    formula.require_feasible()
    seeds = np.random.SeedSequence(seed).spawn(5)
    blocks = channel_blocks(scenario, control, rounds, left_out, seeds[0])
    strikes = left_out.faults.strikes(scenario.device_names, rounds, seed)
    if strikes.drifts and sources is not None:
        raise ParameterError('a fault of kind "drift" needs acceptance laws; models accept what they accept')
    prompts = prompt_rounds if scenario.acceptance.std.any() and left_out.text_tokens is None else 1
    kept = strikes.kept if strikes.drifts else None
    own = sources or RoundSources(
        LawTokens(scenario.acceptance, prompt_rounds, left_out.text_tokens, seeds[1], kept),
        FormulaClock(scenario, left_out, seeds[2]),
        prompts,
    )
    loop = _Loop(round_plan(blocks, left_out, strikes, seeds[3]), own, Corrections(blocks, seeds[4]), formula, left_out)
    pieces, step = [], rounds if watch is None else watch.rounds_at_once
    for first in range(0, rounds, step):
        pieces.append(loop.piece(first, min(first + step, rounds)))
        if watch is not None:
            watch.see(pieces[-1])
    return joined(pieces)


class _Loop:
    """What plays the rounds of a plan, piece by piece."""

    def __init__(
        self, plan: RoundPlan, sources: RoundSources, corrections: Corrections, formula: Evaluation, left_out: LeftOut
    ) -> None:
        self._plan, self._sources, self._corrections, self._formula = plan, sources, corrections, formula
        self._correlated_rounds = int(np.lcm(sources.correlated_rounds, left_out.coherence_rounds or 1))
        self._now_s = 0.0

    def piece(self, first: int, end: int) -> PlayedRounds:
        """The rounds from `first`, which must be the next, up to `end`."""
        plan, here = self._plan, slice(first, end)
        scenario, problem = plan.blocks[0].scenario, plan.blocks[0].control.problem
        drafts, arrives = plan.drafts[here], plan.arrives[here]

        def on_uplink(place: int, rejected: BoolArray) -> BoolArray:
            return self._corrections.on_uplink(first + place, rejected)

        played = self._sources.tokens.play(plan.lengths[here], drafts, arrives, on_uplink)
        rejected = arrives & (played.accepted < played.drafted)
        if played.distribution_bits is not None:
            rejected &= played.distribution_bits > 0
        exchanged = self._corrections.of_rounds(first, rejected)
        exchange_s = exchanged.seconds
        if played.distribution_bits is not None:  # shares and powers are held while what is sent is sent
            exchange_s = exchange_s * (played.distribution_bits / scenario.distribution_bits)
        clock = self._sources.clock
        draft_s, verify_s = clock.draft_s(played.drafted), clock.verify_s(played.drafted, arrives)
        upload_s = uploading_s(plan.blocks, played.drafted, first, played.draft_bits)
        upload_s = upload_s + np.where(played.drafted > 0, _rows(plan.delay_s, here), 0.0)
        times = self._on_the_clock(here, draft_s, upload_s, verify_s, exchange_s)
        self._now_s = float(times["start_s"][-1])
        corrects = rejected & KINDS[problem].corrects
        return PlayedRounds(
            device_names=scenario.device_names,
            predicted=self._formula.goodput,
            predicted_error=self._formula.standard_error or 0.0,
            drafts=drafts,
            arrives=arrives,
            drafted=played.drafted,
            accepted=played.accepted,
            tokens=played.tokens,
            mode=np.where(corrects, np.where(exchanged.on_uplink, 1, 2), 0),
            correlated_rounds=self._correlated_rounds,
            **times,
        )

    def _on_the_clock(
        self, here: slice, draft_s: FloatArray, upload_s: FloatArray, verify_s: FloatArray, exchange_s: FloatArray
    ) -> dict[str, FloatArray]:
        """When every step of every round ends: one round begins where the one before has ended for all."""
        plan, strikes = self._plan, self._plan.strikes
        arrives = plan.arrives[here]
        draft_s = draft_s * _rows(strikes.slower, here)
        there_s = draft_s + upload_s
        there_s = np.where(arrives, there_s, np.minimum(there_s, plan.deadline_s[here, None]))
        ready_s = np.maximum(np.max(there_s, axis=-1) + plan.empty_s[here], plan.not_before_s[here])
        answer_s = exchange_s + np.where(arrives, _rows(strikes.late_result_s, here), 0.0)
        seconds = ready_s + verify_s + np.max(answer_s, axis=-1)
        start_s = np.cumsum(np.concatenate([[self._now_s], seconds]), dtype=float)
        begin_s = start_s[:-1]
        verified_s = begin_s + ready_s + verify_s
        return {
            "start_s": start_s,
            "draft_end_s": begin_s[:, None] + np.minimum(draft_s, there_s),
            "upload_end_s": begin_s[:, None] + there_s,
            "verify_start_s": begin_s + ready_s,
            "verified_s": verified_s,
            "corrected_s": verified_s[:, None] + answer_s,
        }


def _rows(values: FloatArray, here: slice) -> FloatArray:
    """Those of some rounds, of values for all rounds or of one value."""
    return values if len(values) == 1 else values[here]


def _check(scenario: Scenario, rounds: int, prompt_rounds: int, seed: int) -> None:
    count = scenario.device_count
    check_whole("rounds", rounds, 1, MOST_DRAFTS // count)
    check_whole("prompt_rounds", prompt_rounds, 1)
    check_whole("seed", seed, 0)
    require_memory(
        _BYTES_A_DRAFT * rounds * count, f"a play of {rounds} rounds and {count} devices", "play fewer rounds"
    )
