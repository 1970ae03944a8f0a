"""What each assumption of the formula is worth beside rounds as models played them, switched one at a time (ours).

Expected tokens of a round are built up from the played drafts themselves, each step without one more assumption: one
acceptance for all positions of a draft; one for each position, alike for all prompts; one for each position and prompt,
independent along a draft; as they are; with the luck of the draws; with the rounds that a text's end cuts short. The
steps add up to what was realised.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.played_rounds import PlayedRounds
from msopt.model.acceptance import Acceptance
from msopt.numerics.intervals import LEVEL

STEPS = (
    "position in the draft",
    "each prompt's own acceptance",
    "dependence along a draft",
    "luck of the draws",
    "rounds cut by the end of a text",
)
"""What is no longer assumed from one estimate to the next."""
SAMPLE = "the profile's sample"
"""What is left between the law that was given and the same law of the played drafts: draft lengths and prompts that the
profile has not seen count as well."""
PLACE = "position in the text"
"""Switched alone, beside the steps: acceptance by position in the draft that is measured for each part of the texts."""
PARTS = 4
"""Of the texts, with as many drafts each."""
PARTS_OF_ONE = 8
"""Of a text that is all that a device wrote: intervals are over them."""
LENGTH = "measured at another draft length"
"""Rounds of long drafts may begin elsewhere in a text than those of short ones: what they have passed was easy."""


@dataclass(frozen=True, eq=False)
class DraftRecord:
    """What a source knows of every draft beside its counts, shape (R, K).

    Attributes
    ----------
    text, prompt : arrays of int
        Which text (-1: none) and which prompt the draft belongs to.
    place : array of int
        Tokens that the text had before.
    chance : array, shape (R, K, L)
        Probability with which each drafted token is accepted when all before it are; 0 beyond the draft.
    """

    text: IntArray
    prompt: IntArray
    place: IntArray
    chance: FloatArray


@dataclass(frozen=True)
class Effect:
    """What one assumption is worth.

    Attributes
    ----------
    assumption : str
    tokens, low, high : float
        By how much the expected tokens of a round of all devices change without it, and the interval; NaN where a
        device had no draft that came through whole.
    """

    assumption: str
    tokens: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether every device had drafts to tell it by."""
        return bool(np.isfinite(self.tokens))


def tokens_per_round(
    played: PlayedRounds, record: DraftRecord, level: float = LEVEL
) -> tuple[FloatArray, FloatArray, float]:
    """Mean tokens of a round of each device, how far its interval reaches, and that of their sum, over texts.

    A device of which no draft came through has a mean of NaN.
    """
    means, reaches, error2, parts = [], [], 0.0, 0
    for k in range(played.tokens.shape[1]):
        some = played.arrives[:, k]
        won = played.tokens[some, k]
        whole, without = _jackknifed(_mean_of(won), record.text[some, k])
        variance, count = _variance(without[:, None])
        means.append(float(whole))
        reaches.append(_reach(float(variance[0]), count, level))
        error2, parts = error2 + float(variance[0]), parts + count
    return np.array(means), np.array(reaches), _reach(error2, parts, level)


def token_effects(
    law: Acceptance, lengths: IntArray, played: PlayedRounds, record: DraftRecord, level: float = LEVEL
) -> tuple[Effect, ...]:
    """The steps from one acceptance for all to what was realised, and what is left to the law that predicted.

    Parameters
    ----------
    law : Acceptance
        What the prediction rests on.
    lengths : array of int, shape (K,)
        Draft lengths as planned.
    played, record
    level : float
        Of the intervals, over texts (jackknife).
    """
    predicted = law.expected_tokens(lengths.astype(float))
    total, error2, parts = np.zeros(len(STEPS) + 1), np.zeros(len(STEPS) + 1), 0
    for k, length in enumerate(lengths.tolist()):
        drafts = _DeviceDrafts.of(played, record, k, length)
        built, without = _jackknifed(drafts.estimates, drafts.text)
        change, changes = _changes(built, float(predicted[k])), _changes(without, float(predicted[k]))
        variance, count = _variance(changes)
        total, error2, parts = total + change, error2 + variance, parts + count
    reach = [_reach(float(value), parts, level) for value in error2]
    names = (*STEPS, SAMPLE)
    return tuple(
        Effect(name, float(value), float(value - own), float(value + own))
        for name, value, own in zip(names, total, reach, strict=True)
    )


def place_effect(lengths: IntArray, played: PlayedRounds, record: DraftRecord, level: float = LEVEL) -> Effect:
    """What it is worth that acceptance changes along a text, all else as one acceptance for each position in a draft.

    Parameters
    ----------
    lengths : array of int, shape (K,)
        Draft lengths as planned.
    played, record
    level : float
        Of the interval, over texts (jackknife).
    """
    change, variance, freedom = 0.0, 0.0, 0
    for k, length in enumerate(lengths.tolist()):
        drafts = _DeviceDrafts.of(played, record, k, length)
        whole, without = _jackknifed(drafts.by_place, drafts.text)
        own, count = _variance(without[:, None])
        change, variance, freedom = change + float(whole), variance + float(own[0]), freedom + count
    reach = _reach(variance, freedom, level)
    return Effect(PLACE, change, change - reach, change + reach)


