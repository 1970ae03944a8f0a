"""A table as Markdown and as LaTeX, and a text as each of them shows it literally."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

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
_SENTENCE, _DIGIT = 14, 1.2
"""Letters from which on a text is broken into lines, and the width of a digit in letters."""


class _Room(NamedTuple):
    """A line of an article in one size of letters: what begins and ends it, its letters, those between two columns."""

    begin: tuple[str, ...]
    end: tuple[str, ...]
    letters: float
    between: float


_ROOMS = (
    _Room((), (), 68, 2.8),
    _Room((r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}%",), (r"\endgroup",), 80, 1.7),
    _Room((r"\begingroup\scriptsize\setlength{\tabcolsep}{2pt}%",), (r"\endgroup",), 91, 1.3),
)
"""The largest letters first."""
_SHRUNK = _Room((r"\resizebox{\linewidth}{!}{%",), ("}",), _ROOMS[0].letters, _ROOMS[0].between)
"""Whatever has too many columns, as small as it takes."""


def markdown_table(table: Table) -> str:
    """A table in Markdown, its title above it as pandoc has it; every text is shown as it is."""
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    heads = [column.head() for column in table.columns]
    rows = [[escaped(head) for head in heads], rule, *([escaped(cell) for cell in row] for row in table.rows)]
    return "\n".join([f"{CAPTION}{escaped(table.title)}", "", *(f"| {' | '.join(row)} |" for row in rows)])


def latex_table(table: Table) -> str:
    """A table in LaTeX, with the rules of booktabs, no wider than the lines of an article.

    Where it would be, heads are stacked and sentences broken into lines, then letters made smaller.
    """
    heads = [[column.head()] for column in table.columns]
    room, wide = _ROOMS[0], [_wide(table, place, head) for place, head in enumerate(heads)]
    if sum(one.whole for one in wide) > _free(room, wide):
        heads = [_stacked(table, place) for place in range(len(heads))]
        wide = [_wide(table, place, head) for place, head in enumerate(heads)]
        least = sum(one.least for one in wide)
        room = next((one for one in _ROOMS if least <= _free(one, wide)), _SHRUNK)
    return "\n".join(
        [
            f"% {literal(table.title)}",
            rf"% \usepackage{{booktabs,array{',graphicx' * (room is _SHRUNK)}}}",
            *room.begin,
            rf"\begin{{tabular}}{{@{{}}{''.join(_latex_columns(wide, room))}@{{}}}}",
            r"\toprule",
            _latex_row([_latex_head(head, one.side) for head, one in zip(heads, wide, strict=True)]),
            r"\midrule",
            *(_latex_row(list(map(latex, row))) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *room.end,
            "",
        ]
    )


def _latex_row(cells: Sequence[str]) -> str:
    r"""A row; its first cell is braced, because `\\` takes a bracket or a star after it for its own."""
    first, *others = cells
    return " & ".join([f"{{{first}}}", *others]) + r" \\"


def _latex_head(lines: Sequence[str], side: str) -> str:
    if len(lines) == 1:
        return latex(lines[0])
    stack = r"\\".join(f"{{{latex(line)}}}" for line in lines)
    return rf"\shortstack[{side}]{{{stack}}}"


def _stacked(table: Table, place: int) -> list[str]:
    """A head in lines that are hardly longer than the cells below it; its unit in a line of its own."""
    column = table.columns[place]
    letters = max([len(row[place]) for row in table.rows] + [max(map(len, column.words.split()), default=1)])
    lines = textwrap.wrap(column.words, min(letters, _SENTENCE), break_long_words=False) or [""]
    return [*lines, f"[{column.unit}]"] if column.unit else lines


class _Wide(NamedTuple):
    """A column's side, and its letters: in one line, and where its cells are broken at every word."""

    side: str
    whole: float
    least: float


def _wide(table: Table, place: int, head: Sequence[str]) -> _Wide:
    column, cells = table.columns[place], [row[place] for row in table.rows]
    top, longest = max(map(len, head)), max(map(len, cells), default=0)
    if column.numeric or longest <= _SENTENCE:
        width = max(top, longest * (_DIGIT if column.numeric else 1.0))
        return _Wide("r" if column.numeric else "l", width, width)
    return _Wide("l", max(top, longest), max(len(word) for text in (*head, *cells) for word in text.split() or [""]))


def _free(room: _Room, wide: Sequence[_Wide]) -> float:
    """Letters that a room leaves for columns."""
    return room.letters - room.between * (len(wide) - 1)


def _latex_columns(wide: Sequence[_Wide], room: _Room) -> list[str]:
    """What each column is: where all are too wide, those of sentences share what the others leave, long ones more."""
    least = sum(one.least for one in wide)
    over = least / 2.0 if room is _SHRUNK else _free(room, wide) - least
    if sum(one.whole for one in wide) <= _free(room, wide) or all(one.least == one.whole for one in wide):
        return [one.side for one in wide]
    want = [math.sqrt(one.whole - one.least) for one in wide]
    found = []
    for one, share in zip(wide, want, strict=True):
        letters = one.least + max(over, 0.0) * share / sum(want)
        broken = rf">{{\raggedright\arraybackslash}}p{{{letters / room.letters:.3f}\linewidth}}"
        found.append(broken if share else one.side)
    return found


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
