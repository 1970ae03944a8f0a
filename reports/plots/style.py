"""One style for every figure: colours for colour-blind readers, told apart in grey by marker and line.

A figure of the report is one panel or several, each a matplotlib figure of its own: beside each other on a wide
screen, below each other on a phone, and each a file for a paper's column.
"""

import html
import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from msopt.method import Colour, Line
from msopt.methods import by_name, names_of
from msopt.shown.letters import give_letters
from msopt.shown.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from reports.plots.alt_text import alt_text
from reports.shared.words import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Form = Literal["svg", "pdf"]
P = ParamSpec("P")

WIDTH_IN, HEIGHT_IN = 4.4, 3.1
"""A panel: a column of a paper, and at its own size on a phone of 390 px."""

_TITLE_LETTERS = 46
_THREE_IN_A_ROW = 20

RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.5,
    "savefig.facecolor": "white",
    # Text stays text: small files, and a browser can search and measure it.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
"""How every figure is drawn."""


@dataclass(frozen=True)
class Panel:
    """One panel of a figure: the name of its files, its title, and what is drawn."""

    name: str
    title: str
    figure: Figure

    @property
    def alt(self) -> str:
        """What is seen, in words."""
        return alt_text(self.figure, literal(self.title))

    def noted(self, note: str) -> "Panel":
        """The same with a note in brackets after its titles, the drawn one, too."""
        axes = self.figure.axes[0]
        drawn = axes.get_title(loc="left")
        for between in (" ", "\n"):  # in a line of its own where there is no room
            size = RC["axes.titlesize"]
            text = axes.set_title(f"{drawn}{between}({note})", loc="left", fontsize=size, parse_math=False)
            self.figure.draw_without_rendering()
            if text.get_window_extent().x1 <= self.figure.bbox.x1:
                break
        return replace(self, title=f"{self.title} ({note})")


@dataclass(frozen=True)
class Look:
    """How a series is drawn and what it is called."""

    label: str
    colour: str
    marker: str
    line: Line = "-"


_COLOURS: dict[Colour, str] = {
    "black": BLACK,
    "grey": GREY,
    "orange": ORANGE,
    "sky": SKY,
    "green": GREEN,
    "yellow": YELLOW,
    "blue": BLUE,
    "vermilion": VERMILION,
    "purple": PURPLE,
}
_LOOKS: dict[str, Look] = {
    "exact or decomposition": Look("exact or decomp. (ours)", BLACK, "o"),
    "one length": Look("one length for all", BLUE, "."),
    "closed form": Look("closed form", VERMILION, "*", ""),
    "closed form (real)": Look("closed form, real L", SKY, "", "-"),
    "closed form (whole)": Look("closed form, whole L", BLACK, "o", ""),
    "search": Look("search over L", VERMILION, "x", ""),
    "uplink": Look("uplink", BLUE, "o"),
    "downlink": Look("downlink", VERMILION, "s", "--"),
    "slower of the two": Look("slower of the two", BLACK, "", (0, (1, 1))),
}
"""Of what is no method."""
OF = " · "
_SHARES = {"accepted": (GREEN, "o"), "uplink": (BLUE, "^"), "downlink": (VERMILION, "s")}
_OTHERS: tuple[tuple[str, str, Any], ...] = (
    (BLUE, "s", "--"),
    (VERMILION, "^", "-."),
    (GREEN, "D", ":"),
    (PURPLE, "v", (0, (5, 1))),
    (ORANGE, "P", (0, (3, 1, 1, 1, 1, 1))),
    (SKY, "X", (0, (1, 1))),
    (GREY, "*", (0, (1, 2))),
)


def _known_looks() -> dict[str, Look]:
    """Of every method, and of what is none."""
    methods = by_name().items()
    return {name: Look(one.label, _COLOURS[one.colour], one.marker, one.line) for name, one in methods} | _LOOKS


def label_of(scheme: str) -> str:
    """What a scheme is called in figures: a method by the papers' name, anything else as it is."""
    known = _known_looks()
    return known[scheme].label if scheme in known else literal(scheme)


def looks(schemes: Iterable[str]) -> dict[str, Look]:
    """A look for each scheme: a method's own, and for every other the first that none of them has.

    "SHARE · SCHEME" has the colour of the share; solid where the scheme is ours, dashed and hollow elsewhere.
    """
    names = list(dict.fromkeys(schemes))
    of_all = _known_looks()
    known = {name: of_all[name] for name in names if name in of_all}
    known |= {name: _share_look(*name.split(OF)) for name in names if OF in name}
    taken = {look.colour for look in known.values()}
    free = [other for other in _OTHERS if other[0] not in taken] or list(_OTHERS)
    unknown = [name for name in names if name not in known]
    given = {name: Look(literal(name), *free[place % len(free)]) for place, name in enumerate(unknown)}
    return {name: known.get(name) or given[name] for name in names}


def _share_look(share: str, scheme: str) -> Look:
    colour, marker = _SHARES.get(share, (GREY, "D"))
    ours = scheme in (*names_of("optimum"), "exact or decomposition")
    label = f"{share}, {'ours' if ours else label_of(scheme)}"
    return Look(label, colour, marker, "-" if ours else (0, (4, 2)))


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A drawing function that runs in the report's style."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with matplotlib.rc_context(RC):
            return draw(*args, **kwargs)

    return drawn


