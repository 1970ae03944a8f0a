"""A table as Markdown and as LaTeX, and a text as each of them shows it literally."""

import re
from collections.abc import Sequence

from reports.shared.text_table import Table
from reports.shared.words import literal

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
CAPTION = "Table: "
_LINE, _BETWEEN, _SENTENCE, _NARROWEST = 80, 2.6, 24, 12
"""Letters of a line of an article, of what is between two columns, from which on a text is broken into lines, and of
the shortest of these."""


def markdown_table(table: Table) -> str:
    """A table in Markdown, its title above it as pandoc has it; every text is shown as it is."""
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    heads = [column.head() for column in table.columns]
    rows = [[escaped(head) for head in heads], rule, *([escaped(cell) for cell in row] for row in table.rows)]
    return "\n".join([f"{CAPTION}{escaped(table.title)}", "", *(f"| {' | '.join(row)} |" for row in rows)])


def latex_table(table: Table) -> str:
    """A table in LaTeX, with the rules of booktabs; no wider than a page where sentences make it wide."""
    rows = [_latex_row(row) for row in (tuple(column.head() for column in table.columns), *table.rows)]
    return "\n".join(
        [
            f"% {literal(table.title)}",
            r"% \usepackage{booktabs,array}",
            rf"\begin{{tabular}}{{{''.join(_latex_columns(table))}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _latex_row(cells: Sequence[str]) -> str:
    r"""A row; its first cell is braced, because `\\` takes a bracket or a star after it for its own."""
    first, *others = map(latex, cells)
    return " & ".join([f"{{{first}}}", *others]) + r" \\"


def _latex_columns(table: Table) -> list[str]:
    """What each column is; where the table is too wide for a page, its sentences are broken into lines."""
    heads = [column.head() for column in table.columns]
    longest = [max(map(len, cells)) for cells in zip(heads, *table.rows, strict=True)]
    plain = ["r" if column.numeric else "l" for column in table.columns]
    broken = [k for k, letters in enumerate(longest) if plain[k] == "l" and letters > _SENTENCE]
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
