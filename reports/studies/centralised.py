"""The draft time at which [MS]'s numbers over Cen-SPIN come out, for each reading of how the server drafts."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from msopt import PRESETS, Scenario, draw
from msopt.rivals.baselines import centralised_goodput
from reports.studies.paper_figures import GOODPUT, pair
from reports.studies.quoted import QUOTED, REALISATIONS
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

SERIAL = {"centralised": False, "centralised-serial": True}
PLAUSIBLE = 2.0
"""A draft time is plausible within such a factor of what [UD] measured on the same kind of GPU (ours)."""
_RANGE_S = (1e-5, 10.0)


def implied_draft_times(draws: "pd.DataFrame", devices: int) -> "pd.DataFrame":
    """One row for each quoted ratio: the time per token at which it comes out, and whether that is plausible.

    Parameters
    ----------
    draws : DataFrame
        Of [MS] Fig. 6; as many of its draws are used as the paper has realisations.
    devices : int
    """
    import pandas as pd

    rows = []
    for record in QUOTED:
        if record.over not in SERIAL:
            continue
        few = draws[(draws["pair"] == pair(record.preset)) & (draws["draw"] < REALISATIONS)]
        means = few.groupby("scheme")[GOODPUT].mean()
        seeds = few[few["scheme"] == OPTIMUM]["scenario_seed"]
        cells = [draw(record.preset, devices=devices, seed=int(seed))[0] for seed in seeds]
        wanted = float(means[OPTIMUM]) / record.quoted
        implied = implied_draft_s(cells, wanted, serial=SERIAL[record.over])
        measured = PRESETS[record.preset].server_draft_s_per_token
        near = implied is not None and 1.0 / PLAUSIBLE <= implied / measured <= PLAUSIBLE
        rows.append(
            {
                "pair": pair(record.preset),
                "scheme": record.over,
                "quoted_ratio": record.quoted,
                "centralised_tokens_per_s": wanted,
                "server_only_tokens_per_s": float(means["server-only"]),
                "draft_s_per_token": implied,
                "measured_s_per_token": measured,
                "plausible": near,
            }
        )
    return pd.DataFrame(rows)


def implied_draft_s(cells: Sequence[Scenario], goodput: float, *, serial: bool) -> float | None:
    """The time per token at which Cen-SPIN has a mean goodput over some scenarios [s]; None where none does."""

    def excess(log_s: float) -> float:
        return _mean_goodput(cells, float(np.exp(log_s)), serial) - goodput

    ends = tuple(np.log(end) for end in _RANGE_S)
    if not excess(ends[0]) > 0.0 > excess(ends[1]):
        return None
    return float(np.exp(_root(excess, *ends)))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-6))


def _mean_goodput(cells: Sequence[Scenario], draft_s: float, serial: bool) -> float:
    at = (cell.replace(server_draft_s_per_token=draft_s) for cell in cells)
    return float(np.mean([centralised_goodput(cell, "heterogeneous", serial=serial) for cell in at]))
