"""The view of a play while it runs: what it shows, when it is silent, and how little of the time it takes."""

import io
from typing import Any

import pytest
from rich.console import Console

from msopt import Fault, FaultPlan, LeftOut, emulate
from msopt.emulation.played_rounds import PlayedRounds
from msopt.emulation.sources import Watch
from reports.shared import live_view
from reports.shared.live_view import LEAST_S, LiveView
from tests.cases import s3, scenario_of
from tests.msopt.emulation.test_played_rounds import control_of

CELL = scenario_of(s3())
LEFT_OUT = LeftOut(faults=FaultPlan(faults=(Fault(kind="dropout", devices=("dev-3",), first_round=4),)))


class Terminal:
    """A terminal of some size, and a clock that a drawing moves on."""

    def __init__(self, drawing_s: float | None = None, height: int = 30) -> None:
        self.out, self.now_s, self.drawn = io.StringIO(), 0.0, 0
        self.console = Console(file=self.out, force_terminal=True, width=100, height=height, color_system=None)
        self._drawing_s = drawing_s

    def view(self, **options: Any) -> LiveView:
        view = LiveView(self.console, "cell", 40, now_s=lambda: self.now_s, **options)
        if self._drawing_s is not None:
            view.shown = self._slowly  # type: ignore[method-assign]
        return view

    def _slowly(self, piece: PlayedRounds) -> str:
        del piece
        self.now_s, self.drawn = self.now_s + (self._drawing_s or 0.0), self.drawn + 1
        return ""


def played(watch: Watch) -> PlayedRounds:
    return emulate(CELL, control_of(CELL, "modes", [3, 3, 3]), 40, left_out=LEFT_OUT, seed=1, watch=watch)


def text_of(terminal: Terminal, view: LiveView) -> tuple[str, PlayedRounds]:
    pieces: list[PlayedRounds] = []
    whole = played(Watch(8, lambda piece: (view.see(piece), pieces.append(piece))))
    terminal.console.print(view.shown(pieces[-1]))
    return terminal.out.getvalue(), whole


def test_what_it_shows() -> None:
    terminal = Terminal()
    out, whole = text_of(terminal, terminal.view(texts=lambda: ["once\nupon", "a", "time"]))
    assert "round 40 of 40" in out
    assert f"realised  {whole.goodput:>8.4g} token/s" in out
    assert f"predicted {whole.predicted:>8.4g} token/s" in out
    lines = out.splitlines()
    (first,) = [line for line in lines if "dev-1" in line]
    assert f"{whole.accepted[-1, 0]}/{whole.drafted[-1, 0]} + 1" in first
    assert str(whole.tokens[:, 0].sum()) in first
    assert "once upon" in first
    share = (whole.verified_s - whole.verify_start_s)[-1] / whole.round_s[-1]
    assert first.count("█") == pytest.approx(36 * share, abs=1.0)
    (third,) = [line for line in lines if "dev-3" in line]
    assert "away" in third


def test_a_small_terminal_is_not_overrun() -> None:
    terminal = Terminal(height=10)
    out, _ = text_of(terminal, terminal.view())
    assert "and 2 more devices" in out
    assert len(out.splitlines()) <= 10


@pytest.mark.parametrize(("drawing_s", "drawn"), [(0.1, (7, 9)), (0.0, (150, 160))])
def test_drawing_takes_a_small_part_of_the_time(drawing_s: float, drawn: tuple[int, int]) -> None:
    """Pieces of a hundredth of a second: drawings of a tenth come every five seconds, quick ones four a second."""
    terminal = Terminal(drawing_s)
    piece = played(Watch(40, lambda _: None))
    with terminal.view() as view:
        for _ in range(4000):
            terminal.now_s += 0.01
            view.see(piece)
    assert drawn[0] <= terminal.drawn <= drawn[1]
    assert terminal.drawn * drawing_s < 0.05 * terminal.now_s
    assert terminal.drawn <= terminal.now_s / LEAST_S


def test_a_short_play_leaves_no_trace() -> None:
    terminal = Terminal()
    with terminal.view() as view:
        played(Watch(8, view.see))
    assert terminal.out.getvalue() == ""


@pytest.mark.parametrize(
    ("quiet", "terminal", "shown"), [(True, True, False), (False, False, False), (False, True, True)]
)
def test_who_asks_for_quiet_or_has_no_terminal_sees_nothing(
    monkeypatch: pytest.MonkeyPatch, quiet: bool, terminal: bool, shown: bool
) -> None:
    monkeypatch.setattr(live_view.sys.stderr, "isatty", lambda: terminal)
    with live_view.live_view(CELL, 40, quiet=quiet) as watch:
        assert (watch is not None) == shown
