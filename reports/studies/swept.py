"""The results of a sweep as an object: where they lie, what they come to, a table and a picture."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msopt.shown.object_summary import Shown, Summary, counted, figures
from msopt.shown.palette import SERIES
from msopt.shown.pictures import axes_for, titled
from reports.shared.quantities import QUANTITIES, axis_of
from reports.shared.rows import Row
from reports.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_GOODPUT = "goodput_tokens_per_s"


@dataclass(frozen=True, repr=False, eq=False)
class Swept(Shown):
    """What a sweep found.

    Attributes
    ----------
    study : Study
    results : Path
        The Parquet file, a row for each point and method.
    rows : int
    faults : list of dict
        Those rows in which a method has no answer.
    """

    study: Study
    results: Path
    rows: int
    faults: list[Row] = field(default_factory=list)

    def to_frame(self) -> "DataFrame":
        """Every row; loads pandas."""
        import pandas as pd

        return pd.read_parquet(self.results)

    def summary(self) -> Summary:
        """What `repr`, `print` and a notebook show of it: the mean goodput of each method."""
        means = self.to_frame().groupby("scheme", sort=False)[_GOODPUT].agg(["mean", "count"])
        facts = {"results": str(self.results), "rows": str(self.rows)}
        if self.faults:
            facts["without an answer"] = counted(len(self.faults), "row")
        columns = {
            "method": [str(scheme) for scheme in means.index],
            f"mean {QUANTITIES[_GOODPUT].head}": [figures(mean) for mean in means["mean"]],
            "rows": [str(count) for count in means["count"]],
        }
        return Summary(f"Sweep {self.study.name}, problem {self.study.problem}", facts, columns)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Mean goodput of each method along the first axis of numbers, or as bars; loads matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        rows, axes = self.to_frame().dropna(subset=[_GOODPUT]), axes_for(ax)
        along = next((name for name, values in self.study.axes.items() if all(map(_is_number, values))), None)
        if along is None:
            means = rows.groupby("scheme", sort=False)[_GOODPUT].mean()
            axes.barh([str(scheme) for scheme in means.index][::-1], means.to_numpy()[::-1], color=SERIES[0][0])
            axes.set_xlabel(QUANTITIES[_GOODPUT].axis)
            return titled(axes, self.study.name)
        names = ["base", "scheme"] if rows["base"].nunique() > 1 else ["scheme"]
        quantity = axis_of(along)
        for place, (key, group) in enumerate(rows.groupby(names, sort=False)):
            colour, marker, line = SERIES[place % len(SERIES)]
            mean = group.groupby(along)[_GOODPUT].mean()
            at, name = quantity.factor * mean.index.to_numpy(dtype=float), ", ".join(map(str, key))
            axes.plot(at, mean.to_numpy(), color=colour, marker=marker, linestyle=line, label=name)
        axes.set_xlabel(quantity.axis)
        axes.set_ylabel(f"mean {QUANTITIES[_GOODPUT].axis}")
        axes.legend(frameon=False, fontsize=8.0)
        return titled(axes, self.study.name)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
