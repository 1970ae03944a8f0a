"""Where [UD] Algorithm 1 loses: to its sample average, to where it starts, or to what its path cannot reach."""

from typing import TYPE_CHECKING

from msopt import draw
from msopt.modes.expected import expected_correction
from msopt.modes.mode_problem import ModeProblem
from msopt.rivals.greedy import GreedyStart, greedy_lengths
from reports.shared.estimators import ratio_of_means
from reports.shared.rows import Row
from reports.studies.paper_figures import GOODPUT, pair
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

AS_PRINTED = "1000 outcomes at each evaluation, from no drafts (the paper)"
PATHS: dict[str, GreedyStart] = {
    "exact expectations, from no drafts": "minimum",
    "exact expectations, also from the best common lengths": "common",
    "exact expectations, also with costly devices set aside": "nested",
}
"""Ways to run it, each with more of what the paper's lacks than the one before."""


def greedy_paths(preset: str, draw_number: int, seed: int, devices: int, power_dbm: float) -> list[Row]:
    """The goodput that each of them reaches in one draw at one downlink power."""
    scenario, _ = draw(preset, devices=devices, seed=seed, downlink_power_dbm=power_dbm)
    problem = ModeProblem(scenario, expected_correction(scenario, "best"))
    head = {"pair": pair(preset), "downlink_power_dbm": power_dbm, "draw": draw_number, "scenario_seed": seed}
    found = {name: greedy_lengths(problem, start).astype(float) for name, start in PATHS.items()}
    return [
        head | {"scheme": name, GOODPUT: float(problem.goodput(lengths[None, :])[0])} for name, lengths in found.items()
    ]


def losses(paths: "pd.DataFrame", figure: "pd.DataFrame") -> "pd.DataFrame":
    """How far each lies below our optimum, as a ratio of means: by pair, power and way.

    Parameters
    ----------
    paths : DataFrame
        Of `greedy_paths`.
    figure : DataFrame
        The draws of [UD] Figs. 7 and 8, with schemes "optimum" and "greedy".
    """
    import pandas as pd

    keys = ["pair", "downlink_power_dbm", "draw"]
    columns = [*keys, "scheme", GOODPUT]
    printed = figure[figure["scheme"].isin((OPTIMUM, "greedy"))].replace({"scheme": {"greedy": AS_PRINTED}})
    table = pd.concat([printed[columns], paths[columns]]).pivot(index=keys, columns="scheme", values=GOODPUT).dropna()
    rows = []
    for (of_pair, power), here in table.groupby(level=keys[:2], sort=False):
        for scheme in (AS_PRINTED, *PATHS):
            left = ratio_of_means(here[scheme], here[OPTIMUM])
            lost = left.times(-1.0).shifted(1.0)
            rows.append({"pair": of_pair, "downlink_power_dbm": power, "scheme": scheme} | lost._asdict())
    return pd.DataFrame(rows)
