"""What an object says of itself, once, as one line, as lines for a terminal and as HTML for a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from msopt.errors import literal

MOST_ROWS = 10
"""Rows of a summary's table; of longer ones the first."""
PROVEN_GAP = 1e-6
"""A gap below it is the solver's own round-off: the optimum is proven."""


@dataclass(frozen=True)
class Summary:
    """A title, facts and perhaps a table, each text in one line (`literal`).

    Attributes
    ----------
    title : str
        The object in a few words.
    facts : mapping
        Name to value with its unit, the one to know first first.
    columns : mapping
        Head (with its unit) to the values of all rows.
    """

    title: str
    facts: Mapping[str, str]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", literal(self.title))
        object.__setattr__(self, "facts", {literal(name): literal(value) for name, value in self.facts.items()})

    def line(self) -> str:
        """One line: the title and the facts."""
        return f"<{self.title}: {', '.join(f'{name} {value}' for name, value in self.facts.items())}>"

    def text(self) -> str:
        """Lines for a terminal."""
        wide = max(map(len, self.facts), default=0)
        lines = [self.title, *(f"  {name:<{wide}}  {value}" for name, value in self.facts.items())]
        heads, rows, left_out = self._table()
        if heads:
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            lines.append("")
            for row in (heads, *rows):
                numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
                lines.append("  ".join(("", row[0].ljust(widths[0]), *numbers)))
        return "\n".join(lines + ([f"  ({left_out} more)"] if left_out else []))

    def html(self) -> str:
        """A table for a notebook, every text escaped."""
        facts = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(value)}</td></tr>'
            for name, value in self.facts.items()
        )
        found = f"<table><caption>{escape(self.title)}</caption><tbody>{facts}</tbody></table>"
        heads, rows, left_out = self._table()
        if heads:
            top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
            body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
            found += f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        return found + (f"<p>{left_out} more</p>" if left_out else "")

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]], int]:
        """Heads, the rows that are shown, and how many are not."""
        rows = list(zip(*self.columns.values(), strict=True))
        shown = [tuple(map(literal, row)) for row in rows[:MOST_ROWS]]
        return tuple(map(literal, self.columns)), shown, max(0, len(rows) - MOST_ROWS)


class Shown:
    """Base of what shows itself by a `Summary`: `repr` in one line, `print` in several, a notebook in a table."""

    def summary(self) -> Summary:
        """What the object says of itself."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.summary().line()

    def __str__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def counted(count: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "draw"), counted(2, "draw")
    ('1 draw', '2 draws')
    """
    return f"{count} {thing}{'' if count == 1 else 's'}"


def figures(value: float, unit: str = "") -> str:
    """A number to four figures, with its unit."""
    return f"{value:.4g} {unit}".rstrip()


def gap_in_words(gap: float) -> str:
    """How far below a proven bound something lies."""
    return "proven optimal" if gap < PROVEN_GAP else f"within {100.0 * gap:.2g} % of the optimum"


def spread_of(values: Sequence[float], unit: str) -> str:
    """From the least to the greatest of some numbers, which may be one."""
    low, high = min(values), max(values)
    return figures(low, unit) if low == high else f"{low:.4g} to {figures(high, unit)}"
