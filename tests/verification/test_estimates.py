"""Estimates from rounds of a known law; the replay of rounds over a text; the fit of verification times."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from msopt import ParameterError
from msopt.model.acceptance import Acceptance
from tests.tolerances import EXACT
from tests.verification.devices import played
from verification.estimates import PromptRun, agreement, clustered, task_acceptance
from verification.exchange import Exchange
from verification.messages import Payload, draft_levels, target_levels
from verification.rounds import Drafted
from verification.sampling import draw
from verification.text_pass import TextLaws, replay
from verification.verification_fit import fit_verification

SHA = "0" * 64


def simulated(rng: np.random.Generator, alphas: np.ndarray, count: int, length: int, bias: float = 0.0) -> PromptRun:
    """Rounds over a text whose acceptance takes the given values in turn: positions of a text are dependent."""
    rounds, place = [], 0
    for _ in range(count):
        shares = tuple(float(alphas[(place + n) % len(alphas)]) for n in range(length))
        accepted = 0
        while accepted < length and rng.random() < shares[accepted] + bias:
            accepted += 1
        rounds.append(Drafted(0, length, accepted, shares, shares))
        place += accepted + 1
    return PromptRun(tuple(rounds), tuple(alphas), ())


def test_the_two_estimates_agree_however_acceptance_depends_on_the_text() -> None:
    """z of 2000 measurements of strongly dependent texts: mean 0, deviation 1, few beyond the 1 % bounds; seed 0.

    Each of the three bounds is 4 standard errors: 6e-5 false alarms each, but for the skewness of the shares.
    """
    rng = np.random.default_rng(0)
    alphas = np.array([0.95] * 6 + [0.2] * 3 + [0.6])
    runs = [agreement(simulated(rng, alphas, 40, 5).rounds) for _ in range(2000)]
    found = [one for one in runs if one is not None]
    z = np.array([one.z for one in found])
    assert abs(z.mean()) < 4.0 / math.sqrt(2000)
    assert abs(z.var() - 1.0) < 4.0 * math.sqrt(2.0 / 2000)
    assert np.mean([not one.holds(1) for one in found]) < 0.01 + 4.0 * math.sqrt(0.01 / 2000)


def test_a_bias_of_five_points_is_told() -> None:
    rng = np.random.default_rng(1)
    found = agreement(simulated(rng, np.array([0.7, 0.5]), 600, 5, bias=0.05).rounds)
    assert not found.holds(12)


def test_accepted_over_drafted_would_be_something_else() -> None:
    """Design section 8: at acceptance 0.8 and 8 drafted tokens accepted/drafted is 0.42."""
    run = simulated(np.random.default_rng(2), np.array([0.8]), 4000, 8)
    found = task_acceptance([run, run], SHA)
    assert found.by_counts.value == pytest.approx(0.8, abs=0.01)
    assert found.by_overlap.value == pytest.approx(0.8, rel=EXACT)
    assert found.accepted / found.drafted == pytest.approx(0.8 * (1 - 0.8**8) / (0.2 * 8), abs=0.025)
    expected = Acceptance.of([0.8]).survival(np.arange(1.0, 9.0)[:, None])[:, 0]
    assert found.survival == pytest.approx(list(expected), abs=0.03)


def test_dependence_along_a_text_sets_the_two_quantities_apart() -> None:
    """Rounds visit hard positions more often than a text has them: the bonus after a whole draft follows easy ones.

    A text of easy and hard stretches, where a stretch goes on with probability 0.9; without stretches they agree.
    """
    rng = np.random.default_rng(3)
    easy = np.logical_xor.accumulate(rng.random(20_000) < 0.1)
    for shares, apart in ((np.where(easy, 0.98, 0.3), True), (np.where(rng.permutation(easy), 0.98, 0.3), False)):
        found = task_acceptance([simulated(rng, shares, 5000, 3)], SHA)
        along, visited = found.target_text_overlap.value, found.by_overlap.value
        assert (along - visited > 0.025) == apart
        assert apart or abs(along - visited) < 0.015


def test_rounds_cut_short_by_the_end_count_as_far_as_they_went() -> None:
    rounds = (Drafted(0, 3, 3, (0.9,) * 3, (1.0,) * 3), Drafted(0, 1, 1, (0.9,), (1.0,)), Drafted(0, 3, 1, (0.9,) * 3))
    run = PromptRun(rounds, (0.9,) * 8, ())
    found = task_acceptance([run], SHA)
    assert [(point.visited, point.accepted) for point in found.curve] == [(3, 3), (2, 1), (1, 1)]
    assert found.survival == [1.0, 0.5, 0.5]
    assert (found.drafted, found.visited, found.accepted) == (7, 6, 5)


def test_nothing_drafted_is_nothing_known() -> None:
    found = task_acceptance([PromptRun((Drafted(0, 0, 0),), (0.5,), ())], SHA)
    assert (found.by_counts.value, found.agreement, found.curve) == (None, None, ())


def test_intervals_over_prompts_cover() -> None:
    """95 % intervals of prompts that differ from each other hold the truth in 92 to 98 % of 1000 draws (seed 4)."""
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(1000):
        alphas = rng.beta(6.0, 2.0, size=10)
        counts = rng.integers(30, 60, size=10)
        found = clustered(list(rng.binomial(counts, alphas).astype(float)), list(counts.astype(float)))
        held += found.low <= 0.75 <= found.high
    assert 920 <= held <= 980


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9), st.integers(1, 4))
def test_replay_adds_up_every_course_of_events(shares: list[float], length: int) -> None:
    """Against recursion over accepted and rejected, position by position."""

    def by_hand(place: int, run: int) -> tuple[float, float]:
        if place == len(shares):
            return 0.0, 0.0
        if run == length:
            return by_hand(place + 1, 0)
        yes, no = by_hand(place + 1, run + 1), by_hand(place + 1, 0)
        share = shares[place]
        return (
            1.0 + share * yes[0] + (1 - share) * no[0],
            share + share * yes[1] + (1 - share) * no[1],
        )

    assert replay(shares, length) == pytest.approx(by_hand(0, 0), rel=EXACT, abs=EXACT)


def test_replayed_texts_give_the_acceptance_of_rounds() -> None:
    """Many texts of a Markov language: acceptance replayed, in full and with every payload, is that of real rounds.

    Seed 6; 4 standard errors, with texts counted as three times as noisy as flags: 6e-5 false alarms for each of three.
    """
    generator = torch.Generator().manual_seed(6)
    v, length, size = 12, 3, 1000
    p, q = (1.5 * torch.randn(2, v, v, generator=generator)).softmax(-1)
    own = [torch.Generator().manual_seed(n) for n in range(size)]
    text = [torch.zeros(size, dtype=torch.int64)]
    for _ in range(60):
        text.append(draw(p[text[-1]], own))
    along = torch.stack(text[20:], 1)
    payload = Payload(5, 5, v)
    for exchange in (None, Exchange("server", payload), Exchange("device", payload)):
        before = text[20]
        visited = accepted = 0
        for _ in range(6):
            _, verdict = played(p, q, before, length, exchange, own)
            visited += int((verdict.accepted + 1).clamp_max(length).sum())
            accepted += int(verdict.accepted.sum())
            before = verdict.token
        found = [
            replay(
                TextLaws(p[row[:-1]], q[row[:-1]], row[1:]).accepted_share(
                    None if exchange is None else payload, at_device=exchange is not None and exchange.place == "device"
                ),
                length,
            )
            for row in along[:600]
        ]
        share = sum(kept for _, kept in found) / sum(seen for seen, _ in found)
        # Texts of 25 tokens against 6 rounds: both forget their start within a token or two.
        error = math.sqrt(share * (1 - share) * (1 / visited + 3 / sum(seen for seen, _ in found)))
        assert share == pytest.approx(accepted / visited, abs=4 * error)


GRID = [(batch, length) for batch in (1, 2, 4, 8, 16) for length in (1, 3, 7)]


@pytest.mark.parametrize(
    ("truth", "needed"),
    [
        ((0.04, 0.008, 0.0), (True, True, False)),
        ((0.04, 0.0, 0.002), (True, False, True)),
        ((0.04, 0.008, 0.002), (True, True, True)),
        ((0.04, 0.0, 0.0), (True, False, False)),
    ],
)
def test_the_fit_finds_the_terms_there_are(truth: tuple[float, float, float], needed: tuple[bool, ...]) -> None:
    rng = np.random.default_rng(11)
    times = [
        (truth[0] + truth[1] * b + truth[2] * b * (length + 1)) * (1.0 + 0.002 * rng.standard_normal())
        for b, length in GRID
    ]
    fit = fit_verification([b for b, _ in GRID], [length for _, length in GRID], times)
    terms = (fit.base, fit.per_device, fit.per_token)
    assert tuple(term.needed for term in terms) == needed
    for term, value in zip(terms, truth, strict=True):
        assert term.seconds == pytest.approx(value, abs=4.0 * (term.standard_error_s or 0.0))
        assert (term.p_value is not None and term.p_value < 0.05) == term.needed
    assert fit.max_relative_residual < 0.02


def test_the_fit_is_least_squares_with_its_textbook_errors() -> None:
    rng = np.random.default_rng(5)
    times = np.array([0.04 + 0.008 * b + 0.002 * b * (length + 1) for b, length in GRID])
    times += 0.001 * rng.standard_normal(len(times))
    fit = fit_verification([b for b, _ in GRID], [length for _, length in GRID], list(times))
    columns = np.array([[1.0, b, b * (length + 1.0)] for b, length in GRID])
    solution, squares, _, _ = np.linalg.lstsq(columns, times, rcond=None)
    terms = (fit.base, fit.per_device, fit.per_token)
    assert [term.seconds for term in terms] == pytest.approx(list(solution))
    variance = float(squares[0]) / (len(times) - 3)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(columns.T @ columns)))
    assert [term.standard_error_s for term in terms] == pytest.approx(list(errors))
    assert fit.r_squared == pytest.approx(1.0 - float(squares[0]) / float(((times - times.mean()) ** 2).sum()))
    # One coefficient's t test is the F test of the fit without it.
    without = np.linalg.lstsq(columns[:, :2], times, rcond=None)[1][0]
    f = (float(without) - float(squares[0])) / variance
    assert fit.per_token.p_value == pytest.approx(stats.f.sf(f, 1, len(times) - 3))


def test_a_negative_term_is_left_out() -> None:
    times = [0.1 - 0.001 * b + 0.002 * b * (length + 1) for b, length in GRID]
    fit = fit_verification([b for b, _ in GRID], [length for _, length in GRID], times)
    assert (fit.per_device.needed, fit.per_device.seconds) == (False, 0.0)
    assert fit.per_device.p_value == pytest.approx(0.0, abs=1e-6)


def test_rows_without_drafts_are_not_fitted_where_the_others_tell_the_terms_apart() -> None:
    """A step without drafts at half the fitted time changes no term; its residual is there, and is the largest."""
    grid = [(b, length) for b in (1, 2, 4) for length in (0, 1, 3)]
    times = [(0.04 + 0.002 * b + 0.001 * b * (length + 1)) * (1.0 if length else 0.5) for b, length in grid]
    fit = fit_verification([b for b, _ in grid], [length for _, length in grid], times)
    assert [term.seconds for term in (fit.base, fit.per_device, fit.per_token)] == pytest.approx([0.04, 0.002, 0.001])
    assert fit.r_squared == pytest.approx(1.0)
    assert fit.max_relative_residual == pytest.approx(1.0)
    assert fit.residuals_s[0] == pytest.approx(-0.0215)
    needed = [(b, length) for b in (1, 2) for length in (0, 3)]
    times = [0.04 + 0.002 * b + 0.001 * b * (length + 1) for b, length in needed]
    whole = fit_verification([b for b, _ in needed], [length for _, length in needed], times)
    assert whole.per_token.seconds == pytest.approx(0.001)


def test_a_grid_of_one_draft_length_is_refused() -> None:
    with pytest.raises(ParameterError, match="two draft lengths"):
        fit_verification([1, 2, 4, 8], [3, 3, 3, 3], [0.1, 0.2, 0.4, 0.8])


@pytest.mark.parametrize("at_device", [False, True])
def test_the_share_of_a_payload_is_that_of_its_whole_laws(at_device: bool) -> None:
    """min(q', p)(x)/p(x), at the device min(s q', r)(x)/p(x), with the levels over the whole vocabulary."""
    torch.manual_seed(8)
    p, q = (3.0 * torch.randn(2, 40, 300)).softmax(-1)
    tokens = torch.multinomial(p * q, 1)[:, 0]
    payload = Payload(20, 10, 300)
    sent = draft_levels(q, payload) / payload.total
    levels = target_levels(p, payload) / payload.total
    whole = torch.minimum(levels.sum(-1, keepdim=True) * sent, levels) if at_device else torch.minimum(sent, p)
    expected = (whole / p).gather(-1, tokens[:, None])[:, 0].clamp_max(1.0)
    found = TextLaws(p, q, tokens).accepted_share(payload, at_device=at_device)
    assert found == pytest.approx(expected.tolist(), rel=1e-5)
    assert 0.0 < sum(found) < 40.0
