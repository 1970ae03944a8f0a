"""The papers' claims: each has a test, cases, and a verdict that follows from the cases by one rule.

A case is one pair, point or baseline at which the sentence can be true or not, and its degree says how far it is. Where
draws are compared: 1 if the whole 95 % interval of the mean of the quantity lies on the stated side, 0 if the mean does
not, and 0.5 if the mean does but not the whole interval: not settled by so few draws. Where a property is checked draw
by draw: the share of the draws in which it was found. *held*: every degree is 1. *did not appear here*: every degree is
0. *held in part*: otherwise; `where` names the cases.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reports.shared.estimators import Mean, mean_of
from reports.studies.points import attempt

if TYPE_CHECKING:
    import pandas as pd

    Draws = Mapping[str, pd.DataFrame]

Kind = Literal["sentence", "tacit assumption"]
CLOSE = 0.01
"""A loss up to here counts as none."""
SAME = 1e-9
"""A relative difference up to here is round-off."""
PAIRED = "the 95 % interval of the mean paired difference lies above 0"
"""How a claim words what `above` tests of two schemes."""
HELD, IN_PART, NOT_HERE = "held", "held in part", "did not appear here"
NOT_TESTED = "not tested"
"""The verdict where every draw failed that a test needs."""
_FEW = 4
_NAMED = 6


@dataclass(frozen=True, kw_only=True)
class Case:
    """One place where a claim is tested.

    Attributes
    ----------
    name, value, low, high, unit, draws
        What was found: the number, the interval of its mean where it is one, its unit ("1" is shown in per cent).
    degree : float
        1 where the claim holds, 0 where it does not; between them as the head of this module says.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = "1"
    draws: int
    degree: float

    def words(self) -> str:
        """The number as text."""
        if self.low is None or self.high is None or self.low == self.high:
            return _number(self.value, self.unit)
        return f"{_number(self.value, self.unit)} ({_bare(self.low, self.unit)} to {_bare(self.high, self.unit)})"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a paper, or what it takes for granted, and how it is tested.

    Attributes
    ----------
    id, paper, kind, sentence, test : str
        `sentence` in our words; `test` says which number is compared with what.
    cases : function
        From the draws to the cases.
    small_is_good : bool
        Whether the greatest value decides, not the least.
    """

    id: str
    paper: str
    kind: Kind = "sentence"
    sentence: str
    test: str
    cases: Callable[["Draws"], list[Case]]
    small_is_good: bool = False


def judge(claims: Sequence[Claim], draws: "Draws") -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """The tables `claims` and `claims_cases`."""
    import pandas as pd

    rows, details = [], []
    for claim in claims:
        tried = attempt(claim.cases, draws)
        cases = [case for case in tried if case.draws] if isinstance(tried, list) else []
        rows.append(_row(claim, cases) if cases else _untested(claim))
        details += [
            {
                "id": claim.id,
                "case": case.name,
                "value": case.value,
                "low": case.low,
                "high": case.high,
                "unit": case.unit,
                "draws": case.draws,
                "degree": case.degree,
                "holds": case.degree == 1.0,
            }
            for case in cases
        ]
    return pd.DataFrame(rows), pd.DataFrame(details)


def _row(claim: Claim, cases: Sequence[Case]) -> dict[str, Any]:
    decides = (max if claim.small_is_good else min)(cases, key=lambda case: case.value)
    return {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind,
        "sentence": claim.sentence,
        "test": claim.test,
        "found": found(cases),
        "value": decides.value,
        "low": decides.low,
        "high": decides.high,
        "unit": decides.unit,
        "holding": sum(case.degree == 1.0 for case in cases),
        "cases": len(cases),
        "verdict": verdict(cases),
        "where": where(cases),
    }


def _untested(claim: Claim) -> dict[str, Any]:
    """The row of a claim where the draws that its test needs are missing."""
    about = {name: getattr(claim, name) for name in ("id", "paper", "kind", "sentence", "test")}
    unknown: dict[str, Any] = dict.fromkeys(("value", "low", "high"))
    empty = {"unit": "", "holding": 0, "cases": 0, "verdict": NOT_TESTED, "where": ""}
    return about | {"found": "the draws that the test needs are missing"} | unknown | empty


def verdict(cases: Sequence[Case]) -> str:
    """Follow the rule at the head of this module."""
    degrees = [case.degree for case in cases]
    if min(degrees) == 1.0:
        return HELD
    return NOT_HERE if max(degrees) == 0.0 else IN_PART


def where(cases: Sequence[Case]) -> str:
    """Name the cases that hold, or that do not where they are fewer; empty for a verdict without exceptions."""
    if verdict(cases) != IN_PART:
        return ""
    good = [case.name for case in cases if case.degree == 1.0]
    between = [case for case in cases if 0.0 < case.degree < 1.0]
    some = [f"{case.name} ({100.0 * case.degree:.0f} % of the draws)" for case in between if case.low is None]
    open_ = [case.name for case in between if case.low is not None]
    bad = [case.name for case in cases if case.degree == 0.0]
    parts = []
    if good and len(good) <= len(bad):
        parts.append(f"in {len(good)} of {len(cases)} cases: {_list(good)}")
    elif bad:
        parts.append(f"not in {len(bad)} of {len(cases)} cases: {_list(bad)}")
    if some:
        parts.append(f"in some draws: {_list(some)}")
    if open_:
        parts.append(f"not settled by so few draws: {_list(open_)}")
    return "; ".join(parts)


def found(cases: Sequence[Case]) -> str:
    """The numbers in one line: all of few, the least and the greatest of many."""
    if len(cases) <= _FEW or len({case.unit for case in cases}) > 1:
        return "; ".join(f"{case.name}: {case.words()}" for case in cases)
    low, high = (pick(cases, key=lambda case: case.value) for pick in (min, max))
    return f"{len(cases)} cases, from {low.words()} at {low.name} to {high.words()} at {high.name}"


def _list(names: Sequence[str]) -> str:
    shown = "; ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown}; and {len(names) - _NAMED} more"


def _bare(value: float, unit: str) -> str:
    return f"{100.0 * value:.3g}" if unit == "1" else f"{value:.4g}"


def _number(value: float, unit: str) -> str:
    return f"{_bare(value, unit)} {'%' if unit == '1' else unit}".rstrip()


def above(name: str, values: Any, threshold: float = 0.0, unit: str = "1") -> Case:
    """A case that holds where the mean, with its whole interval, lies above a threshold."""
    mean = mean_of(values)
    return _case(name, mean, unit, _degree(mean.mean > threshold, mean.low > threshold))


def below(name: str, values: Any, threshold: float, unit: str = "1") -> Case:
    """A case that holds where the mean, with its whole interval, lies at or below a threshold."""
    mean = mean_of(values)
    return _case(name, mean, unit, _degree(mean.mean <= threshold, mean.high <= threshold))


def near(name: str, values: Any, paper: float, rtol: float, unit: str = "1") -> Case:
    """A case that holds where the mean is within a relative tolerance of the paper's number."""
    mean = mean_of(values)
    return _case(name, mean, unit, float(abs(mean.mean / paper - 1.0) <= rtol))


def _degree(mean_holds: bool, all_holds: bool) -> float:
    return 1.0 if all_holds else 0.5 if mean_holds else 0.0


def always(name: str, found_in: Any) -> Case:
    """A case whose degree is the mean of truths or of shares, one for each draw."""
    shares = np.asarray(found_in, dtype=float)
    share = float(np.mean(shares))
    return Case(name=name, value=share, draws=shares.size, degree=share)


def _case(name: str, mean: Mean, unit: str, degree: float) -> Case:
    return Case(name=name, value=mean.mean, low=mean.low, high=mean.high, unit=unit, draws=mean.draws, degree=degree)
