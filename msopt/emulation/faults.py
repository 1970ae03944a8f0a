"""What goes wrong in a play, by a plan: devices that drop out, drafts lost or late, stragglers, acceptance that drifts.

Whatever strikes, the round goes on, and no text is touched: a draft that is not verified is as if it had never been
drafted, and its device drafts anew from the same place of its text.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.validation import MOST_TOKENS, Choice, Number, check_whole

FaultKind = Literal["dropout", "lost", "late", "late-result", "straggler", "drift"]
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
_NAMES: dict[FaultKind, str] = {
    "dropout": "a device drops out",
    "lost": "lost drafts",
    "late": "late drafts",
    "late-result": "late results",
    "straggler": "stragglers",
    "drift": "acceptance drifts",
}
_OWN: dict[str, tuple[FaultKind, ...]] = {
    "absent_rounds": ("dropout",),
    "delay_s": ("late", "late-result"),
    "factor": ("straggler", "drift"),
}
"""What only some kinds have."""
_NEEDED = ("delay_s", "factor")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that goes wrong, for some devices in some rounds.

    Attributes
    ----------
    kind : str
        "dropout": takes no part, which the server knows from the beginning of the round; its text stays as it is.
        "lost": a draft does not come through, which the server notices when it was due. "late": a draft comes
        later; "late-result": what the server answers (the verdict and the correction) does, and the round waits.
        "straggler": drafts slower. "drift": acceptance goes down.
    devices : tuple of str, optional
        Names; all devices where it is left out.
    first_round, end_round : int
        From the first up to the end, not included; to the end of the play where that is left out.
    probability : float
        With which it strikes a device in a round, independently [1]; not of "drift".
    absent_rounds : int, optional
        Of "dropout": how long each absence lasts; 1 where it is left out.
    delay_s : float, optional
        Of what is late [s].
    factor : float, optional
        Of "straggler": how many times slower, at least 1. Of "drift": what is left of every acceptance in the last
        of the rounds and after them, from 0 to 1; in between the part falls in a straight line [1].

    Raises
    ------
    ParameterError
        For a number out of range, or one that the kind does not have.
    """

    kind: FaultKind
    devices: tuple[str, ...] | None = None
    first_round: int = 0
    end_round: int | None = None
    probability: float = 1.0
    absent_rounds: int | None = None
    delay_s: float | None = None
    factor: float | None = None

    def __post_init__(self) -> None:
        Choice(FAULT_KINDS).check("kind", self.kind)
        check_whole("first_round", self.first_round, 0, MOST_TOKENS)
        if self.end_round is not None:
            check_whole("end_round", self.end_round, self.first_round + 1, MOST_TOKENS)
        if self.devices is not None and not self.devices:
            raise ParameterError("devices is empty; leave it out for all devices")
        _check_part("probability", self.probability)
        for name, kinds in _OWN.items():
            self._check_own(name, kinds)
        if self.absent_rounds is not None:
            check_whole("absent_rounds", self.absent_rounds, 1, MOST_TOKENS)
        if self.delay_s is not None:
            Number().check("delay_s", self.delay_s)
        if self.kind == "drift":
            _check_part("factor", self.factor)
            if self.probability != 1.0:
                raise ParameterError(f'probability = {self.probability:g} does not go with kind = "drift"')
        elif self.factor is not None:
            Number().check("factor", self.factor)
            if self.factor < 1.0:
                raise ParameterError(f"factor = {self.factor:g} of a straggler is not a number of at least 1")

    def _check_own(self, name: str, kinds: tuple[FaultKind, ...]) -> None:
        given = getattr(self, name) is not None
        if given and self.kind not in kinds:
            raise ParameterError(f'{name} does not go with kind = "{self.kind}"')
        if not given and self.kind in kinds and name in _NEEDED:
            raise ParameterError(f'kind = "{self.kind}" needs {name}')

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return _NAMES[self.kind]

    def columns(self, device_names: Sequence[str]) -> BoolArray:
        """Which devices it may strike, shape (K,); ParameterError for a name that no device has."""
        if self.devices is None:
            return np.ones(len(device_names), dtype=bool)
        for name in self.devices:
            if name not in device_names:
                raise ParameterError(f"devices: {describe(name)} is not a device of the scenario")
        return np.array([name in self.devices for name in device_names])


def _check_part(name: str, value: object) -> None:
    Number().check(name, value)
    if value > 1.0:  # type: ignore[operator]
        raise ParameterError(f"{name} = {describe(value)} is not between 0 and 1")


