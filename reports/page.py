"""The Markdown page, its figures and its data, from the records of `comparison.study`."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import msopt
from msopt import ParameterError
from msopt.files import write_bytes, write_text
from reports.comparison import DEFAULT, study
from reports.figures import goodput_figure, rendered
from reports.output import as_json, warn
from reports.words import literal, number, per_cent

Record = dict[str, Any]

PAGE, DATA = "report.md", "report.json"
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&])")


def write_report(scenarios: Sequence[tuple[str, Path]], folder: str) -> Path:
    """Solve, then write page, data and figures into a folder; returns the page.

    Parameters
    ----------
    scenarios : sequence of (what the user called it, file)
    folder : str
        Made where it is missing. Each file is written whole or not at all, the page last.

    Raises
    ------
    ParameterError
        For a bad scenario, before anything is written, or a place that cannot be written.
    """
    studies = [study(source, path) for source, path in scenarios]
    warn(dict.fromkeys(text for one in studies for solution in one["solutions"] for text in solution["warnings"]))
    figures: dict[str, bytes] = {}
    for place, one in enumerate(studies, start=1):
        drawn = goodput_figure(one["comparison"], one["name"])
        one["figure"] = f"goodput-{place}"
        figures |= {f"{one['figure']}.{form}": rendered(drawn, form) for form in ("svg", "png")}
    record = {"msopt": msopt.__version__, "scenarios": studies}
    page = render(record)
    place_at = _made(Path(folder))
    for name, content in figures.items():
        write_bytes(place_at / name, content)
    write_text(place_at / DATA, as_json(record))
    write_text(place_at / PAGE, page)
    return place_at / PAGE


def render(record: Record) -> str:
    """The page of a report's data; every number in it comes from there."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"escaped": escaped, "number": number, "per_cent": per_cent, "literal": literal}
    environment.filters |= {"controls": other_controls}
    return environment.get_template("report.md.j2").render(record, data_file=DATA)


def escaped(text: str) -> str:
    r"""A name as Markdown shows it literally, in a table as elsewhere.

    >>> print(escaped("<b>a|b</b>"), escaped("$$"))
    \<b\>a\|b\</b\> \$\$
    """
    return _SPECIAL.sub(r"\\\1", literal(text))


def other_controls(rows: Sequence[Record], problem: str) -> list[Record]:
    """The controls of a problem but the default method's, by what that gains over them."""
    others = [row for row in rows if row["problem"] == problem and row["gap"] is not None and row["method"] != DEFAULT]
    return sorted(others, key=lambda row: float(row["gain_of_decomposition"]))


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    return folder
