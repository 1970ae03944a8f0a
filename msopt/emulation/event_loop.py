"""The loop: rounds one after another on a virtual clock, tokens and times from whoever gives them (ours)."""

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.channels import ChannelBlock, channel_blocks
from msopt.emulation.drawn_rounds import FormulaClock, LawTokens
from msopt.emulation.exchanges import Exchanges, exchanges
from msopt.emulation.left_out import FORMULA, PROMPT_ROUNDS, LeftOut
from msopt.emulation.played_rounds import PlayedRounds
from msopt.emulation.sources import RoundSources
from msopt.errors import ParameterError
from msopt.evaluation import Evaluation, evaluate
from msopt.model.control import Control
from msopt.model.goodput import sending_s
from msopt.model.problems import KINDS
from msopt.model.scenario import Scenario
from msopt.model.validation import check_whole
from msopt.numerics.memory import require_memory

MOST_DRAFTS = 100_000_000
"""Rounds times devices of one play."""
_BYTES_A_DRAFT = 200


def emulate(
    scenario: Scenario,
    control: Control,
    rounds: int,
    *,
    left_out: LeftOut = FORMULA,
    prompt_rounds: int = PROMPT_ROUNDS,
    seed: int = 0,
    predicted: Evaluation | None = None,
    sources: RoundSources | None = None,
) -> PlayedRounds:
    """Play a control round after round.

    A device drafts, then sends; the server waits for the last draft, and as long as the control says, verifies those
    that came in one batch, and in problem `modes` the rejected devices exchange their distributions; then the next
    round begins.

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
        In place of the acceptance laws and the scenario's times; they then know of texts and jitter themselves.

    Raises
    ------
    ParameterError
        For numbers out of range, or a control that is not the scenario's.
    InfeasibleError
        For a control that breaks a constraint.
    """
    _check(scenario, rounds, prompt_rounds, seed, left_out)
    formula = evaluate(scenario, control) if predicted is None else predicted
    formula.require_feasible()
    seeds = np.random.SeedSequence(seed).spawn(5)
    blocks = channel_blocks(scenario, control, rounds, left_out, seeds[0])
    source, clock = sources or RoundSources(
        LawTokens(scenario.acceptance, prompt_rounds, left_out.text_tokens, seeds[1]),
        FormulaClock(scenario, left_out, seeds[2]),
    )

    drafts = _taking_part(blocks, left_out)
    lengths = np.concatenate([_each_round(block, block.control.draft_length) for block in blocks])
    lost = np.random.default_rng(seeds[3]).random(drafts.shape) < left_out.loss_probability
    arrives = drafts & ~(lost & (lengths > 0))  # where nothing is drafted, nothing is sent that could be lost
    played = source.play(lengths, drafts, arrives)
    rejected = arrives & (played.accepted < played.drafted)
    exchanged = _corrections(blocks, rejected, seeds[4])
    draft_s, verify_s = clock.draft_s(played.drafted), clock.verify_s(played.drafted, arrives)
    corrects = rejected & KINDS[control.problem].corrects
    return PlayedRounds(
        device_names=scenario.device_names,
        predicted=formula.goodput,
        predicted_error=formula.standard_error or 0.0,
        drafts=drafts,
        arrives=arrives,
        drafted=played.drafted,
        accepted=played.accepted,
        tokens=played.tokens,
        mode=np.where(corrects, np.where(exchanged.on_uplink, 1, 2), 0),
        correlated_rounds=_correlated(scenario, left_out, prompt_rounds),
        **_on_the_clock(draft_s, _upload_s(blocks, played.drafted), _not_before_s(blocks), verify_s, exchanged.seconds),
    )


