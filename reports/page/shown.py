"""A table as a page shows it: plain text in cells, made once, written as Markdown and as LaTeX."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.shared.words import literal

if TYPE_CHECKING:
    from pandas import DataFrame

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
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
_KNOWN = "".join(
    letter
    for letter in map(chr, (*range(0x20, 0x7F), *range(0xA0, 0x180)))
    if letter not in "«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ"
)
"""Letters that LaTeX knows in the fonts of every document; another is shown by its code point."""
_LATEX_LETTER = re.compile(
    "|".join([*(re.escape(key) for key in sorted(_LATEX, key=len, reverse=True)), "-(?=-)", f"[^{re.escape(_KNOWN)}]"])
)
_LINE, _BETWEEN, _SENTENCE, _NARROWEST = 80, 2.6, 24, 12
"""Letters of a line of an article, of what is between two columns, from which on a text is broken into lines, and of
the shortest of these."""


@dataclass(frozen=True)
class Column:
    """One column of a shown table.

    Attributes
    ----------
    key, head : str
        Column of the data; what stands above it, with its unit.
    text : callable, optional
        From a value to the cell; a number is shown by `reports.shared.words.number` by default.
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
        """The table in LaTeX, with the rules of booktabs; no wider than a page where sentences make it wide."""
        rows = [self._latex_row(row) for row in (self.heads, *self.rows)]
        return "\n".join(
            [
                f"% {literal(self.title)}",
                r"% \usepackage{booktabs,array}",
                rf"\begin{{tabular}}{{{''.join(self._latex_columns())}}}",
                r"\toprule",
                rows[0],
                r"\midrule",
                *rows[1:],
                r"\bottomrule",
                r"\end{tabular}",
                "",
            ]
        )

    @staticmethod
    def _latex_row(cells: Sequence[str]) -> str:
        r"""A row; its first cell is braced, because `\\` takes a bracket or a star after it for its own."""
        first, *others = map(latex, cells)
        return " & ".join([f"{{{first}}}", *others]) + r" \\"

    def _latex_columns(self) -> list[str]:
        """What each column is; where the table is too wide for a page, its sentences are broken into lines."""
        longest = [max(map(len, cells)) for cells in zip(self.heads, *self.rows, strict=True)]
        plain = ["r" if numeric else "l" for numeric in self.numeric]
        broken = [k for k, letters in enumerate(longest) if not self.numeric[k] and letters > _SENTENCE]
        room = _LINE - _BETWEEN * len(longest)
        if sum(longest) <= room or not broken:
            return plain
        share = (room - sum(longest) + sum(longest[k] for k in broken)) / sum(longest[k] for k in broken)
        for k in broken:
            width = max(share * longest[k], _NARROWEST) / _LINE
            plain[k] = rf">{{\raggedright\arraybackslash}}p{{{width:.3f}\linewidth}}"
        return plain


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
    return _LATEX_LETTER.sub(_latex_letter, text)


def _latex_letter(found: re.Match[str]) -> str:
    letter = found[0]
    if letter == "-":
        return "-{}"  # two of them would be made a dash
    return _LATEX[letter] if letter in _LATEX else rf"\texttt{{U+{ord(letter):04X}}}"
