"""A table as a page shows it: plain text in cells, made once, written as Markdown and as LaTeX."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.words import literal

if TYPE_CHECKING:
    from pandas import DataFrame

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "α": r"$\alpha$",
    "θ": r"$\theta$",
    "τ": r"$\tau$",
    "φ": r"$\varphi$",
    "λ": r"$\lambda$",
    "Σ": r"$\Sigma$",
    "µ": r"$\mu$",
    "²": r"\textsuperscript{2}",
    "…": r"\dots{}",
    "*": r"\textasteriskcentered{}",
    "L̃": r"$\tilde{L}$",
}
_LATEX_LETTER = re.compile("|".join(re.escape(key) for key in sorted(_LATEX, key=len, reverse=True)))


@dataclass(frozen=True)
class Column:
    """One column of a shown table.

    Attributes
    ----------
    key, head : str
        Column of the data; what stands above it, with its unit.
    text : callable, optional
        From a value to the cell; a number is shown by `reports.words.number` by default.
    numeric : bool
        Whether it stands right and sorts as a number.
    """

    key: str
    head: str
    text: Callable[[Any], str] = str
    numeric: bool = False


@dataclass(frozen=True)
class Shown:
    """A table of texts with a title."""

    title: str
    heads: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, table: "DataFrame", columns: Sequence[Column]) -> "Shown":
        """A table's columns as texts; columns that it does not have, or that hold nothing, are left out."""
        kept = [column for column in columns if column.key in table and table[column.key].notna().any()]
        values = [table[column.key].astype(object).where(table[column.key].notna(), None) for column in kept]
        cells = [[literal(column.text(value)) for value in of] for column, of in zip(kept, values, strict=True)]
        return cls(
            title,
            tuple(column.head for column in kept),
            tuple(column.numeric for column in kept),
            tuple(zip(*cells, strict=True)),
        )

    def markdown(self) -> str:
        """The table in Markdown; every text is shown as it is."""
        rule = ["---:" if numeric else "---" for numeric in self.numeric]
        rows = [[escaped(head) for head in self.heads], rule, *([escaped(cell) for cell in row] for row in self.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs."""
        columns = "".join("r" if numeric else "l" for numeric in self.numeric)
        rows = [" & ".join(latex(cell) for cell in row) + r" \\" for row in (self.heads, *self.rows)]
        return "\n".join(
            [
                f"% {literal(self.title)}",
                r"% \usepackage{booktabs}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                rows[0],
                r"\midrule",
                *rows[1:],
                r"\bottomrule",
                r"\end{tabular}",
                "",
            ]
        )


def escaped(text: str) -> str:
    r"""A text as Markdown shows it literally, in a table as elsewhere.

    >>> print(escaped("<b>a|b</b>"), escaped("$$"))
    \<b\>a\|b\</b\> \$\$
    """
    return _MARKDOWN.sub(r"\\\1", literal(text))


def latex(text: str) -> str:
    r"""A text as LaTeX shows it literally.

    >>> print(latex("50 % of a_b → α"))
    50 \% of a\_b $\rightarrow$ $\alpha$
    """
    return _LATEX_LETTER.sub(lambda found: _LATEX[found[0]], text)
