"""A table of texts with a title, made of rows: shown in a terminal, in Markdown and in LaTeX by the modules beside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reports.shared.quantities import FACTORS, QUANTITIES
from reports.shared.rows import Row
from reports.shared.words import gain, gap, literal, per_cent


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    key, words : str
        Of the rows; what stands above it.
    unit : str
        A reader's, beside or below the words; "" for none.
    text : callable
        From a value to the cell.
    numeric : bool
        Whether it stands right and sorts as a number.
    """

    key: str
    words: str
    unit: str = ""
    text: Callable[[Any], str] = str
    numeric: bool = False

    def head(self, between: str = " ") -> str:
        """Words and unit."""
        return f"{self.words}{between}[{self.unit}]" if self.unit else self.words


@dataclass(frozen=True)
class Table:
    """What is shown: the columns, and the texts of each row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, rows: Sequence[Row], columns: Sequence[Column], *, whole: bool = False) -> "Table":
        """Rows as texts; columns in which every row is empty are left out where not the `whole` table is asked for."""
        kept = [one for one in columns if whole or any(row.get(one.key) is not None for row in rows)]
        cells = tuple(tuple(literal(one.text(row.get(one.key))) for one in kept) for row in rows)
        return cls(title, tuple(kept), cells)


def words_column(key: str, words: str, *, numeric: bool = False) -> Column:
    """A column of texts, with a dash for what is not there."""
    return Column(key, words, text=lambda value: "–" if value is None else str(value), numeric=numeric)


def number_column(key: str, words: str, unit: str = "", digits: int = 4) -> Column:
    """A column of numbers in SI, shown in a reader's unit with some significant digits."""
    return decimals_column(key, words, unit, f".{digits}g")


def decimals_column(key: str, words: str, unit: str = "", form: str = ".3f") -> Column:
    """The same with a format of one's own."""
    factor = FACTORS.get(unit, 1.0)
    return Column(key, words, unit, lambda x: "–" if x is None else f"{factor * float(x):{form}}", numeric=True)


def quantity_column(key: str, words: str = "", *, unit: str = "", digits: int = 0) -> Column:
    """The column of a known quantity; other words, another unit or more digits where they are given."""
    known = QUANTITIES[key]
    return number_column(key, words or known.words, unit or known.reader_unit, digits or known.digits)


def count_column(key: str, words: str, unit: str = "") -> Column:
    """A column of whole numbers."""
    return Column(key, words, unit, lambda value: "–" if value is None else f"{int(value)}", numeric=True)


def ratio_column(key: str, words: str) -> Column:
    """A column of ratios, shown in per cent."""
    return Column(key, words, text=per_cent, numeric=True)


def gain_column(key: str, words: str) -> Column:
    """A column of gains: "equal", in per cent, or as a multiple."""
    return Column(key, words, text=gain, numeric=True)


def gap_column(key: str, words: str) -> Column:
    """A column of gaps to a bound: "proven", or in per cent."""
    return Column(key, words, text=gap, numeric=True)


def yes_column(key: str, words: str) -> Column:
    """A column of yes and no."""
    return Column(key, words, text=lambda value: "yes" if value else "no")