def plain_powers(axis: "Axis") -> None:
    """Powers of ten as plain text: a figure needs no second font for them."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_formatter(NullFormatter())


def power_of_ten(value: float) -> str:
    """A power of ten as text; "" for another number.

    >>> power_of_ten(1e-12), power_of_ten(10.0), power_of_ten(3.0)
    ('10⁻¹²', '10', '')
    """
    power = round(math.log10(value))
    if not math.isclose(value, 10.0**power, rel_tol=1e-9):
        return ""
    return f"{value:g}" if 0 <= power <= 3 else "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def new_panel(title: str = "", height_in: float = HEIGHT_IN) -> tuple[Figure, "Axes"]:
    """An empty panel; to be called from a `styled` function."""
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    set_title(axes, title)
    return figure, axes


def set_title(axes: "Axes", title: str) -> None:
    """A title that stays within a panel: two lines at most."""
    lines = textwrap.wrap(literal(title), _TITLE_LETTERS)
    if len(lines) > 2:
        lines = [lines[0], lines[1][: _TITLE_LETTERS - 2] + " …"]
    if lines:
        axes.set_title("\n".join(lines), parse_math=False)


def legend_columns(labels: Iterable[str]) -> int:
    """How many columns of a legend below a panel are as wide as the panel at most; four names are two by two."""
    letters = list(map(len, labels))
    return 3 if max(letters) <= _THREE_IN_A_ROW and len(letters) != 4 else 2


class End(NamedTuple):
    """Where a line ends [data], and what it is called there; without an x at the right end of the axes."""

    label: str
    y: float
    colour: str
    x: float | None = None


def end_labels(axes: "Axes", ends: Sequence[End], least: float = 0.07) -> None:
    """Name lines at their ends, the names moved apart by `least` of the height.

    They stand right of the axes in the order of the ends; a thin line leads to an end that lies elsewhere.
    """
    to_axes, x_right = axes.transData + axes.transAxes.inverted(), axes.get_xlim()[1]
    at = [to_axes.transform((x_right if end.x is None else end.x, end.y)).clip(0.0, 1.0).tolist() for end in ends]
    placed = sorted(zip(at, ends, strict=True), key=lambda one: (one[0][1], one[1].label))
    heights = spread([y for (_, y), _ in placed], least)
    for height, ((x, y), end) in zip(heights, placed, strict=True):
        axes.annotate(
            end.label,
            xy=(1.0 if end.x is None else x, y),
            xytext=(1.05, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=8.0,
            color=readable(end.colour),
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "linewidth": 0.6,
                "shrinkA": 1.0,
                "shrinkB": 0.0,
                "relpos": (0.0, 0.5),
            },
            annotation_clip=False,
            parse_math=False,
        )


def spread(places: Sequence[float], least: float, most: float = 0.98) -> list[float]:
    """Sorted places moved as little as needed to stand `least` apart, none above `most`.

    >>> spread([0.0, 0.1, 0.9], 0.3), spread([0.5, 1.0, 1.0], 0.2, 1.0)
    ([-0.1, 0.2, 0.9], [0.5, 0.8, 1.0])
    """
    groups: list[tuple[float, int]] = []
    for place in places:
        centre, count = place, 1
        # A group is centred on the mean of its places; it swallows the one below while they touch.
        while True:
            centre = min(centre, most - (count - 1) * least / 2)
            if not groups or centre - groups[-1][0] >= (count + groups[-1][1]) * least / 2:
                break
            below, number = groups.pop()
            centre, count = (below * number + centre * count) / (number + count), number + count
        groups.append((centre, count))
    return [round(centre + (place - (count - 1) / 2) * least, 12) for centre, count in groups for place in range(count)]


def readable(colour: str) -> str:
    """The colour, darker where text in it would be too pale on white."""
    darker = {
        ORANGE: "#9A6A00",
        SKY: "#1B78B0",
        YELLOW: "#7A7300",
        PURPLE: "#A34A7C",
        GREEN: "#007354",
        VERMILION: "#A84A00",
    }
    return darker.get(colour, colour)


def rendered(figure: Figure, form: Form, name: str) -> bytes:
    """The figure as SVG or PDF, the same bytes for the same figure; as PDF last, which may write codes for letters.

    Parameters
    ----------
    figure : Figure
    form : "svg" or "pdf"
    name : str
        Salt of the identifiers in an SVG, so that those of two figures in one page differ.
    """
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}}[form]
    buffer = io.BytesIO()
    with matplotlib.rc_context(RC | {"svg.hashsalt": f"msopt-{name}"}), warnings.catch_warnings():
        # An SVG keeps its texts, whose letters a browser finds in its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        if form == "pdf":
            give_letters(figure)
        figure.savefig(buffer, format=form, metadata=metadata)
        figure.set_layout_engine(None)  # it is laid out now, for its other form, too
    return buffer.getvalue()


_ID, _REFERENCE = re.compile(r' id="([^"]*)"'), re.compile(r"#([^)\"]+)")
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_BLANKS, _DIGITS = re.compile(r"\s*\n\s*"), re.compile(r"(\d\.\d\d)\d+")


def inline(svg: str, alt: str) -> str:
    """An SVG file as an element of an HTML page.

    Without prologue, metadata, fixed size, names that nothing refers to (two figures have the same), and digits
    below a hundredth of a point; with words for those who cannot see it.
    """
    body = _METADATA.sub("", svg[svg.index("<svg") :])
    used = set(_REFERENCE.findall(body))
    body = _ID.sub(lambda found: found[0] if found[1] in used else "", body)
    body = _DIGITS.sub(r"\1", _BLANKS.sub("\n", body)).replace('\n"', '"')
    head, rest = body.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    return f'<svg {box[0]} role="img" aria-label="{html.escape(alt)}">{rest}'
