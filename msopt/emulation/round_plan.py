"""What stands before a round is played: who drafts how much, whose draft is there in time, and what comes later (ours).

A deadline is held against planned times and what faults add to them. Times that vary by chance, or are measured, are
awaited: what they cost is theirs alone.
"""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.channels import ChannelBlock
from msopt.emulation.faults import Strikes
from msopt.emulation.left_out import LeftOut
from msopt.model.goodput import sending_s


@dataclass(frozen=True, eq=False)
class RoundPlan:
    """R rounds of K devices as planned and as faults strike them.

    Attributes
    ----------
    blocks : list of ChannelBlock
    lengths : array of int, shape (R, K)
        Tokens to draft.
    drafts, arrives : arrays of bool, shape (R, K)
        Who takes part, and whose draft is verified.
    deadline_s : array, shape (R,)
        From the beginning of a round: how long the server awaits drafts; infinite where there is no deadline [s].
    empty_s : array, shape (R,)
        How long a round lasts that nobody takes part in: as long as the whole batch's as planned; else 0 [s].
    not_before_s : array, shape (R,)
        When the server may begin at the soonest after a round's beginning [s].
    delay_s : array, shape (R, K) or (1, 1)
        What a draft is under way longer, by faults and by chance [s].
    strikes : Strikes
    """

    blocks: list[ChannelBlock]
    lengths: IntArray
    drafts: BoolArray
    arrives: BoolArray
    deadline_s: FloatArray
    empty_s: FloatArray
    not_before_s: FloatArray
    delay_s: FloatArray
    strikes: Strikes


def round_plan(
    blocks: list[ChannelBlock], left_out: LeftOut, strikes: Strikes, seed: np.random.SeedSequence
) -> RoundPlan:
    """The plan of a play; the seed is that of random delays."""
    count = blocks[0].scenario.device_count
    lengths = np.concatenate([_each_round(block, block.control.draft_length) for block in blocks])
    everyone = np.ones((1, count), dtype=bool)
    served = np.concatenate(
        [_each_round(b, everyone if b.control.served is None else b.control.served) for b in blocks]
    )
    drafts = served & ~strikes.away
    sends = drafts & (lengths > 0)  # where nothing is drafted, nothing is sent that could be lost or late
    not_before_s = np.concatenate([np.full(b.end - b.first, b.control.not_before_s or 0.0) for b in blocks])
    planned = np.where(drafts, lengths, 0)
    deadline_s, late = _deadline(blocks, planned, not_before_s, left_out.faults.deadline_factor, strikes)
    delay_s = strikes.late_s
    if left_out.delay_s > 0.0:
        delay_s = delay_s + float(left_out.delay_s) * np.random.default_rng(seed).standard_exponential(drafts.shape)
    return RoundPlan(
        blocks=blocks,
        lengths=lengths,
        drafts=drafts,
        arrives=drafts & ~(sends & (strikes.lost | late)),
        deadline_s=deadline_s,
        empty_s=_empty_s(blocks, lengths, served, drafts),
        not_before_s=not_before_s,
        delay_s=delay_s,
        strikes=strikes,
    )


def _each_round(block: ChannelBlock, of_devices: IntArray | BoolArray) -> IntArray:
    return np.broadcast_to(of_devices, (block.end - block.first, np.shape(of_devices)[-1]))


def _deadline(
    blocks: list[ChannelBlock], planned: IntArray, not_before_s: FloatArray, factor: float | None, strikes: Strikes
) -> tuple[FloatArray, BoolArray]:
    """How long drafts are awaited, and which come later."""
    if factor is None:
        return np.full(len(planned), np.inf), np.zeros((1, 1), dtype=bool)
    draft_s, upload_s = planned * blocks[0].scenario.draft_s_per_token, uploading_s(blocks, planned)
    deadline_s = np.maximum(float(factor) * np.max(draft_s + upload_s, axis=-1), not_before_s)
    late = draft_s * strikes.slower + upload_s + strikes.late_s > deadline_s[:, None]
    return deadline_s, late


def _empty_s(blocks: list[ChannelBlock], lengths: IntArray, served: BoolArray, drafts: BoolArray) -> FloatArray:
    seconds = np.zeros(len(drafts))
    for place in np.flatnonzero(~drafts.any(axis=-1)):
        block = next(block for block in blocks if block.end > place)
        planned = np.where(served[place], lengths[place], 0)[None]
        there_s = planned * block.scenario.draft_s_per_token + _block_upload_s(block, planned)
        seconds[place] = np.max(there_s) + block.scenario.verify_s(planned, served[place][None])[0]
    return seconds


def uploading_s(
    blocks: list[ChannelBlock], drafted: IntArray, first: int = 0, draft_bits: IntArray | None = None
) -> FloatArray:
    """How long the drafts of the rounds from `first` on are sent and under way [s].

    Parameters
    ----------
    blocks : list of ChannelBlock
    drafted : array of int, shape (n, K)
    first : int
    draft_bits : array of int, shape (n, K), optional
        Of messages as built; else the scenario's for every token.
    """
    seconds = np.empty(drafted.shape)
    end = first + len(drafted)
    for block in (block for block in blocks if block.first < end and block.end > first):
        here = slice(max(block.first, first) - first, min(block.end, end) - first)
        seconds[here] = _block_upload_s(block, drafted[here], None if draft_bits is None else draft_bits[here])
    return seconds


def _block_upload_s(block: ChannelBlock, drafted: IntArray, draft_bits: IntArray | None = None) -> FloatArray:
    rate = block.scenario.uplink.rate(block.control.bandwidth_hz)
    some = drafted > 0
    if draft_bits is None:
        per_token_s = sending_s(block.scenario.token_payload_bits(block.control.problem), rate)
        sent_s = drafted * np.where(some, per_token_s, 0.0)  # at no rate at all only where nothing is sent
    else:
        sent_s = np.where(some, sending_s(draft_bits, rate), 0.0)
    return np.asarray(sent_s + block.scenario.trip_s(some))