def length_effect(
    lengths: IntArray,
    ours: tuple[PlayedRounds, DraftRecord],
    longer: tuple[PlayedRounds, DraftRecord],
    level: float = LEVEL,
) -> Effect:
    """What the drafts of some lengths win more than the first tokens of longer drafts for the same prompts.

    Parameters
    ----------
    lengths : array of int, shape (K,)
        Draft lengths of the first play.
    ours, longer : pairs of PlayedRounds and DraftRecord
        Two plays, the drafts of the second no shorter.
    level : float
        Of the interval, over texts of both.
    """
    change, variance, freedom = 0.0, 0.0, 0
    for sign, (played, record) in ((1.0, ours), (-1.0, longer)):
        for k, length in enumerate(lengths.tolist()):
            some = played.arrives[:, k] & (played.drafted[:, k] >= length)
            won = 1.0 + np.cumprod(record.chance[some, k, :length], axis=1).sum(axis=1)
            whole, without = _jackknifed(_mean_of(won), record.text[some, k])
            own, count = _variance(without[:, None])
            change, variance, freedom = change + sign * float(whole), variance + float(own[0]), freedom + count
    reach = _reach(variance, freedom, level)
    return Effect(LENGTH, change, change - reach, change + reach)


def _changes(built: FloatArray, predicted: float) -> FloatArray:
    """Differences of estimates, shape (..., steps + 1), and of the drafts' own expectation from the prediction."""
    whole = built[..., STEPS.index("dependence along a draft") + 1]
    return np.concatenate([np.diff(built, axis=-1), (whole - predicted)[..., None]], axis=-1)


@dataclass(frozen=True, eq=False)
class _DeviceDrafts:
    """The drafts of one device that arrived: text, prompt, part of the text, tokens won, whether whole, chances."""

    text: IntArray
    prompt: IntArray
    part: IntArray
    tokens: IntArray
    whole: BoolArray
    chance: FloatArray

    @classmethod
    def of(cls, played: PlayedRounds, record: DraftRecord, k: int, length: int) -> "_DeviceDrafts":
        some = played.arrives[:, k]
        tokens, drafted, accepted = (of[some, k] for of in (played.tokens, played.drafted, played.accepted))
        whole = (drafted == length) & (tokens == accepted + 1)
        place = record.place[some, k]
        part = np.searchsorted(np.sort(place), place) * PARTS // max(1, place.size)
        chance = record.chance[some, k, :length]
        return cls(record.text[some, k], record.prompt[some, k], part, tokens, whole, chance)

    def estimates(self, keep: BoolArray) -> FloatArray:
        """Tokens a round by every estimate, of some of the drafts."""
        kept = keep & self.whole
        if not kept.any():
            return np.full(len(STEPS) + 1, np.nan)
        chance = self.chance[kept]
        by_position = chance.mean(axis=0)
        by_prompt = _expected_by(chance, self.prompt[kept])
        return np.array(
            [
                _expected(np.full(by_position.size, by_position.mean() if by_position.size else 0.0)),
                _expected(by_position),
                by_prompt,
                1.0 + np.cumprod(chance, axis=1).sum(axis=1).mean(),
                self.tokens[kept].mean(),
                self.tokens[keep].mean(),
            ]
        )

    def by_place(self, keep: BoolArray) -> float:
        """Tokens a round by acceptance in each part of a text, less those by one for all parts, of some drafts."""
        kept = keep & self.whole
        if not kept.any():
            return np.nan
        chance = self.chance[kept]
        return _expected_by(chance, self.part[kept]) - _expected(chance.mean(axis=0))


def _mean_of(values: IntArray | FloatArray) -> Callable[[BoolArray], object]:
    return lambda keep: values[keep].mean() if keep.any() else np.nan


def _expected(chance: FloatArray) -> float:
    """1 + c1 + c1 c2 + ..., were acceptances independent."""
    return 1.0 + float(np.cumprod(chance).sum())


def _expected_by(chance: FloatArray, group: IntArray) -> float:
    """The same with acceptances of each group of drafts of its own."""
    return float(sum(np.mean(group == one) * _expected(chance[group == one].mean(axis=0)) for one in np.unique(group)))


def _jackknifed(of: Callable[[BoolArray], object], text: IntArray) -> tuple[FloatArray, FloatArray]:
    """An estimate of all drafts, and without each text in turn; where there is but one, without each of its parts."""
    if np.unique(text).size < 2:
        text = np.arange(text.size) * PARTS_OF_ONE // max(1, text.size)
    whole = np.asarray(of(np.ones(text.size, dtype=bool)), dtype=float)
    without = [np.asarray(of(text != one), dtype=float) for one in np.unique(text)]
    return whole, np.reshape(without, (len(without), *whole.shape))


def _variance(without: FloatArray) -> tuple[FloatArray, int]:
    """The jackknife's variance of estimates, shape (n, m) of n texts left out; and n - 1."""
    held = without[np.isfinite(without).all(axis=1)]
    count = len(held)
    if count < 2:
        return np.zeros(without.shape[1]), 0
    return (count - 1) / count * np.sum((held - held.mean(axis=0)) ** 2, axis=0), count - 1


def _reach(variance: float, freedom: int, level: float) -> float:
    return float(stdtrit(freedom, 0.5 + level / 2.0) * np.sqrt(variance)) if freedom else float("inf")
