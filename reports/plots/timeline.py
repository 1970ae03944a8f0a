"""The first rounds of a play as a timeline: who drafts, sends, waits, is verified and corrected."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from msopt.emulation.played_rounds import PlayedRounds
from msopt.shown import palette
from msopt.shown.palette import BLACK, GREY, PURPLE
from reports.plots.style import WIDTH_IN, new_panel, styled
from reports.shared.round_steps import (
    DOWNLINK,
    DRAFTS,
    MISSED,
    SENDS,
    STEPS,
    UPLINK,
    VERIFIED,
    WAITS,
    Step,
    device_steps,
    server_steps,
    won,
)
from reports.shared.words import counted, literal, per_cent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DEVICES_SHOWN = 20
ROUNDS_SHOWN = 3
_ROW_IN, _REST_IN = 0.27, 1.45
_LONGEST = 16
_THIN = 0.01
"""Of the width: a step as short is a line in its colour."""
_ROUND_OFF = 1e-9
_LETTER_IN = 0.062
"""Width of a letter in a bar."""
_LOOKS = {
    DRAFTS: (*palette.DRAFTS, 0.78),
    SENDS: (*palette.SENDS, 0.78),
    WAITS: ("#B5B5B5", "", 0.12),
    VERIFIED: (*palette.VERIFIES, 0.78),
    UPLINK: (*palette.CORRECTS, 0.78),
    DOWNLINK: (PURPLE, "...", 0.78),
    MISSED: ("white", "xxx", 0.78),
}
"""Colour, hatch, and height of a bar: who waits does nothing, and is a line."""


@styled
def timeline_panel(
    played: PlayedRounds, title: str = "", *, rounds: int = ROUNDS_SHOWN, width_in: float = 2.0 * WIDTH_IN
) -> Figure:
    """A row for each of the first devices, the server's below them; what every device won at the end of its draft.

    Parameters
    ----------
    played : PlayedRounds
    title : str
    rounds : int
        To show at most.
    width_in : float
    """
    rounds = min(rounds, played.rounds)
    shown = min(MOST_DEVICES_SHOWN, len(played.device_names))
    figure, axes = new_panel("", _REST_IN + _ROW_IN * (shown + 1))
    figure.set_figwidth(width_in)
    _frame(axes, played, shown, float(played.start_s[rounds]), title)
    took_s: defaultdict[str, float] = defaultdict(float)
    for place in range(rounds):
        for device in range(shown):
            _device(axes, played, place, device, took_s)
        _bars(axes, shown, float(played.start_s[place]), server_steps(played, place))
        _inside(axes, played, place, shown, "verifies")
        middle = 0.5 * (played.start_s[place] + played.start_s[place + 1])
        axes.text(middle, -0.62, f"round {place + 1}", ha="center", va="bottom", fontsize=8.5)
    for edge_s in played.start_s[: rounds + 1]:
        axes.axvline(edge_s, color=BLACK, linewidth=0.9, zorder=0.5)
    _legend(figure, played, rounds, dict(took_s), width_in)
    return figure


def _legend(figure: Figure, played: PlayedRounds, rounds: int, took_s: dict[str, float], width_in: float) -> None:
    """The steps in the order of a round, each with its share of the devices' time; what stands in the bars."""
    whole_s = sum(took_s.values())
    shares = {name: took_s[name] / whole_s for name in STEPS if name in took_s}
    handles = [
        Patch(label=f"{name} ({_share(share)})", linewidth=0.3, **_look(name))
        for name, share in shares.items()
        if share > _ROUND_OFF
    ]
    columns = min(len(handles), 3 if len(handles) > 4 else 4) if width_in > WIDTH_IN else 2
    figure.legend(
        handles=[
            handle for column in range(columns) for handle in handles[column::columns]
        ],  # rows, not columns, first
        loc="outside lower center",
        ncols=columns,
        fontsize=8.0,
        handlelength=1.6,
        columnspacing=1.4,
        title=f"{_example(played, rounds)}\nin brackets: the share of the devices' time",
        title_fontsize=8.0,
    )


def _share(share: float) -> str:
    return "under 0.1 %" if share < 0.001 else per_cent(float(f"{share:.2g}"))


def _example(played: PlayedRounds, rounds: int) -> str:
    """What the words in the bars mean, told of one that is there: best one accepted in part."""
    part = (played.accepted > 0) & (played.accepted < played.drafted) & (played.tokens > played.accepted)
    found = np.argwhere(part[:rounds, :MOST_DEVICES_SHOWN])
    accepted, drafted = (1, 3)
    if len(found):
        accepted, drafted = (int(of[tuple(found[0])]) for of in (played.accepted, played.drafted))
    return (
        f"{accepted}/{drafted} + 1: {accepted} of {counted(drafted, 'drafted token')} accepted, then 1 of the server's"
    )


def _frame(axes: "Axes", played: PlayedRounds, shown: int, end_s: float, title: str) -> None:
    names = [_short(name) for name in played.device_names[:shown]]
    axes.set_yticks(range(shown + 1), [*names, "server"], parse_math=False, fontsize=8.5)
    axes.get_yticklabels()[-1].set_fontweight("bold")
    axes.axhline(shown - 0.5, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_ylim(shown + 0.55, -0.6)
    axes.set_xlim(0.0, 1.004 * end_s)  # the last step may be a thin line
    axes.set_title(literal(title), pad=18.0, parse_math=False)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    more = len(played.device_names) - shown
    axes.set_xlabel("time [s]" + (f"; {counted(more, 'more device')} not shown" if more else ""))


def _device(axes: "Axes", played: PlayedRounds, place: int, device: int, took_s: defaultdict[str, float]) -> None:
    """One device in one round, from the left; adds up how long every step takes."""
    steps, begin_s = device_steps(played, place, device), float(played.start_s[place])
    if not steps:
        middle = 0.5 * (begin_s + played.start_s[place + 1])
        axes.text(middle, device, "takes no part", ha="center", va="center", fontsize=7.5)
        return
    for name, seconds in _bars(axes, device, begin_s, steps):
        took_s[name] += seconds
    _inside(axes, played, place, device, won(played, place, device))


def _inside(axes: "Axes", played: PlayedRounds, place: int, row: int, text: str) -> None:
    """A text in the bar of the verification, where there is room for it."""
    begin_s, end_s = played.verify_start_s[place], played.verified_s[place]
    room_in = axes.bbox.width / axes.figure.dpi
    if (end_s - begin_s) / axes.get_xlim()[1] * room_in > _LETTER_IN * len(text):
        axes.text(0.5 * (begin_s + end_s), row, text, ha="center", va="center", fontsize=7.5, color="white")


def _bars(axes: "Axes", row: int, begin_s: float, steps: Sequence[Step]) -> list[tuple[str, float]]:
    """Steps one after another, each up to some time; returns which there were and how long."""
    took = []
    for name, end_s in steps:
        if end_s > begin_s:
            thin = end_s - begin_s < _THIN * axes.get_xlim()[1] and name != WAITS
            look = (
                {"color": _LOOKS[name][0], "linewidth": 1.0, "zorder": 1.5}
                if thin
                else {"linewidth": 0.3, **_look(name)}
            )
            axes.barh(row, end_s - begin_s, left=begin_s, height=_LOOKS[name][2], **look)
            took.append((name, float(end_s) - begin_s))
            begin_s = float(end_s)
    return took


def _look(step: str) -> dict[str, Any]:
    colour, hatch, _ = _LOOKS[step]
    return {"facecolor": colour, "edgecolor": GREY if colour == "white" else "white", "hatch": hatch}


def _short(name: str) -> str:
    shown = literal(name)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
