"""The papers' claims: each asks one question of one method, has cases, and a verdict that follows by one rule.

A case is one pair, point or baseline at which the sentence can be true or not. Where draws are averaged it *holds* if
the whole 95 % interval of the number lies where the sentence says, *fails* if the whole interval lies elsewhere, and is
*not settled* if the interval reaches both, or there is one draw: what more noise makes wider can pass no test. Where a
property is looked for in each draw or step these are counted in place of the case: some may have it and others not.
`VERDICTS` says how the verdict follows from what was counted.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from msopt.errors import MsoptError
from reports.shared.estimators import Mean, differing, gain_of_means, lies, mean_of, share_of
from reports.shared.rows import finite_or_none
from reports.studies.points import attempt

if TYPE_CHECKING:
    import pandas as pd

    Draws = Mapping[str, pd.DataFrame]

Kind = Literal["sentence", "tacit assumption"]
Outcome = Literal["holds", "fails", "holds in part", "not settled"]
Of = Literal["", "draws", "steps"]
Counted = Literal["cases", "draws", "steps"]
CLOSE = 0.01
"""A loss up to here counts as none."""
SAME = 1e-9
"""A relative difference up to here is round-off."""
LEAST_DIFFERING = 20
"""So many draws have to differ from the commonest value for an interval of a mean of which most may be ties: below, the
rare ones that were not met can be all that the mean is made of (DESIGN.md, section 10, has the coverage)."""
ABOVE_0 = (float(np.nextafter(0.0, 1.0)), math.inf)
"""Where a number lies that is above 0."""
HELD, IN_PART, NOT_HERE, NOT_SETTLED = "held", "held in part", "did not appear here", "not settled"
NOT_TESTED = "not tested"
"""The verdict where every draw failed that a test needs."""
VERDICTS = {
    HELD: "all that was counted (cases; draws or steps where the sentence is about each of them) holds",
    NOT_HERE: "all of it fails",
    IN_PART: "at least one holds and at least one fails",
    NOT_SETTLED: "otherwise: the interval of a case reaches both sides, and those of the others lie on one",
}
"""What each verdict means; the page prints it, and the manifest beside the table."""
OUTCOMES: dict[Outcome, str] = {
    "holds": "the whole 95 % interval lies where the sentence says; or every draw or step has the property",
    "fails": "the whole interval lies elsewhere; or none has it",
    "holds in part": "some draws or steps have the property and some have not",
    "not settled": "the interval reaches both, or so few draws have none: one, or too few that differ from the others",
}
"""What each outcome of a case means."""
_FEW = 4
_NAMED = 6


@dataclass(frozen=True, kw_only=True)
class Case:
    """One place where a claim is tested.

    Attributes
    ----------
    name, value, low, high, unit, draws
        What was found: the number, its interval where it has one, its unit ("1" is shown in per cent).
    of : "draws", "steps" or ""
        What a share is a share of; "" for no share.
    counted_in : "cases", "draws" or "steps"
        What a verdict counts: the case, or each of what the share is of.
    outcome : str
        As the head of this module says.
    wanted_low, wanted_high : float or None
        Where the number has to lie; None for a share and for no limit.
    beside : str
        Another number about the same, which decides nothing.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = "1"
    draws: int
    of: Of = ""
    counted_in: Counted = "cases"
    outcome: Outcome
    wanted_low: float | None = None
    wanted_high: float | None = None
    beside: str = ""

    def words(self) -> str:
        """The number as text."""
        share = f" of {self.draws} {self.of}" if self.of else ""
        beside = f"; {self.beside}" if self.beside else ""
        if self.low is None or self.high is None or self.low == self.high:
            return f"{number_words(self.value, self.unit)}{share}{beside}"
        ends = f"{_bare(self.low, self.unit)} to {_bare(self.high, self.unit)}"
        return f"{number_words(self.value, self.unit)}{share} ({ends}{beside})"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a paper, or what it takes for granted, narrowed to one question, and how it is tested.

    Attributes
    ----------
    id, paper, kind, sentence, test : str
        `sentence` in our words; `test` says which number is compared with what.
    cases : function
        From the draws to the cases.
    """

    id: str
    paper: str
    kind: Kind = "sentence"
    sentence: str
    test: str
    cases: Callable[["Draws"], list[Case]]


def judge(claims: Sequence[Claim], draws: "Draws") -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """The tables `claims` and `claims_cases`."""
    import pandas as pd

    rows, details = [], []
    for claim in claims:
        tried = attempt(claim.cases, draws)
        cases = [case for case in tried if case.draws] if isinstance(tried, list) else []
        rows.append(_row(claim, cases))
        details += [{"id": claim.id, **_case_row(case)} for case in cases]
    return pd.DataFrame(rows), pd.DataFrame(details)


def _case_row(case: Case) -> dict[str, Any]:
    return {("case" if name == "name" else name): value for name, value in vars(case).items()}


def _row(claim: Claim, cases: Sequence[Case]) -> dict[str, Any]:
    about = {name: getattr(claim, name) for name in ("id", "paper", "kind", "sentence", "test")}
    missing = "the draws that the test needs are missing"
    return about | {
        "found": found(cases) if cases else missing,
        **dict(zip(("holding", "failing", "unsettled"), counted(cases), strict=True)),
        "counted_in": cases[0].counted_in if cases else "cases",
        "cases": len(cases),
        "verdict": verdict(cases) if cases else NOT_TESTED,
        "where": where(cases) if cases else "",
    }


def counted(cases: Iterable[Any]) -> tuple[int, int, int]:
    """How many hold, fail and are not settled in all of a claim's cases (or rows of `claims_cases`)."""
    holding = failing = unsettled = 0
    for case in cases:
        each_of = case.draws if case.counted_in != "cases" else 1
        share = case.value if case.counted_in != "cases" else float(case.outcome == "holds")
        open_ = int(case.outcome == "not settled")
        holding += round(share * each_of)
        failing += each_of - round(share * each_of) - open_
        unsettled += open_
    return holding, failing, unsettled


