"""The value of knowing against quadrature for one device, and never below nothing on any prompt."""

import numpy as np
import pytest
from scipy import stats

from msopt import Acceptance, ParameterError, draw
from msopt.model.scenario import Problem, Scenario
from msopt.uncertain.knowing import value_of_knowing
from msopt.uncertain.prompt_laws import SampledPrompts
from reports.crosscheck.random_scenarios import family
from tests import brute_force
from tests.cases import s1, scenario_of
from tests.tolerances import NEVER_ABOVE, STANDARD_ERRORS

MEAN, STD = 0.7, 0.25


def uncertain(devices: int, seed: int) -> Scenario:
    cell, _ = draw("multispin-llama2", devices=devices, seed=seed)
    return cell.replace(acceptance=Acceptance.of(cell.acceptance.mean, np.full(devices, STD)), max_draft_length=12)


def test_one_device_against_quadrature() -> None:
    """E[max over L of E(L, alpha)/T(L)] by the oracle; four standard errors, 6.3e-5 false alarms for each of two."""
    description = s1()
    found = value_of_knowing(scenario_of(description).replace(acceptance=Acceptance.of([MEAN], [STD])), prompts=400)
    lengths = np.arange(1, 17)
    seconds = np.array([brute_force.deadline_of_lengths(description, [n]) + 0.2 + 1e-4 * (n + 1) for n in lengths])
    total = MEAN * (1.0 - MEAN) / STD**2 - 1.0
    law = stats.beta(MEAN * total, (1.0 - MEAN) * total)
    alphas = law.ppf((np.arange(20_000.0) + 0.5) / 20_000)[:, None]
    knowing = float(np.mean(np.max(np.cumsum(alphas ** np.arange(17.0), axis=1)[:, 1:] / seconds, axis=1)))
    moments = np.array([1.0, *(law.moment(n) for n in lengths)])
    unknowing = float(np.max(np.cumsum(moments)[1:] / seconds))
    assert found.planned.goodput == pytest.approx(unknowing, rel=1e-9)
    error = stats.sem(found.drawn.gain)
    assert abs(found.value - (knowing - unknowing)) < STANDARD_ERRORS * error
    assert abs(np.mean(found.drawn.held) - unknowing) < STANDARD_ERRORS * stats.sem(found.drawn.held)
    low, high = found.interval()
    assert low == pytest.approx(found.value - stats.t.ppf(0.975, 399) * error)
    assert high - found.value == pytest.approx(found.value - low)


@pytest.mark.parametrize(
    ("problem", "devices", "prompts"), [("heterogeneous", 6, 40), ("homogeneous", 6, 10), ("modes", 3, 5)]
)
def test_never_negative_on_any_prompt(problem: Problem, devices: int, prompts: int) -> None:
    for seed in range(2):
        found = value_of_knowing(uncertain(devices, seed), problem=problem, prompts=prompts, seed=seed)
        assert np.all(found.drawn.best >= found.drawn.held * (1.0 - NEVER_ABOVE))
        assert np.all(found.drawn.bound >= found.drawn.best * (1.0 - NEVER_ABOVE))
        assert found.value > 0.0, "prompts differ, and so do their best controls"


def test_alike_prompts_are_worth_nothing() -> None:
    found = value_of_knowing(uncertain(3, 0), SampledPrompts.alike([0.7, 0.7], 3), prompts=2)
    assert found.drawn.gain == pytest.approx([0.0, 0.0], abs=1e-9 * found.planned.goodput)


def test_the_same_seed_gives_the_same_prompts() -> None:
    one, same, other = (value_of_knowing(uncertain(2, 0), prompts=2, seed=seed) for seed in (5, 5, 6))
    assert one.drawn.best.tolist() == same.drawn.best.tolist() != other.drawn.best.tolist()


def test_bad_arguments() -> None:
    with pytest.raises(ParameterError, match="prompts = 1 is not a whole number of at least 2"):
        value_of_knowing(uncertain(2, 0), prompts=1)
    with pytest.raises(ParameterError, match="seed = -1"):
        value_of_knowing(uncertain(2, 0), seed=-1)
    with pytest.raises(ParameterError, match="acceptance_std is missing; without it"):
        value_of_knowing(family(0, 2))