@dataclass(frozen=True, eq=False)
class Strikes:
    """What strikes whom in which round; each array has shape (R, K), or (1, 1) where nothing strikes.

    Attributes
    ----------
    away, lost : arrays of bool
    late_s, late_result_s : arrays
        Delays of the draft, and of what the server answers [s].
    slower : array
        Times the draft takes longer [1].
    kept : array
        What is left of every token's acceptance [1].
    """

    away: BoolArray
    lost: BoolArray
    late_s: FloatArray
    late_result_s: FloatArray
    slower: FloatArray
    kept: FloatArray

    @property
    def drifts(self) -> bool:
        """Whether acceptance changes."""
        return bool(self.kept.size > 1 or self.kept[0, 0] != 1.0)


@dataclass(frozen=True, kw_only=True)
class FaultPlan:
    """Faults, what the server does about drafts that do not come in time, and the seed of the draws.

    Attributes
    ----------
    faults : tuple of Fault
    deadline_factor : float, optional
        The server awaits drafts for no longer than this many times what the slowest draft of the round takes as
        planned, at least 1; a draft that its fault makes later is left out of the batch. Where it is left out the
        server awaits every draft that still comes.
    seed : int, optional
        Of the draws; that of the play where it is left out.

    Raises
    ------
    ParameterError
        For a number out of range.
    """

    faults: tuple[Fault, ...] = ()
    deadline_factor: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None:
            check_whole("seed", self.seed, 0)
        if self.deadline_factor is not None:
            Number().check("deadline_factor", self.deadline_factor)
            if self.deadline_factor < 1.0:
                raise ParameterError(f"deadline_factor = {self.deadline_factor:g} is not a number of at least 1")

    def each(self) -> Iterator[tuple[str, Self]]:
        """Every fault alone, by a name that no other has."""
        kinds = Counter(fault.kind for fault in self.faults)
        seen: Counter[FaultKind] = Counter()
        for fault in self.faults:
            seen[fault.kind] += 1
            number = f" ({seen[fault.kind]})" if kinds[fault.kind] > 1 else ""
            yield fault.name + number, replace(self, faults=(fault,))

    def strikes(self, device_names: Sequence[str], rounds: int, play_seed: int) -> Strikes:
        """The draws of a play; those of a kind do not change with the faults of other kinds."""
        shape = (rounds, len(device_names))
        found = {name: np.full((1, 1), value) for name, value in _NOTHING.items()}
        number: Counter[FaultKind] = Counter()
        for fault in self.faults:
            key = (FAULT_KINDS.index(fault.kind), number[fault.kind])
            number[fault.kind] += 1
            generator = np.random.default_rng(
                np.random.SeedSequence(play_seed if self.seed is None else self.seed, spawn_key=(_STREAM, *key))
            )
            name, struck = _struck(fault, fault.columns(device_names), shape, generator)
            found[name] = _JOINED[name](found[name], struck)
        return Strikes(**found)


NO_FAULTS = FaultPlan()
_STREAM = 0x6661756C
"""Keeps the draws apart from all others of a play with the same seed."""
_NOTHING: dict[str, float | bool] = {
    "away": False,
    "lost": False,
    "late_s": 0.0,
    "late_result_s": 0.0,
    "slower": 1.0,
    "kept": 1.0,
}
_JOINED = {
    "away": np.logical_or,
    "lost": np.logical_or,
    "late_s": np.add,
    "late_result_s": np.add,
    "slower": np.multiply,
    "kept": np.multiply,
}


def _struck(
    fault: Fault, columns: BoolArray, shape: tuple[int, int], generator: np.random.Generator
) -> tuple[str, FloatArray | BoolArray]:
    """Which part of `Strikes` a fault changes, and its own share of it."""
    first = min(fault.first_round, shape[0])
    end = shape[0] if fault.end_round is None else min(fault.end_round, shape[0])
    if fault.kind == "drift":
        assert fault.factor is not None
        last = shape[0] if fault.end_round is None else fault.end_round
        part = np.clip((np.arange(shape[0]) - first + 1.0) / max(last - first, 1), 0.0, 1.0)
        return "kept", np.where(columns, 1.0 + (fault.factor - 1.0) * part[:, None], 1.0)
    hits = np.zeros(shape, dtype=bool)
    hits[first:end] = columns & (generator.random((end - first, shape[1])) < fault.probability)
    match fault.kind:
        case "dropout":
            return "away", _lasting(hits, fault.absent_rounds or 1, end)
        case "lost":
            return "lost", hits
        case "straggler":
            return "slower", np.where(hits, float(fault.factor or 1.0), 1.0)
        case _:
            name = "late_s" if fault.kind == "late" else "late_result_s"
            return name, hits * float(fault.delay_s or 0.0)


def _lasting(begins: BoolArray, rounds: int, end: int) -> BoolArray:
    """Every absence for some rounds from where it begins, none beyond the end."""
    count = np.cumsum(begins, axis=0)
    before = np.zeros_like(count)
    before[rounds:] = count[: len(count) - rounds] if rounds < len(count) else 0
    away = count > before
    away[end:] = False
    return np.asarray(away)