def verdict(cases: Sequence[Case]) -> str:
    """Follow `VERDICTS`."""
    return verdict_of(*counted(cases))


def verdict_of(holding: int, failing: int, unsettled: int) -> str:
    """Follow `VERDICTS` from the numbers alone."""
    if holding and failing:
        return IN_PART
    if unsettled or not holding + failing:
        return NOT_SETTLED
    return HELD if holding else NOT_HERE


def tally(verdicts: Iterable[str]) -> str:
    """How many of each verdict, as text."""
    every = list(verdicts)
    counts = {word: every.count(word) for word in (*VERDICTS, NOT_TESTED)}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count or word != NOT_TESTED)


def where(cases: Sequence[Case]) -> str:
    """Name the cases that hold, or that do not where they are fewer; empty where one word says it of all."""
    if verdict(cases) in (HELD, NOT_HERE) or len(cases) == 1:
        return ""
    named = {outcome: [case.name for case in cases if case.outcome == outcome] for outcome in ("holds", "fails")}
    good, bad = named["holds"], named["fails"]
    some = [f"{case.name} ({case.words()})" for case in cases if case.outcome == "holds in part"]
    open_ = [case.name for case in cases if case.outcome == "not settled"]
    parts = []
    if good and len(good) <= len(bad):
        parts.append(f"holds in {len(good)} of {len(cases)} cases: {_list(good)}")
    elif bad:
        parts.append(f"fails in {len(bad)} of {len(cases)} cases: {_list(bad)}")
    if some:
        parts.append(f"in part: {_list(some)}")
    if open_:
        parts.append(f"not settled by so few draws: {_list(open_)}")
    return "; ".join(parts)


def found(cases: Sequence[Case]) -> str:
    """The numbers in one line: all of few, the least and the greatest of many."""
    if len(cases) <= _FEW or len({case.unit for case in cases}) > 1:
        return "; ".join(f"{case.name}: {case.words()}" for case in cases)
    alike = {replace(case, beside="").words() for case in cases}
    if len(alike) == 1:
        return f"{len(cases)} cases, each {alike.pop()}"
    low, high = (pick(cases, key=lambda case: case.value) for pick in (min, max))
    return f"{len(cases)} cases, from {low.words()} at {low.name} to {high.words()} at {high.name}"


