"""The first rounds of a play as a timeline: who drafts, sends, waits, is verified and corrected."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from msopt.emulation.played_rounds import PlayedRounds
from msopt.shown.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from reports.plots.style import WIDTH_IN, new_panel, styled
from reports.shared.words import counted, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DEVICES_SHOWN = 12
ROUNDS_SHOWN = 3
_ROW_IN, _REST_IN = 0.27, 1.45
_LONGEST = 16
_LEAST_ROOM = 0.06
_WAITS = "#E4E4E4"
_STEPS = {
    "drafts": (BLUE, ""),
    "sends its draft": (ORANGE, ""),
    "waits": (_WAITS, ""),
    "is verified, by the server": (GREEN, ""),
    "exchanges a distribution, uplink": (VERMILION, "///"),
    "exchanges a distribution, downlink": (PURPLE, "..."),
    "its draft is lost": ("white", "xxx"),
}


@styled
def timeline_panel(played: PlayedRounds, title: str = "") -> Figure:
    """A row for each of the first devices, the server's below them; what every device won at the end of its draft.

    Parameters
    ----------
    played : PlayedRounds
    title : str
    """
    rounds = min(ROUNDS_SHOWN, played.rounds)
    shown = min(MOST_DEVICES_SHOWN, len(played.device_names))
    figure, axes = new_panel("", _REST_IN + _ROW_IN * (shown + 1))
    figure.set_figwidth(2.0 * WIDTH_IN)
    end_s = float(played.start_s[rounds])
    _frame(axes, played, shown, end_s, title)
    used = set()
    for place in range(rounds):
        for device in range(shown):
            used |= _device_bars(axes, played, place, device)
        used |= _server_bars(axes, played, place, shown)
    for number, begin_s in enumerate(played.start_s[:rounds]):
        axes.axvline(begin_s, color=BLACK, linewidth=0.7)
        middle = 0.5 * (begin_s + played.start_s[number + 1])
        axes.text(middle, -0.62, f"round {number + 1}", ha="center", va="bottom", fontsize=8.5)
    axes.axvline(end_s, color=BLACK, linewidth=0.7)
    handles = [Patch(label=name, linewidth=0.3, **_look(name)) for name in _STEPS if name in used]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8.0, handlelength=1.4)
    return figure


def _frame(axes: "Axes", played: PlayedRounds, shown: int, end_s: float, title: str) -> None:
    names = [_short(name) for name in played.device_names[:shown]]
    axes.set_yticks(range(shown + 1), [*names, "server"], parse_math=False, fontsize=8.5)
    axes.set_ylim(shown + 0.55, -0.6)
    axes.set_xlim(0.0, end_s)
    axes.set_title(literal(title), pad=18.0, parse_math=False)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    more = len(played.device_names) - shown
    left_out = f"; {counted(more, 'more device')} not shown" if more else ""
    axes.set_xlabel(f"time [s]; 2/3 + 1: two of three drafted tokens accepted, and one more{left_out}")


def _device_bars(axes: "Axes", played: PlayedRounds, place: int, device: int) -> set[str]:
    """One device in one round, from the left; returns which steps there were."""
    if not played.drafts[place, device]:
        middle = 0.5 * (played.start_s[place] + played.start_s[place + 1])
        axes.text(middle, device, "takes no part", ha="center", va="center", fontsize=7.5)
        return set()
    if not played.arrives[place, device]:
        lost = (
            ("drafts", played.draft_end_s[place, device]),
            ("sends its draft", played.upload_end_s[place, device]),
            ("its draft is lost", played.start_s[place + 1]),
        )
        return _bars(axes, device, float(played.start_s[place]), lost)
    exchange = ("waits", "exchanges a distribution, uplink", "exchanges a distribution, downlink")
    steps = (
        ("drafts", played.draft_end_s[place, device]),
        ("sends its draft", played.upload_end_s[place, device]),
        ("waits", played.verify_start_s[place]),
        ("is verified, by the server", played.verified_s[place]),
        (exchange[played.mode[place, device]], played.corrected_s[place, device]),
        ("waits", played.start_s[place + 1]),
    )
    used = _bars(axes, device, float(played.start_s[place]), steps)
    drafted, accepted, won = (int(of[place, device]) for of in (played.drafted, played.accepted, played.tokens))
    _inside(axes, played, place, device, f"{accepted}/{drafted}" + (f" + {won - accepted}" if won > accepted else ""))
    return used


def _server_bars(axes: "Axes", played: PlayedRounds, place: int, row: int) -> set[str]:
    steps = (
        ("waits", played.verify_start_s[place]),
        ("is verified, by the server", played.verified_s[place]),
        ("waits", played.start_s[place + 1]),
    )
    used = _bars(axes, row, float(played.start_s[place]), steps)
    _inside(axes, played, place, row, "verifies")
    return used


def _inside(axes: "Axes", played: PlayedRounds, place: int, row: int, text: str) -> None:
    """A text in the bar of the verification, where there is room for it."""
    begin_s, end_s = played.verify_start_s[place], played.verified_s[place]
    if end_s - begin_s > _LEAST_ROOM * axes.get_xlim()[1]:
        axes.text(0.5 * (begin_s + end_s), row, text, ha="center", va="center", fontsize=7.5, color="white")


def _bars(axes: "Axes", row: int, begin_s: float, steps: Sequence[tuple[str, float]]) -> set[str]:
    """Steps one after another, each up to some time; returns which there were."""
    used = set()
    for name, end_s in steps:
        if end_s > begin_s:
            axes.barh(row, end_s - begin_s, left=begin_s, height=0.78, linewidth=0.3, **_look(name))
            used.add(name)
            begin_s = end_s
    return used


def _look(step: str) -> dict[str, Any]:
    colour, hatch = _STEPS[step]
    return {"facecolor": colour, "edgecolor": GREY if colour == "white" else "white", "hatch": hatch}


def _short(name: str) -> str:
    shown = literal(name)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
