"""What the papers' settings state, and what stands where they are silent: the table `settings`."""

from typing import TYPE_CHECKING

from msopt import PRESETS
from msopt.drawn.presets import Preset
from msopt.rivals.grid import DEFAULT_POINTS
from reports.shared.record import Record, undrawn

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALGORITHMS = (
    (
        "[MS] Algorithm 1",
        f"grid: φ linear, λ logarithmic, {DEFAULT_POINTS} points each; rounded lengths are clipped to the limits",
    ),
    (
        "[UD] Algorithm 1",
        "greedy: lengths are capped at the scenario's longest draft; every control is scored like the others",
    ),
    ("all draws", "a draw has the same devices at every point of a figure"),
)


def settings_record() -> Record:
    """The table of what is ours in each setting, as the heads of drawn scenarios say it."""
    import pandas as pd

    rows = [{"of": preset.name, "statement": text} for preset in PRESETS.values() for text in _ours(preset)]
    rows += [{"of": name, "statement": text} for name, text in _ALGORITHMS]
    table = pd.DataFrame(rows).groupby("statement", sort=False, as_index=False).agg(of=("of", ", ".join))
    about = undrawn("What the papers do not state, and what we put there", "msopt.drawn.presets")
    return Record({"tables": {"settings": about}}, {"settings": table})


def _ours(preset: Preset) -> "Iterator[str]":
    for text in (*preset.cell.ours, *preset.ours):
        yield text.format(p=preset, c=preset.cell)
