"""What an inverse study found, as tables: numbers at the best fit, unknowns, every setting, what is excluded."""

from typing import TYPE_CHECKING, Any

import numpy as np

import msopt
from reports.calibration.fit import Candidate, Fit
from reports.calibration.unknowns import Dimension
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row, finite_or_none

if TYPE_CHECKING:
    import pandas as pd


def fit_record(found: Fit) -> Record:
    """The tables `calibration_numbers`, `_unknowns`, `_settings` and `_excluding`."""
    import pandas as pd

    tables = {
        "calibration_numbers": pd.DataFrame(number_rows(found)),
        "calibration_unknowns": pd.DataFrame(unknown_rows(found)),
        "calibration_settings": pd.DataFrame([_setting(one) for one in found.candidates]),
        "calibration_excluding": excluding_table(found),
    }
    source = f"the inverse study of {found.calibration.name}; ranges and measure are ours"
    titles = {
        "calibration_numbers": "Every quoted number beside what it comes to at the best fit",
        "calibration_unknowns": "What was not stated: its range, the best fit, the settings that are left",
        "calibration_settings": "Every setting tried, read in every way, best first",
        "calibration_excluding": "Quoted numbers that no setting meets together",
    }
    manifest = {
        "versions": {"msopt": msopt.__version__},
        "seed": found.calibration.base.seed,
        "summary": summary(found),
        "tables": {name: undrawn(title, source) for name, title in titles.items()},
    }
    return Record(manifest, tables, {})


def summary(found: Fit) -> Row:
    """The study in a few numbers."""
    asked = found.calibration.asked()
    return {
        "name": found.calibration.name,
        "settings": len({one.number for one in found.candidates}),
        "readings": len(found.calibration.readings()),
        "plausible": len(found.plausible),
        "numbers": len(asked),
        "within_at_best": int(np.sum(found.best.misfits <= 1.0)),
        "misfit": found.best.misfit,
        "wider": min(float(np.max(one.misfits)) for one in found.candidates),
        "given_misfit": float(np.sqrt(np.mean([one.misfit**2 for one in found.given]))),
        "left": len({one.number for one in found.left}),
        "reading": ", ".join(f"{name}: {value}" for name, value in found.best.reading.items()),
        "excluding": [asked[number].record.id for number in found.excluding],
        "others_excluding": found.others_excluding,
        "sought": found.sought,
    }


def number_rows(found: Fit) -> list[Row]:
    """A row for each quoted number."""
    count = len({one.number for one in found.candidates})
    rows = []
    for place, asked in enumerate(found.calibration.asked()):
        best, record = found.best.found[place], asked.record
        met = {one.number for one in found.candidates if one.misfits[place] <= 1.0}
        rows.append(
            {
                "number": record.id,
                "sentence": record.sentence,
                "of": record.preset,
                "quoted": record.quoted,
                "from": finite_or_none(record.low),
                "to": finite_or_none(record.high),
                "unit": record.unit,
                "found": finite_or_none(best.printed),
                "over_all_draws": finite_or_none(best.estimate.mean),
                "low": finite_or_none(best.low),
                "high": finite_or_none(best.high),
                "misfit": best.misfit,
                "within": abs(best.misfit) <= 1.0,
                "settings_within": len(met) / count,
                "given": finite_or_none(found.given[place].printed),
                "given_within": abs(found.given[place].misfit) <= 1.0,
            }
        )
    return rows


def unknown_rows(found: Fit) -> list[Row]:
    """A row for each unknown: its range, the best fit, and the span over the settings that are left."""
    left = found.left
    rows = [
        _unknown(one, [kept.tried.point[place] for kept in left], found.best.tried.point[place])
        for place, one in enumerate(found.calibration.space.dimensions)
    ]
    for name, unknown in found.calibration.unknowns.items():
        if name in found.best.reading:
            values = list(dict.fromkeys(kept.reading[name] for kept in left))
            rows.append(
                {
                    "unknown": name,
                    "range": ", ".join(map(str, unknown.values or ())),
                    "best": found.best.reading[name],
                    "left": ", ".join(values),
                    "why": unknown.why,
                }
            )
    return rows


def _unknown(one: Dimension, left: list[float], best: float) -> Row:
    unknown = one.unknown
    if unknown.values is None:
        known, span = f"{unknown.low:g} to {unknown.high:g}", f"{one.at(min(left)):.4g} to {one.at(max(left)):.4g}"
    else:
        known = ", ".join(map(str, unknown.values))
        span = ", ".join(dict.fromkeys(str(one.at(x)) for x in sorted(left)))
    return {"unknown": one.name, "range": known, "best": _text(one.at(best)), "left": span, "why": unknown.why}


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _setting(one: Candidate) -> Row:
    values = {f"at_{place}": float(x) for place, x in enumerate(one.tried.point)}
    return {
        "setting": one.number,
        "stage": one.stage,
        **one.reading,
        **values,
        "misfit": one.misfit,
        "greatest_misfit": float(np.max(one.misfits)),
        "within": int(np.sum(one.misfits <= 1.0)),
        "plausible": one.plausible,
    }


def excluding_table(found: Fit) -> "pd.DataFrame":
    """The numbers of a smallest set that no setting meets; empty where one meets all."""
    import pandas as pd

    asked = found.calibration.asked()
    rows = [{"number": asked[place].record.id, "sentence": asked[place].record.sentence} for place in found.excluding]
    return pd.DataFrame(rows, columns=["number", "sentence"])