def _list(names: Sequence[str]) -> str:
    shown = "; ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown}; and {len(names) - _NAMED} more"


def _bare(value: float, unit: str) -> str:
    return f"{100.0 * value:.3g}" if unit == "1" else f"{value:.4g}"


def number_words(value: float, unit: str) -> str:
    """A number with its unit, "1" in per cent."""
    return f"{_bare(value, unit)} {'%' if unit == '1' else unit}".rstrip()


def range_words(low: float, high: float, unit: str) -> str:
    """Two numbers with one unit."""
    return f"{_bare(low, unit)} to {number_words(high, unit)}"


def within(name: str, estimate: Mean, low: float, high: float, *, unit: str = "1", beside: str = "") -> Case:
    """A case about a number over draws, whose whole interval has to lie from `low` to `high`."""
    there = None if estimate.draws < 2 else lies(estimate, low, high)
    return Case(
        name=name,
        value=estimate.mean,
        low=estimate.low,
        high=estimate.high,
        unit=unit,
        draws=estimate.draws,
        outcome="not settled" if there is None else "holds" if there else "fails",
        wanted_low=finite_or_none(low),
        wanted_high=finite_or_none(high),
        beside=beside,
    )


def within_if_differing(name: str, values: Any, low: float, high: float, *, unit: str = "1") -> Case:
    """The same of a mean of which most draws may be ties: not settled, and without an interval, where few differ."""
    case, differ = within(name, mean_of(values), low, high, unit=unit), differing(values)
    if differ >= LEAST_DIFFERING:
        return case
    few = f"{differ} of {case.draws} draws differ from the others, {LEAST_DIFFERING} are needed"
    return replace(case, low=None, high=None, outcome="not settled", beside=few)


def above_0(name: str, estimate: Mean, *, unit: str = "1", beside: str = "") -> Case:
    """A case about a number that has to lie above 0."""
    return within(name, estimate, *ABOVE_0, unit=unit, beside=beside)


def gains(name: str, above: Any, below: Any) -> Case:
    """A case that the mean of one scheme lies above that of another; the mean of the ratios stands beside."""
    ratios = mean_of(np.asarray(above, dtype=float) / np.asarray(below, dtype=float) - 1.0)
    return above_0(name, gain_of_means(above, below), beside=mean_of_ratios_words(ratios, "1"))


def mean_of_ratios_words(ratios: Mean, unit: str) -> str:
    """What averaging the draws' own ratios would have given."""
    return f"mean of ratios {number_words(ratios.mean, unit)}"


def exactly(name: str, value: float, low: float, high: float, *, unit: str = "1") -> Case:
    """A case about a number that nothing is drawn for."""
    outcome: Outcome = "holds" if low <= value <= high else "fails"
    limits = finite_or_none(low), finite_or_none(high)
    return Case(
        name=name, value=value, unit=unit, draws=1, outcome=outcome, wanted_low=limits[0], wanted_high=limits[1]
    )


def each(name: str, truths: Any, of: Literal["draws", "steps"] = "draws", beside: str = "") -> Case:
    """A case about a property of every draw (or step): the share that has it, and for draws its interval."""
    found_in = np.asarray(truths, dtype=bool)
    if not found_in.size:
        raise MsoptError(f"{name}: nothing to look at")
    share = share_of(found_in)
    low, high = (share.low, share.high) if of == "draws" else (None, None)
    return Case(
        name=name,
        value=share.mean,
        low=low,
        high=high,
        draws=share.draws,
        of=of,
        counted_in=of,
        outcome="holds" if found_in.all() else "holds in part" if found_in.any() else "fails",
        beside=beside,
    )


def some(name: str, truths: Any) -> Case:
    """A case that a property is found in a draw; the share that has it stands beside."""
    share = share_of(truths)
    outcome: Outcome = "holds" if share.mean > 0.0 else "fails"
    return Case(
        name=name, value=share.mean, low=share.low, high=share.high, draws=share.draws, of="draws", outcome=outcome
    )
