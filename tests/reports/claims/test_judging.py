"""Cases and verdicts: one rule each, and none that noise makes easier to pass."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from reports.claims.comparisons import change_of_ratio, falls_from_its_peak, flattens
from reports.claims.judging import (
    HELD,
    IN_PART,
    NOT_HERE,
    NOT_SETTLED,
    VERDICTS,
    Case,
    Outcome,
    above_0,
    counted,
    each,
    exactly,
    found,
    gains,
    some,
    verdict,
    verdict_of,
    where,
    within,
    within_if_differing,
)
from reports.shared.estimators import Mean, mean_of


def cases(*outcomes: Outcome) -> list[Case]:
    return [Case(name=f"case {k}", value=0.0, draws=9, outcome=one) for k, one in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "wanted"),
    [
        (("holds", "holds"), HELD),
        (("fails", "fails"), NOT_HERE),
        (("holds", "fails"), IN_PART),
        (("holds", "fails", "not settled"), IN_PART),
        (("holds", "not settled"), NOT_SETTLED),
        (("fails", "not settled"), NOT_SETTLED),
        (("not settled",), NOT_SETTLED),
    ],
)
def test_verdicts(outcomes: tuple[Outcome, ...], wanted: str) -> None:
    assert verdict(cases(*outcomes)) == wanted
    assert wanted in VERDICTS
    assert bool(where(cases(*outcomes))) == (wanted in (IN_PART, NOT_SETTLED) and len(outcomes) > 1)


def test_cases_that_are_alike_are_told_once() -> None:
    alike = [Case(name=f"K = {k}", value=1.0, draws=9, of="draws", outcome="holds", beside=f"{k}") for k in range(5)]
    assert found(alike) == "5 cases, each 100 % of 9 draws"
    other = Case(name="K = 5", value=0.5, draws=4, of="draws", outcome="fails")
    assert found([*alike, other]) == "6 cases, from 50 % of 4 draws at K = 5 to 100 % of 9 draws; 0 at K = 0"


def test_what_is_said_of_every_draw_is_counted_in_draws() -> None:
    """In no case does it hold throughout, and yet it holds in 3 of 4 draws of one and in 1 of 2 of the other."""
    parted = [each("a", [True, True, False, True]), each("b", [False, True])]
    assert {case.outcome for case in parted} == {"holds in part"}
    assert counted(parted) == (4, 2, 0)
    assert verdict(parted) == IN_PART
    assert [verdict([each("a", found)]) for found in ([True] * 2, [False] * 2)] == [HELD, NOT_HERE]


def test_no_verdict_in_part_where_nothing_holds_or_nothing_fails() -> None:
    for counts in itertools.product(range(3), repeat=3):
        holding, failing, unsettled = counts
        found = verdict_of(*counts)
        assert (found == IN_PART) == (holding > 0 and failing > 0)
        assert (found == HELD) == (holding > 0 and not failing and not unsettled)
        assert (found == NOT_HERE) == (failing > 0 and not holding and not unsettled)
        assert found in VERDICTS


def test_where_names_the_fewer() -> None:
    assert where(cases("holds", "fails", "fails")) == "holds in 1 of 3 cases: case 0"
    assert where(cases("holds", "holds", "fails")) == "fails in 1 of 3 cases: case 2"
    assert where(cases("holds", "not settled")) == "not settled by so few draws: case 1"


def test_a_number_is_where_its_whole_interval_is() -> None:
    clear, wide = mean_of([1.0, 1.1, 0.9]), mean_of([1.0, 5.0, -3.0])
    assert [above_0("", one).outcome for one in (clear, wide, clear.times(-1.0))] == ["holds", "not settled", "fails"]
    assert above_0("", mean_of([0.0, 0.0])).outcome == "fails"
    limits = [(-math.inf, 1.5), (1.3, 1.4), (1.0, 2.0)]
    assert [within("", clear, *ends).outcome for ends in limits] == ["holds", "fails", "not settled"]
    assert [exactly("", 1.0, 0.0, high).outcome for high in (1.0, 0.9)] == ["holds", "fails"]


def test_one_draw_settles_nothing() -> None:
    assert above_0("", mean_of([3.0])).outcome == "not settled"


@pytest.mark.parametrize("ends", [(0.875, 0.885), (0.8, math.inf), (-math.inf, 0.885)])
def test_a_wider_interval_never_passes_where_a_narrower_one_does_not(ends: tuple[float, float]) -> None:
    for middle in np.linspace(0.7, 1.0, 61):
        before = True
        for reach in np.geomspace(1e-4, 1.0, 30):
            found = within("", Mean(middle, middle - reach, middle + reach, 40), *ends).outcome == "holds"
            assert before or not found
            before = found


def test_a_property_of_draws_and_steps() -> None:
    assert [each("", found).outcome for found in ([True] * 2, [False] * 2, [True, False])] == [
        "holds",
        "fails",
        "holds in part",
    ]
    assert [some("", found).outcome for found in ([True, True], [True, False], [False])] == ["holds", "holds", "fails"]
    assert each("", [True, False, False, True]).words().startswith("50 % of 4 draws (")
    assert each("", [True, False], "steps").words() == "50 % of 2 steps"


def test_a_gain_is_judged_by_the_means_and_shows_the_ratios() -> None:
    """Means of 90 and 100: the first is behind, though its ratio to the second is 5 on average."""
    rng = np.random.default_rng(0)
    above = 90.0 + rng.normal(0.0, 1e-3, 10)
    below = np.array([10.0, 190.0] * 5)
    assert gains("", above, below).value == pytest.approx(-0.1, rel=1e-3)
    assert gains("", above, below).beside.startswith("mean of ratios 374 %")


def table(rows: list[list[float]], columns: list[float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns)


def test_a_peak_is_not_judged_by_the_draws_that_chose_it() -> None:
    """Noise alone: on the same draws the greatest of ten means lies above the last one, on others it does not."""
    rng = np.random.default_rng(5)
    held = same = 0
    for _ in range(200):
        curve = table(rng.normal(100.0, 5.0, (20, 10)).tolist(), list(range(10)))
        held += falls_from_its_peak("", curve).outcome == "holds"
        peak = int(curve.mean().to_numpy()[:-1].argmax())
        same += gains("", curve[peak], curve[9]).outcome == "holds"
    assert held / 200 <= 0.05
    assert same / 200 >= 0.1


def test_the_last_slope_is_held_against_the_steepest_one() -> None:
    """Slopes 0, 3 and 1: a third of it is left, half a token below the half."""
    rows = [[1.0 + d, 1.0 + d, 4.0 + d, 5.0 + d] for d in range(4)]
    case = flattens("x", table(rows, [0.0, 1.0, 2.0, 3.0]), unit="")
    assert (case.value, case.outcome, case.beside) == (pytest.approx(0.5), "holds", "33.3 % of it is left")


@pytest.mark.parametrize(("ties", "differ"), [(10, 0), (21, 19), (381, 19), (380, 20)])
def test_a_mean_of_ties_is_settled_by_the_draws_that_differ(ties: int, differ: int) -> None:
    """Steps of a length: none in most draws, two tokens or more in the others; without these it has no width."""
    case = within_if_differing("x", [0.0] * ties + [2.0 + 0.1 * k for k in range(differ)], -1e-9, np.inf, unit="token")
    settled = differ >= 20
    assert case.outcome == ("holds" if settled else "not settled")
    assert (case.low is not None) == settled
    assert ("draws differ from the others" in case.words()) == (not settled)


def test_rare_leaps_that_few_draws_miss_are_seldom_judged_wrongly() -> None:
    """One draw in 50 falls by eight tokens. The interval of 40 draws says in half of the reports that none does."""
    rng, wrong, by_interval, reports = np.random.default_rng(2), 0, 0, 200
    for _ in range(reports):
        steps = np.where(rng.random(40) < 0.02, -8.0, 0.0)
        wrong += within_if_differing("", steps, -1e-9, np.inf).outcome == "holds"
        by_interval += within("", mean_of(steps), -1e-9, np.inf).outcome == "holds"
    assert wrong == 0
    assert by_interval / reports > 0.3


def test_change_of_a_ratio() -> None:
    above, below = table([[2.0, 9.0], [4.0, 9.0]], [1, 2]), table([[1.0, 3.0], [2.0, 3.0]], [1, 2])
    assert change_of_ratio(above, below) == pytest.approx((1.0, 1.0, 1.0, 2))