def _on_the_clock(
    draft_s: FloatArray, upload_s: FloatArray, not_before_s: FloatArray, verify_s: FloatArray, exchange_s: FloatArray
) -> dict[str, FloatArray]:
    """When every step of every round ends: one round begins where the one before has ended for all."""
    there_s = draft_s + upload_s
    ready_s = np.maximum(np.max(there_s, axis=-1), not_before_s)
    start_s = np.concatenate([[0.0], np.cumsum(ready_s + verify_s + np.max(exchange_s, axis=-1), dtype=float)])
    begin_s = start_s[:-1]
    verified_s = begin_s + ready_s + verify_s
    return {
        "start_s": start_s,
        "draft_end_s": begin_s[:, None] + draft_s,
        "upload_end_s": begin_s[:, None] + there_s,
        "verify_start_s": begin_s + ready_s,
        "verified_s": verified_s,
        "corrected_s": verified_s[:, None] + exchange_s,
    }


def _check(scenario: Scenario, rounds: int, prompt_rounds: int, seed: int, left_out: LeftOut) -> None:
    count = scenario.device_count
    check_whole("rounds", rounds, 1, MOST_DRAFTS // count)
    check_whole("prompt_rounds", prompt_rounds, 1)
    check_whole("seed", seed, 0)
    if left_out.dropout_device >= count:
        raise ParameterError(
            f"dropout_device = {left_out.dropout_device} is not a device of the scenario, from 0 to {count - 1}"
        )
    if left_out.dropout_round is not None and count == 1:
        raise ParameterError(f"dropout_round = {left_out.dropout_round}: the only device cannot drop out")
    require_memory(
        _BYTES_A_DRAFT * rounds * count, f"a play of {rounds} rounds and {count} devices", "play fewer rounds"
    )


def _correlated(scenario: Scenario, left_out: LeftOut, prompt_rounds: int) -> int:
    """Rounds that share a prompt or a channel."""
    prompts = prompt_rounds if scenario.acceptance.std.any() and left_out.text_tokens is None else 1
    return int(np.lcm(prompts, left_out.coherence_rounds or 1))


def _each_round(block: ChannelBlock, of_devices: IntArray) -> IntArray:
    return np.broadcast_to(of_devices, (block.end - block.first, of_devices.size))


def _taking_part(blocks: list[ChannelBlock], left_out: LeftOut) -> BoolArray:
    """Who takes part in each round: whom the control serves and who has not dropped out."""
    count = blocks[0].scenario.device_count
    part = np.ones((blocks[-1].end, count), dtype=bool)
    for block in blocks:
        if block.control.served is not None:
            part[block.first : block.end] = block.control.served
    if left_out.dropout_round is not None:
        part[left_out.dropout_round :, left_out.dropout_device] = False
    return part


def _not_before_s(blocks: list[ChannelBlock]) -> FloatArray:
    """When the server may begin at the soonest after each round's start [s], shape (R,)."""
    return np.concatenate([np.full(block.end - block.first, block.control.not_before_s or 0.0) for block in blocks])


def _upload_s(blocks: list[ChannelBlock], drafted: IntArray) -> FloatArray:
    """How long each draft is sent and under way [s]."""
    seconds = np.empty(drafted.shape)
    for block in blocks:
        here = slice(block.first, block.end)
        bits = block.scenario.token_payload_bits(block.control.problem)
        per_token_s = sending_s(bits, block.scenario.uplink.rate(block.control.bandwidth_hz))
        some = drafted[here] > 0
        sent_s = drafted[here] * np.where(some, per_token_s, 0.0)  # at no rate at all only where nothing is sent
        seconds[here] = sent_s + block.scenario.trip_s(some)
    return seconds


def _corrections(blocks: list[ChannelBlock], rejected: BoolArray, seed: np.random.SeedSequence) -> Exchanges:
    """Modes and times of every round's rejections; none where the problem has no corrections."""
    seconds, on_uplink = np.zeros(rejected.shape), np.zeros(rejected.shape, dtype=bool)
    for block, own in zip(blocks, seed.spawn(len(blocks)), strict=True):
        if KINDS[block.control.problem].corrects:
            here = slice(block.first, block.end)
            seconds[here], on_uplink[here] = exchanges(block.scenario, block.control.mode_rule, rejected[here], own)
    return Exchanges(seconds, on_uplink)
