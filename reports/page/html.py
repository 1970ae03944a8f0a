"""The page in HTML: its Markdown rendered, with figures in it, long parts folded, and nothing that needs a network."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reports.shared.table_markup import CAPTION

TEMPLATES = Path(__file__).parent / "templates"
_LONG_CELL = 44
"""Letters of a cell from which on its table does not shrink to a phone's width but scrolls."""
_LONGEST_CELL = 160
"""Letters from which on a cell of such a table is given more room, so that its row does not become a tower."""
_SHORT_CELL = 16
"""Letters up to which a cell stays in one line where there is room."""
_CELL = 3
"""Tokens of a cell: what opens it, its text, what closes it."""
_MOST_ROWS = 9
"""Rows of a table beyond which it is folded, more than three problems of three scenarios: who wants them opens it."""
_MOST_PRINTED = 100
"""Rows of a table beyond which paper has none of them: they are data, and lie in their file."""
_FOLDED = ("h4", "h3")
"""The headings whose parts are folded: in the first section, which is the answer, and in all others, its evidence."""

_VERDICTS = {
    "pass": "good",
    "held": "good",
    "holds": "good",
    "FAIL": "bad",
    "did not appear here": "bad",
    "fails": "bad",
    "held in part": "partly",
    "holds in part": "partly",
    "not settled": "none",
    "not asked": "none",
    "not tested": "none",
}


class Drawn(NamedTuple):
    """A figure: its element of HTML, and what stands below it."""

    element: str
    caption: str


def as_html(markdown: str, figures: Mapping[str, Drawn], title: str) -> str:
    """The page.

    Parameters
    ----------
    markdown : str
        The same page in Markdown. A paragraph of images becomes a row of figures, a list of nothing but links the
        table of contents; a paragraph "Table: ..." is the caption of the table below it.
    figures : mapping
        For the place that an image names, the figure.
    title : str
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    _mark(tokens)
    parser.add_render_rule("image", lambda _, tokens, place, *__: _figure(tokens[place], figures))
    body = parser.renderer.render(list(_folded(_captioned(tokens))), parser.options, {})
    body = body.replace(" %", "\u00a0%")  # no line ends before a sign of per cent
    environment = Environment(loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=False)
    return environment.get_template("page.html").render(title=escape(title), body=body)


def slug(text: str) -> str:
    """The name of a heading, as it is made where Markdown is shown.

    >>> slug("3 The papers' figures, redrawn")
    '3-the-papers-figures-redrawn'
    """
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def _mark(tokens: Sequence[Token]) -> None:
    """Name headings, colour verdicts, say what heads stand above, and make rows of figures of paragraphs of images."""
    slugs: Counter[str] = Counter()
    for place, token in enumerate(tokens):
        inside = tokens[place + 1] if place + 1 < len(tokens) else token
        if token.type == "heading_open":
            token.attrSet("id", _once(slug(_plain(inside)) or "part", slugs))
        elif token.type == "paragraph_open" and _only(inside, "image"):
            token.tag, tokens[place + 2].tag = "div", "div"
            token.attrSet("class", "panels")
        elif token.type == "bullet_list_open" and _are_links(tokens, place):
            close = next(later for later in tokens[place:] if later.type == "bullet_list_close")
            token.tag, close.tag = "nav", "nav"
            token.attrs |= {"aria-label": "Contents", "class": "contents"}
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "td_open":
            _mark_cell(tokens, place)
        elif token.type == "table_open":
            token.attrSet("class", "wide" if _is_long(tokens, place) else "narrow")


def _once(name: str, seen: Counter[str]) -> str:
    """A heading's name, numbered where it stood above already: scenarios may be named alike."""
    seen[name] += 1
    return name if seen[name] == 1 else _once(f"{name}-{seen[name] - 1}", seen)


