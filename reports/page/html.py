"""The Markdown page as one self-contained HTML page: styles, figures and a few lines of script inside it."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from jinja2 import Template
from markdown_it import MarkdownIt
from markdown_it.token import Token

TEMPLATES = Path(__file__).parent / "templates"
_LONG_CELL = 44
"""Letters of a cell from which on its table does not shrink to a phone's width but scrolls."""

_VERDICTS = {
    "pass": "good",
    "held": "good",
    "FAIL": "bad",
    "did not appear here": "bad",
    "held in part": "partly",
    "not asked": "none",
    "not tested": "none",
}


def as_html(markdown: str, figures: Mapping[str, str], title: str) -> str:
    """The page.

    Parameters
    ----------
    markdown : str
        The same page in Markdown. A paragraph of images becomes a row of figures.
    figures : mapping
        For the place that an image names, the figure as an element of HTML.
    title : str
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    _mark(tokens)
    parser.add_render_rule("image", lambda _, tokens, place, *__: _figure(tokens[place], figures))
    body = _in_boxes(parser.renderer.render(tokens, parser.options, {}))
    frame, style, script = ((TEMPLATES / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js"))
    template = Template(frame, keep_trailing_newline=True)
    return str(template.render(title=escape(title), style=style, script=script, body=body))


def slug(text: str) -> str:
    """The name of a heading, as it is made where Markdown is shown.

    >>> slug("3 The papers' figures, redrawn")
    '3-the-papers-figures-redrawn'
    """
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def _mark(tokens: Sequence[Token]) -> None:
    """Name headings, wrap tables, colour verdicts, and make paragraphs of images rows of figures."""
    for place, token in enumerate(tokens):
        inside = tokens[place + 1] if place + 1 < len(tokens) else token
        if token.type == "heading_open":
            token.attrSet("id", slug(_plain(inside)))
        elif token.type == "paragraph_open" and _only_images(inside):
            token.tag, tokens[place + 2].tag = "div", "div"
            token.attrSet("class", "panels")
        elif token.type == "td_open" and _plain(inside) in _VERDICTS:
            token.attrSet("class", _VERDICTS[_plain(inside)])
        elif token.type == "td_open" and len(_plain(inside)) > _LONG_CELL:
            token.attrSet("class", "text")
        elif token.type == "table_open":
            token.attrSet("class", "wide" if _is_long(tokens, place) else "narrow")


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


def _only_images(token: Token) -> bool:
    kinds = {child.type for child in token.children or ()} - {"softbreak"}
    return kinds == {"image"}


def _is_long(tokens: Sequence[Token], place: int) -> bool:
    for token in tokens[place:]:
        if token.type == "table_close":
            return False
        if token.type == "inline" and len(_plain(token)) > _LONG_CELL:
            return True
    return False


def _figure(token: Token, figures: Mapping[str, str]) -> str:
    source = str(token.attrs["src"])
    return f"<figure>{figures[source]}</figure>" if source in figures else f"<em>{escape(token.content)}</em>"


def _in_boxes(page: str) -> str:
    """Every table in a box of its own that scrolls sideways, so that the page does not."""
    page = re.sub(r'<table class="(\w+)">', r'<div class="table" tabindex="0"><table class="\1">', page)
    return page.replace("</table>", "</table></div>")
