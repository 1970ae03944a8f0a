"""What a profile holds: curves and intervals from counts, with their statistical promise; times; Beta laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import beta, binom

from msopt.errors import ParameterError
from msopt.measured.provenance import Machine, Vocabulary
from msopt.measured.step_times import BatchTiming, Timing
from msopt.measured.task_acceptance import Estimate, Spread, curve_of_counts
from msopt.numerics.intervals import proportion_interval
from tests.profiles import profile, timing
from tests.tolerances import EXACT


@pytest.mark.parametrize(("accepted", "trials", "level"), [(3, 10, 0.95), (31, 48, 0.95), (7, 9, 0.99), (1, 1000, 0.5)])
def test_the_interval_is_where_each_tail_has_half_of_the_rest(accepted: int, trials: int, level: float) -> None:
    """By the binomial's own tails, which is how Clopper and Pearson define it."""
    low, high = proportion_interval(accepted, trials, level)
    assert binom.sf(accepted - 1, trials, low) == pytest.approx((1 - level) / 2, rel=1e-9)
    assert binom.cdf(accepted, trials, high) == pytest.approx((1 - level) / 2, rel=1e-9)


def test_intervals_of_few_trials_and_of_none() -> None:
    assert proportion_interval(20, 20) == pytest.approx((0.8316, 1.0), abs=5e-5)
    assert proportion_interval(31, 48) == pytest.approx((0.4946, 0.7784), abs=5e-5)
    assert proportion_interval(0, 0) == (0.0, 1.0)
    with pytest.raises(ParameterError, match="5 of 4 trials"):
        proportion_interval(5, 4)
    with pytest.raises(ParameterError, match="level = 1 is not"):
        proportion_interval(1, 4, 1.0)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 23, 200])
def test_the_interval_covers_at_its_level_by_enumeration(p: float, n: int) -> None:
    counts = np.arange(n + 1)
    held = [low <= p <= high for low, high in (proportion_interval(int(k), n) for k in counts)]
    assert binom.pmf(counts, n, p) @ held >= 0.95


def test_the_curve_of_rounds_that_all_run_their_course() -> None:
    """Without cut rounds S(l) is accepted rounds out of all, with that proportion's interval."""
    curve = curve_of_counts([23, 17, 11, 6], [17, 11, 6, 4])
    assert [p.survival for p in curve] == pytest.approx([17 / 23, 11 / 23, 6 / 23, 4 / 23], rel=EXACT)
    for point, kept in zip(curve, [17, 11, 6, 4], strict=True):
        assert (point.low, point.high) == pytest.approx(proportion_interval(kept, 23), rel=1e-9)


def test_the_curve_ends_where_nothing_was_visited() -> None:
    assert curve_of_counts([], []) == ()
    assert [p.survival for p in curve_of_counts([9, 5, 0, 0], [5, 0, 0, 0])] == pytest.approx([5 / 9, 0.0])
    with pytest.raises(ParameterError, match="position 1: 5 accepted of 4 visited"):
        curve_of_counts([4], [5])
    with pytest.raises(ParameterError, match="position 2: 1 accepted of 4 visited after 3"):
        curve_of_counts([5, 4], [3, 1])


def test_curve_intervals_cover_with_rounds_cut_short() -> None:
    """400 simulated measurements of 60 rounds whose text may end in the draft; S(l) = 0.8^l is inside the 95 %
    interval of each of four positions at least 92 % of the time: for coverage of exactly 95 % fewer than that are a
    false alarm of 0.4 % each, and Clopper and Pearson's own coverage is above 95 %."""
    rng = np.random.default_rng(5)
    held = np.zeros(4)
    repeats = 400
    for _ in range(repeats):
        length = np.minimum(rng.geometric(0.15, 60), 4)
        accepted = np.minimum(rng.geometric(0.2, 60) - 1, length)
        visited = np.minimum(accepted + 1, length)
        at = np.arange(1, 5)[:, None]
        curve = curve_of_counts((visited >= at).sum(1).tolist(), (accepted >= at).sum(1).tolist())
        held += [p.low <= 0.8**l <= p.high for l, p in enumerate(curve, 1)]
    assert held.min() / repeats >= 0.92


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=30))
def test_timing_keeps_quantiles(seconds: list[float]) -> None:
    time = Timing.of(seconds)
    assert min(seconds) <= time.q10_s <= time.median_s <= time.q90_s <= max(seconds)
    assert time.raw_s == tuple(seconds)
    assert Timing.of(seconds, keep=False).raw_s == ()


def test_the_beta_law_has_the_spreads_moments() -> None:
    law = Spread(mean=0.8582, std=0.2472, prompts=50).beta
    assert (beta.mean(*law), beta.std(*law)) == pytest.approx((0.8582, 0.2472), rel=1e-9)
    assert Spread(mean=0.8, std=0.0, prompts=1).beta is None
    assert Spread(mean=0.5, std=0.5, prompts=2).beta is None


def test_nothing_observed_is_null_and_not_a_number() -> None:
    assert Estimate.of_counts(0, 0).model_dump() == {"value": None, "low": None, "high": None, "n": 0}
    with pytest.raises(ValidationError, match="null where it is 0"):
        Estimate(value=0.5, low=0.4, high=0.6, n=0)
    with pytest.raises(ValidationError, match="outside its interval"):
        Estimate(value=0.5, low=0.6, high=0.7, n=3)


@pytest.mark.parametrize(
    ("entries", "bits"),
    [(49152, 16), (128256, 17), (151646, 18), (151936, 18), (152064, 18), (262144, 18), (1, 1), (2, 1), (3, 2)],
)
def test_bits_of_an_index(entries: int, bits: int) -> None:
    sizes = {"draft_entries": entries, "target_entries": entries, "shared_entries": entries}
    assert Vocabulary(tokenizer_entries=entries, **sizes).token_bits == bits


def test_the_servers_draft_step_between_and_beyond_what_was_measured() -> None:
    measured = profile()
    assert [measured.server_draft_s(batch) for batch in (1, 8, 15)] == pytest.approx([0.004, 0.006, 0.008])
    falling = (BatchTiming(batch=4, time=timing(0.006)), BatchTiming(batch=8, time=timing(0.005)))
    assert [profile(server_draft=falling).server_draft_s(b) for b in (1, 6, 80)] == pytest.approx(
        [0.006, 0.0055, 0.005]
    )
    assert profile(server_draft=falling[:1]).server_draft_s(80) == 0.006
    assert profile(server_draft=()).server_draft_s(1) is None


def test_a_machine_in_words() -> None:
    assert Machine(cpu="some processor", threads=1).label == "some processor, 1 thread"
    assert Machine(cpu="some processor", threads=2).label == "some processor, 2 threads"
    assert Machine(cpu="some processor", threads=2, gpu="some accelerator").label == "some accelerator"
