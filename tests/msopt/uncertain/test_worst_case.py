"""The worst case of a box: goodput rises with every acceptance, and the best guarantee is that of enumeration."""

import itertools
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import Acceptance, Control, ParameterError, evaluate
from msopt.model.control import MODE_RULES, ModeRule
from msopt.model.scenario import PROBLEMS, Problem, Scenario
from msopt.uncertain.worst_case import worst_case
from reports.crosscheck.random_scenarios import family
from tests import brute_force
from tests.cases import s2, scenario_of
from tests.strategies import scenarios
from tests.tolerances import NEVER_ABOVE, OPTIMAL


@st.composite
def rises(draw: st.DrawFn) -> tuple[Scenario, Control, list[float]]:
    """A scenario, any control of it, and acceptances none of which is below the scenario's."""
    scenario = draw(scenarios(kinds=["geometric"]))
    problem: Problem = draw(st.sampled_from(PROBLEMS))
    rule: ModeRule = draw(st.sampled_from(MODE_RULES))
    low, high = scenario.length_limits(problem)
    count = scenario.device_count
    lengths = draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    shares = np.array(draw(st.lists(st.floats(0.01, 1.0), min_size=count, max_size=count)))
    control = Control(
        problem=problem,
        draft_length=lengths,
        bandwidth_hz=shares / shares.sum() * scenario.uplink_bandwidth_hz,
        mode_rule=rule,
    )
    return scenario, control, [draw(st.floats(float(alpha), 1.0)) for alpha in scenario.acceptance.mean]


@settings(max_examples=30)
@given(rises())
def test_goodput_rises_with_every_acceptance(case: tuple[Scenario, Control, list[float]]) -> None:
    scenario, control, more = case
    below = evaluate(scenario, control).goodput
    above = evaluate(scenario.replace(acceptance=Acceptance.of(more)), control)
    assert above.goodput >= below * (1.0 - NEVER_ABOVE)


def test_the_best_guarantee_by_enumeration() -> None:
    """Every pair of lengths, the least of its goodputs over a grid of the box that holds its corners."""
    low, high = [0.55, 0.3], [0.9, 0.8]
    description = s2(limits={"max_draft_length": 6})
    grid = list(itertools.product(*np.linspace(low, high, 3).T))
    tables = []
    for alphas in grid:
        at = deepcopy(description)
        for device, alpha in zip(at["devices"], alphas, strict=True):
            device["acceptance"] = float(alpha)
        lengths = brute_force.all_lengths(at, 1)
        tables.append(brute_force.goodputs(at, lengths, brute_force.deadlines(at, lengths)))
    found = worst_case(scenario_of(description), low, high)
    assert found.solution.goodput == pytest.approx(np.max(np.min(tables, axis=0)), rel=OPTIMAL)
    middle = found.at_middle
    assert middle.best[0] == pytest.approx(np.max(tables[4]), rel=OPTIMAL)
    assert middle.gain[0] > 0.0, "who guards against the worst pays where it does not come"
    over = found.over_box(20)
    assert np.all(over.gain >= -NEVER_ABOVE * over.best)
    assert np.all(over.held >= found.solution.goodput * (1.0 - NEVER_ABOVE)), "the guarantee holds all over the box"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_width_no_price(problem: Problem) -> None:
    found = worst_case(family(1, 3), [0.6, 0.7, 0.8], [0.6, 0.7, 0.8], problem)
    assert found.at_middle.gain == pytest.approx([0.0], abs=1e-9 * found.solution.goodput)


@pytest.mark.parametrize(
    ("low", "high", "part"),
    [
        ([0.5], [0.6, 0.7], "low has 1 values; 2 are needed"),
        ([0.5, 0.6], [0.6, 0.5], r'"device-2"\): the interval of the acceptance begins at 0\.6, above its end, 0\.5'),
        ([0.5, 0.6], [0.6, 1.5], "acceptance = 1.5 is outside"),
    ],
)
def test_bad_boxes(low: list[float], high: list[float], part: str) -> None:
    with pytest.raises(ParameterError, match=part):
        worst_case(family(1, 2), low, high)
