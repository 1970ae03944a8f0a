"""A play while it runs, on standard error: devices, their texts, the last round, goodput beside the formula's.

It redraws in place, never more than a few times a second, and takes a small part of the time that the play takes.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from msopt import Scenario
from msopt.emulation.played_rounds import PlayedRounds
from msopt.emulation.sources import Watch
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
from reports.shared.words import counted, literal, number

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

Texts = Callable[[], Sequence[str]]
"""Every device's text as it stands."""
LEAST_S, PART = 0.25, 0.02
"""Between two drawings at least, and the part of the time that they may take."""
DRAFTS_AT_ONCE = 100_000
"""Of a piece of a play without models."""
_BAR = 36
_MOST_ROWS, _ROWS_AROUND = 40, 9
_NAME = 14
_LOOKS = {
    DRAFTS: ("▓", "blue"),
    SENDS: ("»", "yellow"),
    WAITS: ("·", "bright_black"),
    VERIFIED: ("█", "green"),
    UPLINK: ("↑", "red"),
    DOWNLINK: ("↓", "magenta"),
    MISSED: ("x", "red"),
}


@contextlib.contextmanager
def live_view(
    scenario: Scenario, rounds: int, *, quiet: bool, texts: Texts | None = None, rounds_at_once: int | None = None
) -> Iterator[Watch | None]:
    """What `emulate` is told to `watch`; None where nothing is shown: asked to be quiet, or no terminal.

    Parameters
    ----------
    scenario : Scenario
    rounds : int
        Of the play.
    quiet : bool
    texts : callable, optional
        Where devices write texts.
    rounds_at_once : int, optional
        1 where models play; else as many as pass quickly.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with LiveView(Console(stderr=True), scenario.name, rounds, texts) as view:
        yield Watch(rounds_at_once or max(1, DRAFTS_AT_ONCE // scenario.device_count), view.see)


class LiveView:
    """The view of one play, of which it is told piece by piece; `now_s` is a clock of its own in tests."""

    def __init__(
        self,
        console: "Console",
        name: str,
        rounds: int,
        texts: Texts | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console, self._name, self._rounds, self._texts, self._now_s = console, name, rounds, texts, now_s
        self._live: Live | None = None
        self._played, self._tokens, self._each = 0, 0, np.zeros(0, dtype=np.int64)
        self._next_s = now_s() + LEAST_S

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def see(self, piece: PlayedRounds) -> None:
        """Count what has been played, and draw it if it is time."""
        each = np.sum(piece.tokens, axis=0)
        self._each = each if self._played == 0 else self._each + each
        self._played, self._tokens = self._played + piece.rounds, self._tokens + int(each.sum())
        begin_s = self._now_s()
        if begin_s >= self._next_s:
            self._draw(piece)
            now_s = self._now_s()
            self._next_s = now_s + max(LEAST_S, (now_s - begin_s) / PART)

    def _draw(self, piece: PlayedRounds) -> None:
        from rich.live import Live

        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self.shown(piece), refresh=True)

    def shown(self, piece: PlayedRounds) -> "RenderableType":
        """The view after a piece."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        room = max(1, min(_MOST_ROWS, self._console.height - _ROWS_AROUND))
        shown = min(room, len(piece.device_names))
        grid = Table(box=None, pad_edge=False, padding=(0, 1), expand=True)
        for head in ("", "last round", "won", "tokens"):
            grid.add_column(head, no_wrap=True, justify="right" if head == "tokens" else "left")
        grid.add_column("text" if self._texts else "", no_wrap=True, ratio=1, overflow="crop")
        tails = self._tails(shown)
        most = max(1, int(self._each.max()))
        last = piece.rounds - 1
        begin_s, end_s = float(piece.start_s[last]), float(piece.start_s[last + 1])
        for device in range(shown):
            steps = device_steps(piece, last, device)
            bar = _bar(steps, begin_s, end_s) if steps else Text("away", style="bright_black")
            told = tails[device] if tails else "▪" * round(20 * int(self._each[device]) / most)
            name = literal(piece.device_names[device])[:_NAME]
            written = Text(told) if tails else Text(told, style="green")
            grid.add_row(Text(name), bar, Text(won(piece, last, device)), str(self._each[device]), written)
        grid.add_row(Text("server", style="bold"), _bar(server_steps(piece, last), begin_s, end_s), "", "", "")
        more = len(piece.device_names) - shown
        below = [Text(f"and {counted(more, 'more device')}", style="bright_black")] if more else []
        return Group(self._head(piece), grid, *below, _legend())

    def _head(self, piece: PlayedRounds) -> "Text":
        """Where the play stands, and what it has delivered beside what was predicted."""
        from rich.text import Text

        seconds = float(piece.start_s[-1])
        goodput = self._tokens / seconds if seconds > 0.0 else 0.0
        scale = 20.0 / max(goodput, piece.predicted, 1e-300)
        head = Text(f"{literal(self._name)}: round {self._played} of {self._rounds}, {number(seconds, 4)} s", "bold")
        for what, value, style in (("realised ", goodput, "green"), ("predicted", piece.predicted, "bright_black")):
            head.append(f"\n{what} {number(value, 4):>8} token/s ", style="default")
            head.append("━" * round(scale * value), style=style)
        return head

    def _tails(self, shown: int) -> list[str]:
        if self._texts is None:
            return []
        room = max(10, self._console.width - _NAME - _BAR - 24)
        return [literal(text[-room:].replace("\n", " ")) for text in list(self._texts())[:shown]]


def _bar(steps: Sequence[Step], begin_s: float, end_s: float) -> "Text":
    """The steps of a round side by side, each as wide as it is long."""
    from rich.text import Text

    bar, place = Text(), 0
    for name, until_s in steps:
        end = round(_BAR * (until_s - begin_s) / (end_s - begin_s)) if end_s > begin_s else 0
        letter, style = _LOOKS[name]
        bar.append(letter * (end - place), style=style)
        place = max(place, end)
    return bar


def _legend() -> "Text":
    from rich.text import Text

    legend = Text()
    for name in STEPS:
        letter, style = _LOOKS[name]
        legend.append(letter * 2, style=style).append(f" {name}   ", style="bright_black")
    return legend
