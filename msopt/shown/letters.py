"""Letters of names that a figure's font lacks: drawn in another installed font, and told where no font has them."""

import warnings
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from matplotlib.text import Text

_NO_LETTERS = ("Last Resort", "LastResort")
"""Fonts whose every letter is a placeholder."""
_told: set[str] = set()


def give_letters(figure: "Figure") -> str:
    r"""Draw each text of a figure in fonts that have its letters.

    A letter that no installed font has is written as its code, \\u57fa: two names in boxes would look alike.

    Returns
    -------
    str
        The letters without a font.
    """
    without = "".join(dict.fromkeys(letter for text in _texts(figure) for letter in _give(text)))
    if without:
        _write_codes(figure, {ord(letter): letter.encode("unicode_escape").decode() for letter in without})
    return without


def tell_letters(without: str) -> None:
    """Warn, once for each letter."""
    new = "".join(letter for letter in without if letter not in _told)
    _told.update(new)
    if new:
        text = f"no installed font has {new}: shown by code; install one that has them (Noto has most)"
        warnings.warn(text, UserWarning, stacklevel=4)


def _texts(figure: "Figure") -> "Iterator[Text]":
    """Those with letters beyond Latin 1, which every font has."""
    from matplotlib.text import Text  # noqa: PLC0415  (loaded only where a figure is drawn)

    return (text for text in figure.findobj(Text) if isinstance(text, Text) and not _plain(text.get_text()))


def _plain(text: str) -> bool:
    return not text or max(text) <= "\xff"


def _give(text: "Text") -> str:
    """Name further fonts for what the text's own one lacks; returns what none has."""
    from matplotlib.font_manager import findfont  # noqa: PLC0415  (loaded only where a figure is drawn)

    own = _letters(findfont(text.get_fontproperties()))
    missing = {letter for letter in text.get_text() if not letter.isspace() and ord(letter) not in own}
    if not missing:
        return ""
    families, rest = _families_for(frozenset(missing))
    if families:
        text.set_fontfamily([*dict.fromkeys([*text.get_fontfamily(), *families])])
    return "".join(sorted(rest))


@cache
def _families_for(letters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Installed upright fonts that have some of the letters, few of them, and the letters that none has."""
    from matplotlib.font_manager import fontManager  # noqa: PLC0415  (loaded only where a figure is drawn)

    fonts = {font.name: font.fname for font in fontManager.ttflist if font.style == "normal"}
    families: list[str] = []
    for name in sorted(fonts, key=lambda name: (not name.startswith(("DejaVu Sans", "Noto Sans")), name)):
        if (
            letters
            and not name.startswith(_NO_LETTERS)
            and (has := {c for c in letters if ord(c) in _letters(fonts[name])})
        ):
            families.append(name)
            letters = letters - has
    return tuple(families), letters


@cache
def _letters(path: str) -> frozenset[int]:
    """What a font can draw; nothing where it is one of pictures, or cannot be read."""
    from matplotlib.font_manager import get_font  # noqa: PLC0415  (loaded only where a figure is drawn)

    try:
        font = get_font(path)
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(font.get_charmap()) if font.scalable else frozenset()


def _write_codes(figure: "Figure", codes: dict[int, str]) -> None:
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            told = [label.get_text() for label in axis.get_ticklabels()]
            if (written := [text.translate(codes) for text in told]) != told:
                # What an axis names, it writes into its texts again whenever it is drawn.
                axis.set_ticks(axis.get_ticklocs(), written, parse_math=False)
    for text in _texts(figure):
        text.set_text(text.get_text().translate(codes))
