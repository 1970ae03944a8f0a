"""Texts that real models write in rounds: the source of tokens, bits and measured times for `msopt.emulation`.

Every device drafts with its own model for its own prompts, one text after the other; a text ends with the target's end
or after so many tokens. Reading a prompt is on no clock: the formula knows of no prompts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.assumptions import DraftRecord
from msopt.emulation.sources import OnUplink, PlayedTokens
from msopt.errors import ParameterError
from verification.exchange import Exchange, Place
from verification.messages import Payload
from verification.pairs import Pair
from verification.rounds import Drafted, Drafts, Session
from verification.sampling import SamplingRule, own_generator
from verification.timing import Stopwatch

LEVEL_BITS = 16
"""Of an entry's level."""


@dataclass(frozen=True)
class Drafter:
    """One device: its models, and what it is asked.

    Attributes
    ----------
    pair : Pair
        With the target of all devices.
    task : str
    prompts : tuple of str
        It takes them in turn.
    luck : int
        With which prompt it begins, and which chances it has: drafters of one luck that draft alike write the same.
    """

    pair: Pair
    task: str
    prompts: tuple[str, ...]
    luck: int


@dataclass
class Text:
    """One text of one device.

    Attributes
    ----------
    device, prompt : int
        The prompt by its place among the device's.
    tokens : list of int
    ended : bool
        False for those that the last round leaves unfinished.
    """

    device: int
    prompt: int
    tokens: list[int] = field(default_factory=list)
    ended: bool = False