def _mark_cell(tokens: Sequence[Token], place: int) -> None:
    """A verdict has its colour; the first cell of a row that is no verdict is its head."""
    token, text = tokens[place], _plain(tokens[place + 1])
    if text in _VERDICTS:
        token.attrSet("class", f"short {_VERDICTS[text]}")
    elif len(text) > _LONG_CELL:
        token.attrSet("class", "long" if len(text) > _LONGEST_CELL else "text")
    elif len(text) <= _SHORT_CELL:
        token.attrSet("class", "short")
    first = tokens[place - 1].type == "tr_open"
    second = not first and tokens[place - _CELL - 1].type == "tr_open"
    if (first and text not in _VERDICTS) or (second and _plain(tokens[place - 2]) in _VERDICTS):
        token.tag, tokens[place + 2].tag = "th", "th"
        token.attrSet("scope", "row")


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


def _only(token: Token, kind: str) -> bool:
    kinds = {child.type for child in token.children or () if child.level == 0} - {"softbreak"}
    return kinds == {kind}


def _are_links(tokens: Sequence[Token], place: int) -> bool:
    items = []
    for token in tokens[place:]:
        if token.type == "bullet_list_close":
            break
        if token.type == "inline":
            items.append({child.type for child in token.children or ()} == {"link_open", "text", "link_close"})
    return all(items)


def _is_long(tokens: Sequence[Token], place: int) -> bool:
    for token in tokens[place:]:
        if token.type == "table_close":
            return False
        if token.type == "inline" and len(_plain(token)) > _LONG_CELL:
            return True
    return False


def _captioned(tokens: Sequence[Token]) -> Iterator[Token]:
    """Every table with its caption in a box of its own that scrolls sideways; one with many rows folded."""
    caption, place, close = "", 0, ""
    while place < len(tokens):
        token = tokens[place]
        if token.type == "paragraph_open" and [after.type for after in tokens[place + 3 : place + 4]] == ["table_open"]:
            text = _plain(tokens[place + 1])
            if text.startswith(CAPTION):
                caption, place = text.removeprefix(CAPTION), place + 3
                continue
        if token.type == "table_open":
            rows = _count_rows(tokens, place)
            head, close = '<div class="table" tabindex="0">', "</div>"
            if rows > _MOST_ROWS:
                told = f"{escape(caption)} ({rows} rows)"
                kind = ' class="data"' if rows > _MOST_PRINTED else ""
                head, close = f"<details{kind}><summary>{told}</summary>{head}", f"{close}</details>"
            yield _raw(head)
            yield token
            yield _raw(f"<caption>{escape(caption)}</caption>" if caption else "")
            caption = ""
        elif token.type == "table_close":
            yield token
            yield _raw(close)
        else:
            yield token
        place += 1


def _count_rows(tokens: Sequence[Token], place: int) -> int:
    end = next(later for later in range(place, len(tokens)) if tokens[later].type == "table_close")
    return sum(token.type == "tr_open" for token in tokens[place:end]) - 1


def _folded(tokens: Iterator[Token]) -> Iterator[Token]:
    """Every section in an element of its own, its parts folded under their headings."""
    sections, inside = 0, False
    for token in tokens:
        part = _FOLDED[sections > 1]
        heading = token.type == "heading_open" and "h1" < token.tag <= "h4"
        if heading and inside and token.tag <= part:
            yield _raw("</details>")
            inside = False
        if heading and token.tag == "h2":
            yield _raw("</section>" * (sections > 0) + "<section>")
            sections += 1
        if heading and token.tag == part:
            yield _raw('<details class="part"><summary>')
            inside = True
        yield token
        if token.type == "heading_close" and token.tag == part:
            yield _raw("</summary>")
    yield _raw("</details>" * inside + "</section>" * (sections > 0))


def _raw(text: str) -> Token:
    return Token("html_block", "", 0, content=text)


def _figure(token: Token, figures: Mapping[str, Drawn]) -> str:
    source = str(token.attrs["src"])
    if source not in figures:
        return f"<em>{escape(token.content)}</em>"
    drawn, file = figures[source], escape(source)
    return (
        f"<figure>{drawn.element}<figcaption>{escape(drawn.caption)} "
        f'(<a href="{file}" aria-label="This figure as a file">SVG</a>)</figcaption></figure>'
    )
