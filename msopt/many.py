"""Many scenarios of one size at once: fading traces, sweeps, Monte Carlo."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.lengths.gap import BOUND_RTOL
from msopt.lengths.relaxed import solve_jointly
from msopt.lengths.response import Response
from msopt.lengths.together import best_whole_lengths
from msopt.model.goodput import play
from msopt.model.scenario import Problem, Scenario
from msopt.model.stack import ScenarioStack
from msopt.shown.object_summary import Shown, Summary, counted, spread_of
from msopt.shown.pictures import share_at_most
from msopt.solve import solve

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from msopt.shown.pictures import Axes

LARGEST_TOGETHER = 64
"""Devices up to which scenarios are solved together: beyond, moves of all pairs of devices cost more than `solve`."""
_MOVES_AT_ONCE = 200_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class ManySolutions(Shown):
    """The controls of S scenarios with K devices each.

    Attributes
    ----------
    goodput : array, shape (S,)
        Of the whole control of each, scored by the evaluator [token/s].
    bound : array, shape (S,)
        No control of the scenario has more goodput [token/s]; where the rows were solved together, the relaxed
        optimum, which is less tight than that of `solve`. NaN for variants that maximise something else.
    draft_length : array of int, shape (S, K)
    bandwidth_hz : array, shape (S, K)
    """

    goodput: FloatArray
    bound: FloatArray
    draft_length: IntArray
    bandwidth_hz: FloatArray

    @property
    def gap(self) -> FloatArray:
        """bound/goodput - 1, shape (S,)."""
        return self.bound / self.goodput - 1.0

    def summary(self) -> Summary:
        """What `repr`, `print` and a notebook show of it."""
        count, devices = self.draft_length.shape
        facts = {
            "goodput": spread_of(self.goodput.tolist(), "token/s"),
            "mean": f"{np.mean(self.goodput):.4g} token/s",
            "draft lengths": spread_of(self.draft_length.ravel().tolist(), "token"),
        }
        return Summary(f"{counted(count, 'solution')} of {counted(devices, 'device')}", facts)

    def to_frame(self) -> "pd.DataFrame":
        """A row for each scenario and device, indexed by both; loads pandas."""
        import pandas as pd  # noqa: PLC0415  (a heavy library, loaded only here)

        count, devices = self.draft_length.shape
        index = pd.MultiIndex.from_product([range(count), range(devices)], names=["scenario", "device"])
        columns = {
            "draft_length": self.draft_length.ravel(),
            "bandwidth_hz": self.bandwidth_hz.ravel(),
            "goodput_tokens_per_s": np.repeat(self.goodput, devices),
            "bound_tokens_per_s": np.repeat(self.bound, devices),
        }
        return pd.DataFrame(columns, index=index)

    def to_xarray(self) -> "xr.Dataset":
        """Labelled arrays over `scenario` and `device`, with units; loads xarray, which is to be installed for it."""
        import xarray as xr  # noqa: PLC0415  (a heavy library, loaded only here)

        of_each = {"units": "token/s"}
        return xr.Dataset(
            {
                "goodput": ("scenario", self.goodput, of_each),
                "bound": ("scenario", self.bound, of_each),
                "draft_length": (("scenario", "device"), self.draft_length, {"units": "token"}),
                "bandwidth": (("scenario", "device"), self.bandwidth_hz, {"units": "Hz"}),
            }
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The distribution of the goodput over the scenarios, on `ax` or a new figure; loads matplotlib."""
        return share_at_most(ax, self.goodput, "goodput [token/s]")


def solve_many(scenarios: Iterable[Scenario], problem: Problem = "heterogeneous") -> ManySolutions:
    """Solve one problem of many scenarios by method `decomposition`.

    Scenarios of problem `heterogeneous` with the geometric law are solved together, in arrays; the few that sit at
    a kink, and all others, one by one. The answer for a scenario is the same to the last digit whatever others
    are solved with it.

    Raises
    ------
    ParameterError
        Where there are no scenarios or they differ in the number of devices.
    """
    scenarios = list(scenarios)
    counts = {scenario.device_count for scenario in scenarios}
    if len(counts) != 1:
        raise ParameterError(f"solve_many needs scenarios with one number of devices; given are {sorted(counts)}")
    devices = counts.pop()
    found = ManySolutions(
        np.zeros(len(scenarios)),
        np.zeros(len(scenarios)),
        np.zeros((len(scenarios), devices), dtype=np.int64),
        np.zeros((len(scenarios), devices)),
    )
    together = _alike(scenarios) if problem == "heterogeneous" and devices <= LARGEST_TOGETHER else []
    alone = np.ones(len(scenarios), dtype=bool)
    for rows in together:
        alone[rows] = ~_solve_together(scenarios, rows, found)
    _log.info("%d scenarios of %d devices, %d of them one by one", len(scenarios), devices, np.count_nonzero(alone))
    for row in np.flatnonzero(alone):
        _solve_alone(scenarios[int(row)], problem, int(row), found)
    return found


def _alike(scenarios: Sequence[Scenario]) -> Iterator[IntArray]:
    """Rows that the same formulas serve, few enough at once for the memory."""
    kinds: dict[tuple[object, ...], list[int]] = {}
    for row, scenario in enumerate(scenarios):
        if scenario.acceptance.geometric and not scenario.variant_fields:
            kinds.setdefault((scenario.uplink_sharing, scenario.verify_per_token_s > 0.0), []).append(row)
    most = max(1, _MOVES_AT_ONCE // (scenarios[0].device_count + 1) ** 2)
    for rows in kinds.values():
        for first in range(0, len(rows), most):
            yield np.array(rows[first : first + most])


def _solve_together(scenarios: Sequence[Scenario], rows: IntArray, found: ManySolutions) -> BoolArray:
    """Fill in some rows; which of them are proven."""
    stack = ScenarioStack.of([scenarios[int(row)] for row in rows])
    response = Response(stack)
    relaxed = solve_jointly(response)
    lengths = best_whole_lengths(response, relaxed.draft_length)
    _, share = response.split(lengths)
    goodput = play(stack, "heterogeneous", lengths, share).goodput
    bound = (relaxed.goodput * (1.0 + np.maximum(relaxed.gap, BOUND_RTOL)))[:, 0]
    found.goodput[rows], found.bound[rows] = goodput, np.maximum(bound, goodput)
    found.draft_length[rows], found.bandwidth_hz[rows] = np.rint(lengths), share
    return relaxed.proven


def _solve_alone(scenario: Scenario, problem: Problem, row: int, found: ManySolutions) -> None:
    solution = solve(scenario, problem)
    assert solution.control is not None
    found.goodput[row] = solution.goodput
    found.bound[row] = np.nan if solution.bound is None else solution.bound
    found.draft_length[row], found.bandwidth_hz[row] = solution.control.draft_length, solution.control.bandwidth_hz
