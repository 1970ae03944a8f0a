"""Tokens or distributions with the drafts, device by device: enumeration, and both papers' optima as the two ends."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq

import msopt
from msopt import ParameterError, Scenario, draw, react
from msopt.modes.uplink_payload import UPLINK_PAYLOADS, best_payloads
from reports.crosscheck.random_scenarios import random_scenario
from tests.tolerances import CLOSED_FORM, EXACT, NEVER_ABOVE, RELAXED_OPTIMUM


def deadline_s(scenario: Scenario, payload: tuple[str, ...], lengths: tuple[int, ...]) -> float:
    """When all drafts are there: the root of the bandwidth budget."""
    draft_s = np.array(lengths) * scenario.draft_s_per_token
    whole = scenario.token_bits + scenario.distribution_bits
    bits = np.array(lengths) * np.array([scenario.token_bits if one == "tokens" else whole for one in payload])
    if not np.any(bits):
        return float(draft_s.max())
    sends = bits > 0.0

    def excess(log_spare: float) -> float:
        left = np.exp(log_spare) + (draft_s[sends].max() - draft_s)
        need = scenario.uplink.bandwidth(np.where(sends, bits / np.where(sends, left, 1.0), 0.0))
        return float(np.log(np.minimum(np.sum(need), 1e300) / scenario.uplink_bandwidth_hz))

    sent = draft_s[sends].max() + np.exp(brentq(excess, -40.0, 30.0, xtol=1e-13))
    return float(max(sent, draft_s.max()))


def goodput(scenario: Scenario, payload: tuple[str, ...], lengths: tuple[int, ...], times: dict[bytes, float]) -> float:
    survival = scenario.acceptance.survival(np.array(lengths, dtype=float))
    rho = np.where(np.array(payload) == "tokens", 1.0 - survival, 0.0)
    outcomes = np.array(list(itertools.product((False, True), repeat=rho.size)))
    weight = np.prod(np.where(outcomes, rho, 1.0 - rho), axis=1)
    correction = sum(w * times[outcome.tobytes()] for w, outcome in zip(weight, outcomes, strict=True))
    tokens = float(np.sum(scenario.acceptance.expected_tokens(np.array(lengths, dtype=float))))
    round_s = deadline_s(scenario, payload, lengths) + float(scenario.verify_s(np.array(lengths))) + correction
    return tokens / round_s


def enumerated(scenario: Scenario) -> float:
    """The best of all payloads and lengths."""
    low, high = scenario.length_limits("modes")
    every = itertools.product((False, True), repeat=scenario.device_count)
    times = {np.array(one).tobytes(): react(scenario, np.array(one))[1] for one in every}
    payloads = list(itertools.product(UPLINK_PAYLOADS, repeat=scenario.device_count))
    lengths = itertools.product(range(low, high + 1), repeat=scenario.device_count)
    return max(goodput(scenario, payload, chosen, times) for chosen in lengths for payload in payloads)


@pytest.mark.parametrize("seed", range(8))
def test_small_cells_are_solved(seed: int) -> None:
    """Both ways to share, verification with and without a price of tokens."""
    sharing = ("fixed-snr", "power-limited")[seed % 2]
    cell = random_scenario(seed, devices=(2, 2), uplink_sharing=sharing, verify_per_token=seed % 4 > 1)
    cell = cell.replace(max_draft_length=3, min_draft_length=0)
    found, best = best_payloads(cell), enumerated(cell)
    assert found.goodput == pytest.approx(best, rel=CLOSED_FORM)
    assert found.bound >= best * (1.0 - NEVER_ABOVE)
    times = {
        np.array(one).tobytes(): react(cell, np.array(one))[1] for one in itertools.product((False, True), repeat=2)
    }
    lengths = tuple(found.draft_length.tolist())
    assert goodput(cell, found.payload, lengths, times) == pytest.approx(found.goodput, rel=CLOSED_FORM)
    assert np.sum(found.bandwidth_hz) <= cell.uplink_bandwidth_hz


@pytest.mark.parametrize("preset", ["multispin-llama2", "uldl-deepseek-r1"])
def test_the_ends_are_both_papers_problems(preset: str) -> None:
    """Distributions everywhere: problem heterogeneous. Tokens everywhere, and nothing to send: problem modes."""
    cell, _ = draw(preset, devices=4, seed=2)
    cell = cell.replace(min_draft_length=0, max_draft_length=12)
    theirs = {
        "distributions": msopt.solve(cell, "heterogeneous", "exact").goodput,
        "tokens": msopt.solve(cell, "modes", "exact").goodput,
    }
    best = best_payloads(cell)
    for payload, goodput_of in theirs.items():
        found = best_payloads(cell, [payload])  # type: ignore[list-item]
        assert found.goodput == pytest.approx(goodput_of, rel=RELAXED_OPTIMUM)
        assert set(found.payload) == {payload}
        assert goodput_of * (1.0 - NEVER_ABOVE) <= found.bound <= 1.02 * goodput_of
        assert found.goodput <= best.goodput * (1.0 + EXACT)


def test_mixing_pays_where_the_downlink_is_weak() -> None:
    """A weak device sends a short draft with its distributions and asks for no correction that all would wait for."""
    cell, _ = draw("uldl-deepseek-r1", devices=5, seed=8, downlink_power_dbm=10.0)
    ends = [best_payloads(cell, [payload]).goodput for payload in UPLINK_PAYLOADS]
    best = best_payloads(cell)
    assert best.goodput > 1.015 * max(ends)
    assert best.payload == ("tokens", "distributions", "tokens", "tokens", "tokens")
    assert best.draft_length.tolist() == [7, 1, 7, 6, 6]
    assert np.argmin(cell.uplink_snr_db) == 1


def test_free_bands_leave_less_to_avoid() -> None:
    cell, _ = draw("uldl-qwen25", devices=4, seed=1, downlink_power_dbm=10.0)
    equal, shared, separate = (
        best_payloads(cell, correction=kind).goodput for kind in ("equal-shares", "shared-band", "separate-bands")
    )
    assert equal <= shared <= separate


def test_what_is_refused() -> None:
    with pytest.raises(ParameterError, match="payloads are chosen for at most 20 devices; the scenario has 21"):
        best_payloads(random_scenario(1, devices=(21, 21)))
    for allowed in ([], ["tokens", "nothing"]):
        with pytest.raises(ParameterError, match="are not some of tokens, distributions"):
            best_payloads(random_scenario(1, devices=(2, 2)), allowed)  # type: ignore[arg-type]
