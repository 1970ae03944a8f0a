"""Laws over prompts: moments and mixtures by scipy's own, the posterior by quadrature, draws by Kolmogorov and Smirnov.

Seeds are fixed; each of the four tests of draws has a false alarm in 1e-4 of seeds.
"""

import itertools

import numpy as np
import pytest
from scipy import integrate, special, stats

from msopt import Acceptance, Control, ParameterError, evaluate
from msopt.uncertain.prompt_laws import BetaPrompts, SampledPrompts
from reports.crosscheck.random_scenarios import family
from tests.tolerances import EXACT

FALSE_ALARM = 1e-4
COUNTS = BetaPrompts(np.array([2.0, 0.4]), np.array([0.7, 3.0]))


def test_moments() -> None:
    for name in ("mean", "std"):
        wanted = [getattr(stats.beta, name)(a, b) for a, b in zip(COUNTS.a, COUNTS.b, strict=True)]
        assert getattr(COUNTS, name) == pytest.approx(wanted, rel=EXACT)


def test_the_mixture_is_the_moments_of_the_acceptance() -> None:
    lengths = np.arange(8.0)[:, None]
    wanted = special.poch(COUNTS.a, lengths) / special.poch(COUNTS.a + COUNTS.b, lengths)
    assert COUNTS.mixture(7).survival(lengths) == pytest.approx(wanted, rel=EXACT)


def test_of_a_scenario_and_back() -> None:
    law = Acceptance.of([0.8, 0.5], [0.2, 0.3])
    found = BetaPrompts.of(family(0, 2).replace(acceptance=law))
    assert found.mixture(5).mean == pytest.approx(law.mean, rel=EXACT)
    assert found.mixture(5).std == pytest.approx(law.std, rel=EXACT)


@pytest.mark.parametrize("law", [Acceptance.of([0.8, 0.5], [0.2, 0.0]), Acceptance.of([0.8, 0.5], None, [None, [0.5]])])
def test_a_scenario_that_says_nothing_of_prompts(law: Acceptance) -> None:
    with pytest.raises(ParameterError, match="acceptance_std is missing; without it"):
        BetaPrompts.of(family(0, 2).replace(acceptance=law))


def test_the_posterior_is_bayes_rule() -> None:
    """By quadrature of prior times the probability of each draft: of (drafted, accepted), cut off at the length."""
    drafts = [(4, 4), (4, 0), (2, 1), (7, 3), (1, 1)]

    def weight(alpha: float) -> float:
        each = [alpha**kept * ((1.0 - alpha) if kept < length else 1.0) for length, kept in drafts]
        return float(np.prod(each) * stats.beta.pdf(alpha, 2.0, 0.7))

    whole, first, second = (integrate.quad(lambda x, n=n: x**n * weight(x), 0.0, 1.0)[0] for n in range(3))
    accepted = sum(kept for _, kept in drafts)
    found = COUNTS.after([accepted, 0], [sum(kept < length for length, kept in drafts), 0])
    assert found.mean[0] == pytest.approx(first / whole, rel=1e-8)
    assert found.std[0] == pytest.approx((second / whole - (first / whole) ** 2) ** 0.5, rel=1e-7)
    assert (found.a[1], found.b[1]) == (0.4, 3.0), "nothing seen, nothing learnt"


def test_draws_follow_the_law() -> None:
    drawn = COUNTS.draw(np.random.default_rng(1), 2000)
    for k, (a, b) in enumerate(zip(COUNTS.a, COUNTS.b, strict=True)):
        assert stats.kstest(drawn[:, k], stats.beta(a, b).cdf).pvalue > FALSE_ALARM
    assert stats.spearmanr(*drawn.T).pvalue > FALSE_ALARM, "devices are independent"


def test_sampled_prompts() -> None:
    """The goodput under the mixture is the mean over every combination of the devices' prompts."""
    law = SampledPrompts((np.array([0.9, 0.2, 0.6]), np.array([0.5, 1.0])))
    cell = family(3, 2).replace(max_draft_length=6)
    control = Control(
        problem="heterogeneous", draft_length=[6, 3], bandwidth_hz=np.full(2, 0.4 * cell.uplink_bandwidth_hz)
    )
    every = [
        evaluate(cell.replace(acceptance=Acceptance.of(pair)), control).goodput
        for pair in itertools.product(*law.samples)
    ]
    found = evaluate(cell.replace(acceptance=law.mixture(6)), control).goodput
    assert found == pytest.approx(np.mean(every), rel=EXACT)
    drawn = law.draw(np.random.default_rng(2), 900)
    assert stats.chisquare([np.sum(drawn[:, 0] == alpha) for alpha in law.samples[0]]).pvalue > FALSE_ALARM
    assert set(drawn[:, 1]) == {0.5, 1.0}


def test_one_sample_for_all() -> None:
    law = SampledPrompts.alike([0.9, 0.2], 3)
    assert law.mixture(2).survival(2.0) == pytest.approx([0.425] * 3, rel=EXACT)


def test_what_is_no_law() -> None:
    with pytest.raises(ParameterError, match="counts b of a Beta law hold a number that is not finite and above 0"):
        BetaPrompts(np.ones(2), np.array([1.0, 0.0]))
    with pytest.raises(ParameterError, match="acceptances of prompts of device 1: one is outside"):
        SampledPrompts((np.array([0.5]), np.array([1.5])))