def payload_of(distribution_bits: float, vocabulary: int) -> Payload:
    """How a distribution of so many bits is sent: as many entries as they hold.

    ParameterError where not one entry fits.
    """
    one = Payload(1, LEVEL_BITS, vocabulary)
    kept = min(int(distribution_bits // one.token_bits), vocabulary)
    if kept < 1:
        raise ParameterError(f"distribution_bits = {distribution_bits:g} hold no entry of {one.token_bits} bits")
    return Payload(kept, LEVEL_BITS, vocabulary)


class PlayedTexts:
    """A `TokenSource` with models; with a stopwatch its own `StepClock`, too.

    Parameters
    ----------
    drafters : sequence of Drafter
        One for each device.
    rule : SamplingRule
    payload : Payload
    every_token : bool
        Whether a distribution travels with every drafted token ([MS]), or one after a rejection ([UD]).
    text_tokens : int
        Of a text at most.
    seed : int
    stopwatch : Stopwatch or None
        With it every device drafts alone, and all steps are timed.

    Attributes
    ----------
    written : list of Text
        In the order in which they began.
    """

    def __init__(
        self,
        drafters: Sequence[Drafter],
        rule: SamplingRule,
        payload: Payload,
        *,
        every_token: bool,
        text_tokens: int,
        seed: int = 0,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        self.written: list[Text] = []
        self._drafters, self._seed, self._stopwatch = drafters, seed, stopwatch
        place: Place = "server" if every_token else "either"
        self._session = Session(
            [drafter.pair for drafter in drafters],
            [[0]] * len(drafters),
            rule,
            [own_generator(drafter.pair.target.device, seed) for drafter in drafters],
            exchange=Exchange(place, payload, every_token, None if every_token else self._decide),
            record=True,
            text_tokens=text_tokens,
        )
        self._current = [-1] * len(drafters)
        self._begun = [0] * len(drafters)
        self._verifying: list[int] = []
        self._on_uplink: Callable[[BoolArray], BoolArray] | None = None
        self._rows: list[_RoundRow] = []

    def play(self, draft_length: IntArray, drafts: BoolArray, arrives: BoolArray, on_uplink: OnUplink) -> PlayedTokens:
        """The next n rounds, one by one."""
        first = len(self._rows)
        for place, planned in enumerate(draft_length):
            self._on_uplink = lambda rejected, place=place: on_uplink(place, rejected)
            self._rows.append(self._round(planned, drafts[place], arrives[place]))
        rows = self._rows[first:]
        return PlayedTokens(*(np.stack([getattr(row, name) for row in rows]) for name in _COUNTS))

    @property
    def texts(self) -> list[str]:
        """Every device's text as it stands."""
        tokenizer = self._drafters[0].pair.target.tokenizer
        return [tokenizer.decode(tokens) for tokens in self._session.texts]

    @property
    def record(self) -> DraftRecord:
        """Of every round so far: which text, where in it, and how likely each drafted token was accepted."""
        longest = max((row.chance.shape[1] for row in self._rows), default=0)
        chance = [np.pad(row.chance, ((0, 0), (0, longest - row.chance.shape[1]))) for row in self._rows]
        prompts = [text.prompt for text in self.written]
        text = np.stack([row.text for row in self._rows])
        return DraftRecord(
            text, np.array([*prompts, -1])[text], np.stack([r.place for r in self._rows]), np.stack(chance)
        )

    @property
    def either_bits(self) -> IntArray:
        """Of every round so far: bits of a device's correction were it sent up, and down, shape (R, K, 2)."""
        return np.stack([row.either_bits for row in self._rows])

    def draft_s(self, drafted: IntArray) -> FloatArray:
        """Measured times of the last rounds [s]; one token's is that of one forward pass and draw."""
        return np.stack([row.draft_s for row in self._rows[-len(drafted) :]])

    def verify_s(self, drafted: IntArray, arrives: BoolArray) -> FloatArray:
        """Measured times of the last verifications [s]."""
        del arrives
        return np.array([row.verify_s for row in self._rows[-len(drafted) :]])

    def _round(self, planned: IntArray, drafts: BoolArray, arrives: BoolArray) -> "_RoundRow":
        session, devices = self._session, np.flatnonzero(drafts).tolist()
        for device in devices:
            if self._current[device] < 0 or self.written[self._current[device]].ended:
                self._begin(device)
        row = _RoundRow.of(self._current, [len(text) for text in session.texts])
        made = self._draft(devices, planned.tolist(), row)
        self._verifying = [device for device in devices if arrives[device]]
        row.drafted[made.devices] = [len(tokens) for tokens in made.tokens]
        lost = made.of([device for device in devices if not arrives[device]])
        row.draft_bits[lost.devices] = session.forget(lost)
        before = [len(text) for text in session.texts]
        arrived = made.of(self._verifying)
        if self._stopwatch is None:
            row.done = session.verify(arrived)
        elif arrived.devices:
            row.verify_s = self._stopwatch.seconds(lambda: row.done.extend(session.verify(arrived)))
        row.keep(before, session)
        for one in row.done:
            text = self.written[self._current[one.device]]
            text.tokens, text.ended = session.texts[one.device], session.ended[one.device]
        return row

    def _draft(self, devices: list[int], lengths: list[int], row: "_RoundRow") -> Drafts:
        if self._stopwatch is None:
            return self._session.draft(devices, lengths)
        made: list[Drafts] = []
        for device in devices:
            work = lambda device=device: made.append(self._session.draft([device], lengths))  # noqa: E731
            row.draft_s[device] = self._stopwatch.seconds(work)
        return Drafts(
            [device for each in made for device in each.devices],
            [tokens for each in made for tokens in each.tokens],
            [laws for each in made for laws in each.laws],
        )

    def _begin(self, device: int) -> None:
        drafter, number = self._drafters[device], self._begun[device]
        prompt = (drafter.luck + number) % len(drafter.prompts)
        self._begun[device], self._current[device] = number + 1, len(self.written)
        self.written.append(Text(device, prompt))
        own = own_generator(drafter.pair.target.device, self._seed, drafter.luck, number)
        self._session.begin(device, drafter.pair.target.chat(drafter.prompts[prompt]), own)

    def _decide(self, rows: Sequence[int]) -> list[bool]:
        """Modes of the rejected rows of the batch that is verified."""
        rejected = np.zeros(len(self._drafters), dtype=bool)
        rejected[[self._verifying[row] for row in rows]] = True
        if self._on_uplink is None or not rejected.any():
            return [False] * len(rows)
        up = self._on_uplink(rejected)
        return [bool(up[self._verifying[row]]) for row in rows]


_COUNTS = ("drafted", "accepted", "tokens", "draft_bits", "distribution_bits")


@dataclass(eq=False)
class _RoundRow:
    """One round: an entry for each device."""

    text: IntArray
    place: IntArray
    drafted: IntArray
    accepted: IntArray
    tokens: IntArray
    draft_bits: IntArray
    distribution_bits: IntArray
    draft_s: FloatArray
    either_bits: IntArray
    verify_s: float = 0.0
    chance: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    done: list[Drafted] = field(default_factory=list)

    @classmethod
    def of(cls, text: Sequence[int], place: Sequence[int]) -> "_RoundRow":
        drafted, accepted, tokens, before, after = np.zeros((len(_COUNTS), len(text)), dtype=np.int64)
        none_s = np.zeros(len(text))
        either = np.zeros((len(text), 2), dtype=np.int64)
        return cls(np.array(text), np.array(place), drafted, accepted, tokens, before, after, none_s, either)

    def keep(self, before: Sequence[int], session: Session) -> None:
        """What became of the drafts."""
        self.chance = np.zeros((len(before), max((one.length for one in self.done), default=0)))
        for one in self.done:
            k = one.device
            self.accepted[k], self.tokens[k] = one.accepted, len(session.texts[k]) - before[k]
            self.draft_bits[k], self.distribution_bits[k] = one.draft_bits, one.distribution_bits
            self.either_bits[k] = one.either_bits
            self.chance[k, : one.length] = one.ratio
