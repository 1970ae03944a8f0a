"""One record for each problem, and nothing that asks a problem's name for what its record says."""

import re
from pathlib import Path

import msopt
from msopt.model.problems import KINDS
from msopt.model.scenario import PROBLEMS

ROOT = Path(__file__).parents[3]
OWN_ALGORITHM = {"msopt/many.py", "reports/studies/points.py"}
"""Where the name stands for the algorithm that solves many scenarios of that problem together."""
OWN_CLAIM = {"reports/plots/figures.py"}
"""Where it stands for the problem that the paper states a gain of."""


def test_every_problem_has_a_record() -> None:
    assert tuple(KINDS) == PROBLEMS == msopt.PROBLEMS == ("homogeneous", "heterogeneous", "modes")
    assert len({kind.title for kind in KINDS.values()}) == len(KINDS)


def test_properties_are_asked_of_the_record() -> None:
    asked = re.compile(rf'[!=]= "({"|".join(KINDS)})"|"({"|".join(KINDS)})" [!=]=')
    sources = (
        path
        for package in ("msopt", "formulations", "verification", "reports")
        for path in (ROOT / package).rglob("*.py")
    )
    found = {str(path.relative_to(ROOT)) for path in sources if asked.search(path.read_text())}
    assert found == OWN_ALGORITHM | OWN_CLAIM
