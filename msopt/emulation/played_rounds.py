"""What a play leaves: when every device did what in every round, what came of it, and the goodput with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray, frozen
from msopt.errors import ParameterError
from msopt.numerics.intervals import LEVEL, ratio_residuals, residual_reach
from msopt.shown.object_summary import Shown, Summary, counted, figures
from msopt.shown.pictures import running_value

if TYPE_CHECKING:
    import pandas as pd

    from msopt.shown.pictures import Axes

MOST_BATCHES = 32
MODE_NAMES = ("none", "uplink", "downlink")
_TIMES_OF_DEVICES = ("draft_end_s", "upload_end_s", "corrected_s")
_COUNTS = ("drafts", "arrives", "drafted", "accepted", "tokens")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PlayedRounds(Shown):
    """R rounds of K devices on a virtual clock: a whole play, from 0 on, or a piece of one.

    Attributes
    ----------
    device_names : tuple of K str
    predicted : float
        Goodput by the formula [token/s].
    predicted_error : float
        Its standard error where the formula itself is a mean over draws, else 0 [token/s].
    start_s : array, shape (R + 1,)
        When each round begins; the last is the end of the play [s].
    draft_end_s, upload_end_s : arrays, shape (R, K)
        When each device has drafted, and when its draft is at the server (or would be, were it not lost) [s]; for a
        device that does not take part the start of the round.
    verify_start_s, verified_s : arrays, shape (R,)
        When the server begins and ends [s].
    corrected_s : array, shape (R, K)
        When each device has its correction: when verification ends where none is exchanged [s].
    drafts, arrives : arrays of bool, shape (R, K)
        Who takes part, and whose draft arrives.
    drafted, accepted, tokens : arrays of int, shape (R, K)
        Tokens drafted, the accepted prefix, and what was added to the text.
    mode : array of int, shape (R, K)
        How a rejection was corrected, by its place in `MODE_NAMES`.
    correlated_rounds : int
        Rounds that share luck: intervals are over whole multiples of them.
    """

    device_names: tuple[str, ...]
    predicted: float
    predicted_error: float
    start_s: FloatArray
    draft_end_s: FloatArray
    upload_end_s: FloatArray
    verify_start_s: FloatArray
    verified_s: FloatArray
    corrected_s: FloatArray
    drafts: BoolArray
    arrives: BoolArray
    drafted: IntArray
    accepted: IntArray
    tokens: IntArray
    mode: IntArray
    correlated_rounds: int = 1

    def __post_init__(self) -> None:
        for value in vars(self).values():
            frozen(value)

    @property
    def rounds(self) -> int:
        """R."""
        return len(self.tokens)

    @property
    def round_s(self) -> FloatArray:
        """Duration of each round [s], shape (R,)."""
        return np.diff(self.start_s)

    @property
    def round_tokens(self) -> IntArray:
        """Tokens of all devices in each round, shape (R,)."""
        return np.asarray(np.sum(self.tokens, axis=-1))

    @property
    def goodput(self) -> float:
        """Tokens of all rounds over their time [token/s]."""
        return float(np.sum(self.round_tokens) / (self.start_s[-1] - self.start_s[0]))

    @property
    def device_goodput(self) -> FloatArray:
        """The same of each device, shape (K,) [token/s]."""
        return np.asarray(np.sum(self.tokens, axis=0) / (self.start_s[-1] - self.start_s[0]))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Student's interval of the goodput of a play without end, a ratio of sums over batches of rounds [token/s].

        Raises
        ------
        ParameterError
            Where there are no two batches.
        """
        reach = residual_reach(self.residuals(batch_starts(self.rounds, self.correlated_rounds)), level)
        return self.goodput - reach, self.goodput + reach

    def residuals(self, starts: IntArray) -> FloatArray:
        """What each batch of rounds, which begin at some rounds, adds to the error of the goodput [token/s]."""
        tokens = np.add.reduceat(self.round_tokens, starts).astype(float)
        return ratio_residuals(tokens, np.add.reduceat(self.round_s, starts))

    @classmethod
    def from_frame(cls, table: "pd.DataFrame", predicted: float = float("nan")) -> "PlayedRounds":
        """The play that `to_frame` made a table of; what the table does not say is told or left at its default."""
        names = tuple(dict.fromkeys(table["device"]))
        shape = (len(table) // len(names), len(names))
        each: dict[str, Any] = {name: table[name].to_numpy().reshape(shape) for name in (*_TIMES_OF_DEVICES, *_COUNTS)}
        start_s = table["start_s"].to_numpy().reshape(shape)[:, 0]
        return cls(
            device_names=names,
            predicted=predicted,
            predicted_error=0.0,
            start_s=np.append(start_s, table["end_s"].to_numpy()[-1]),
            verify_start_s=table["verify_start_s"].to_numpy().reshape(shape)[:, 0],
            verified_s=table["verified_s"].to_numpy().reshape(shape)[:, 0],
            mode=np.array([MODE_NAMES.index(name) for name in table["mode"]]).reshape(shape),
            **each,
        )

    def summary(self) -> Summary:
        """What `repr`, `print` and a notebook show of it."""
        facts = {
            "realised": figures(self.goodput, "token/s"),
            "predicted": figures(self.predicted, "token/s"),
            "tokens": str(int(np.sum(self.tokens))),
            "time": figures(float(self.start_s[-1] - self.start_s[0]), "s"),
        }
        return Summary(f"{counted(self.rounds, 'round')} of {counted(len(self.device_names), 'device')}", facts)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The goodput realised so far, round by round, and the predicted, on `ax` or a new figure; loads matplotlib."""
        so_far = np.cumsum(self.round_tokens) / (self.start_s[1:] - self.start_s[0])
        return running_value(ax, so_far, self.predicted, "rounds", "goodput [token/s]")

    def to_frame(self) -> "pd.DataFrame":
        """A row for each round and device, in that order; loads pandas."""
        import pandas as pd  # noqa: PLC0415  (a heavy library, loaded only here)

        shape = self.tokens.shape
        by_round = {
            "start_s": self.start_s[:-1],
            "verify_start_s": self.verify_start_s,
            "verified_s": self.verified_s,
            "end_s": self.start_s[1:],
        }
        columns: dict[str, object] = {
            "round": np.repeat(np.arange(shape[0]), shape[1]),
            "device": np.tile(np.array(self.device_names, dtype=object), shape[0]),
        }
        columns |= {name: np.repeat(values, shape[1]) for name, values in by_round.items()}
        for name in (*_TIMES_OF_DEVICES, *_COUNTS):
            columns[name] = getattr(self, name).ravel()
        columns["mode"] = np.array(MODE_NAMES, dtype=object)[self.mode].ravel()
        return pd.DataFrame(columns)


def gain_over(ours: PlayedRounds, theirs: PlayedRounds, level: float = LEVEL) -> tuple[float, float]:
    """By how much one goodput is above another of as many rounds [1], and how far the interval reaches.

    Batches of the same rounds are set beside each other: plays may share their luck.
    """
    starts = batch_starts(ours.rounds, ours.correlated_rounds, theirs.correlated_rounds)
    ratio = ours.goodput / theirs.goodput
    residuals = ours.residuals(starts) - ratio * theirs.residuals(starts)
    return ratio - 1.0, residual_reach(residuals, level) / theirs.goodput


def joined(pieces: Sequence[PlayedRounds]) -> PlayedRounds:
    """Pieces that follow each other as one play."""
    if len(pieces) == 1:
        return pieces[0]
    each: dict[str, Any] = {
        field.name: np.concatenate([getattr(piece, field.name) for piece in pieces])
        for field in fields(PlayedRounds)
        if isinstance(getattr(pieces[0], field.name), np.ndarray)
    }
    each["start_s"] = np.concatenate([pieces[0].start_s, *(piece.start_s[1:] for piece in pieces[1:])])
    return replace(pieces[0], **each)


def batch_starts(rounds: int, *correlated: int) -> IntArray:
    """Where batches of rounds begin, at most `MOST_BATCHES`, each whole multiples of the rounds that share luck.

    Raises
    ------
    ParameterError
        Where there are no two batches.

    Examples
    --------
    >>> batch_starts(100, 20).tolist(), batch_starts(7, 1, 3).tolist()
    ([0, 20, 40, 60, 80], [0, 3])
    """
    unit = lcm(*correlated)
    count = min(MOST_BATCHES, rounds // unit)
    if count < 2:
        raise ParameterError(f"rounds = {rounds} are too few for an interval; at least {2 * unit} are needed")
    step = rounds // unit // count * unit
    return np.arange(count, dtype=np.int64) * step
