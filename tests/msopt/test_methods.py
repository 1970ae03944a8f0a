"""`solve` over all problems and methods, its options, its warnings and its JSON object."""

import json
import re
from typing import Any

import numpy as np
import pytest

from msopt import METHODS, PROBLEMS, MsoptError, ParameterError, Scenario, draw, evaluate, solve
from msopt.formulas.multispin import per_token_split
from msopt.model.control import Control
from msopt.model.goodput import round_at
from msopt.model.sharing import spectral_efficiency
from msopt.rivals.baselines import fixed_lengths
from tests.cases import s1, s2, s3, scenario_of
from tests.tolerances import EXACT, NEVER_ABOVE, PUBLISHED_DIGITS, STANDARD_ERRORS

KEYS = """
    scenario problem method correction solver goodput_tokens_per_s standard_error_tokens_per_s bound_tokens_per_s gap
    round_s
    draft_upload_s verify_s correction_s per_token_s relaxed_goodput_tokens_per_s
    price_of_bandwidth_tokens_per_s_per_hz utility utility_value utility_bound limits warnings devices
"""
DEVICE_KEYS = """
    name draft_length bandwidth_hz rejection_probability uplink_probability downlink_probability expected_tokens
    goodput_tokens_per_s
"""
WITHOUT_CONTROL = ("server-only", "point-to-point", "centralised", "centralised-serial")


@pytest.fixture(scope="module")
def cell() -> Scenario:
    return draw("uldl-qwen25", devices=6, seed=1, downlink_power_dbm=15.0)[0]


@pytest.mark.parametrize(("problem", "method"), [(p, m) for p in PROBLEMS for m in METHODS[p]])
def test_every_method(cell: Scenario, problem: Any, method: str) -> None:
    solution = solve(cell, problem, method)
    record = json.loads(json.dumps(solution.to_dict(), allow_nan=False))
    assert list(record) == KEYS.split()
    assert (record["problem"], record["method"]) == (problem, method)
    if method in WITHOUT_CONTROL:
        assert record["devices"] == []
        assert record["bound_tokens_per_s"] is None
        return
    assert all(list(device) == DEVICE_KEYS.split() for device in record["devices"])
    scored = evaluate(cell, solution.control)
    scored.require_feasible()
    assert scored.goodput == record["goodput_tokens_per_s"]
    parts = record["draft_upload_s"] + record["verify_s"] + (record["correction_s"] or 0.0)
    assert record["round_s"] == pytest.approx(parts, rel=EXACT)
    tokens = sum(device["expected_tokens"] for device in record["devices"])
    assert record["goodput_tokens_per_s"] == pytest.approx(tokens / record["round_s"], rel=EXACT)
    best = solve(cell, problem).goodput
    assert record["goodput_tokens_per_s"] <= best * (1.0 + NEVER_ABOVE)
    assert best <= record["bound_tokens_per_s"]
    assert (record["correction_s"] is not None) == (problem == "modes")
    assert (record["per_token_s"] is not None) == (problem == "homogeneous")


@pytest.mark.parametrize("problem", ["heterogeneous", "modes"])
def test_a_bound_that_is_known_serves_the_baselines(cell: Scenario, problem: Any) -> None:
    best = solve(cell, problem, "exact")
    assert best.bound is not None
    for method in METHODS[problem]:
        alone, told = solve(cell, problem, method), solve(cell, problem, method, bound=best.bound)
        assert told.goodput == alone.goodput
        if told.bound is not None and alone.bound is not None:
            assert best.goodput <= told.bound <= alone.bound * (1.0 + NEVER_ABOVE)
    baseline = "greedy" if problem == "modes" else "fixed"
    reached = solve(cell, problem, baseline).goodput
    with pytest.raises(MsoptError, match="below a goodput that was reached"):
        solve(cell, problem, baseline, bound=0.5 * reached)


def test_methods_of_one_scenario_after_another() -> None:
    """What is kept of a scenario for its next method does not reach another scenario."""
    cells = [draw("uldl-qwen25", devices=4, seed=seed)[0] for seed in range(2)]
    methods = ["greedy", "exact", "computation-only"]
    in_turn = [solve(one, "modes", method).goodput for method in methods for one in cells]
    each = [solve(one, "modes", method).goodput for one in cells for method in methods]
    assert in_turn == [each[0], each[3], each[1], each[4], each[2], each[5]]
    assert each[:3] != each[3:]


def test_published_baselines() -> None:
    scenario = scenario_of(s2())
    assert solve(scenario, "heterogeneous", "fixed", length=4).goodput == pytest.approx(
        14.3431566219, rel=PUBLISHED_DIGITS
    )
    assert solve(scenario, method="server-only").goodput == pytest.approx(9.9900099900, rel=PUBLISHED_DIGITS)


def test_point_to_point_is_the_mean_of_single_device_optima() -> None:
    scenario = scenario_of(s3())
    for problem in ("heterogeneous", "modes"):
        alone = [
            solve(
                scenario.replace(
                    acceptance=[scenario.acceptance.mean[k]],
                    draft_s_per_token=[scenario.draft_s_per_token[k]],
                    uplink_snr_db=[scenario.uplink_snr_db[k]],
                    downlink_snr_db=[scenario.downlink_snr_db[k]],
                    device_names=(),
                ),
                problem,  # type: ignore[arg-type]
            ).goodput
            for k in range(3)
        ]
        found = solve(scenario, problem, "point-to-point").goodput  # type: ignore[arg-type]
        assert found == pytest.approx(np.mean(alone), rel=EXACT)


def test_centralised_tries_every_length() -> None:
    scenario = scenario_of(s3()).replace(server_draft_s_per_token=0.01)
    every = [float(round_at(scenario, np.full(3, length), 0.01 * length).goodput) for length in range(1, 9)]
    assert solve(scenario, method="centralised").goodput == pytest.approx(max(every), rel=EXACT)
    with pytest.raises(ParameterError, match=r"server\.draft_s_per_token"):
        solve(scenario_of(s3()), method="centralised")


def test_the_server_drafts_for_one_device_after_another() -> None:
    """K steps for a token of all: the best common length of L K t + T_ver, each written out."""
    cell = s3()
    scenario = scenario_of(cell).replace(server_draft_s_per_token=0.01)
    every = []
    for length in range(1, 9):
        tokens = sum(sum(device["acceptance"] ** power for power in range(length + 1)) for device in cell["devices"])
        verify = cell["server"]["verify_base_s"] + cell["server"]["verify_per_token_s"] * 3 * (length + 1)
        every.append(tokens / (length * 3 * 0.01 + verify))
    assert solve(scenario, method="centralised-serial").goodput == pytest.approx(max(every), rel=EXACT)
    with pytest.raises(ParameterError, match=r"centralised-serial needs server\.draft_s_per_token"):
        solve(scenario_of(s3()), method="centralised-serial")


def test_a_finer_grid_reaches_the_optimum_where_the_default_one_does_not() -> None:
    scenario, _ = draw("multispin-qwen35", devices=12, seed=2, bandwidth_hz=5e6)
    best = solve(scenario, "heterogeneous", "exact").goodput
    fine: dict[str, Any] = {"grid_phi": 300, "grid_lambda": 300, "grid_spacing": "logarithmic", "grid_epsilon": 1e-4}
    coarse, found = (solve(scenario, method="grid", **given).goodput for given in ({}, fine))
    assert coarse < best * (1.0 - 1e-9)
    assert found == pytest.approx(best, rel=1e-9)


def test_grid_stays_below_and_its_rules_differ() -> None:
    scenario, _ = draw("multispin-llama2", devices=8)
    ours = solve(scenario).goodput
    clip, skip = (solve(scenario, method="grid", grid_rule=rule).goodput for rule in ("clip", "skip"))
    assert skip <= ours * (1.0 + NEVER_ABOVE)
    assert clip <= ours * (1.0 + NEVER_ABOVE)
    coarse = solve(scenario, method="grid", grid_phi=2, grid_lambda=2).goodput
    assert coarse < clip


def test_fixed_lengths_keep_to_the_limits() -> None:
    scenario = scenario_of(s3())
    assert fixed_lengths(scenario).tolist() == [8, 8, 8]
    assert fixed_lengths(scenario.replace(max_draft_length=5)).tolist() == [5, 5, 5]
    with pytest.raises(ParameterError, match="outside the scenario's limits"):
        fixed_lengths(scenario, 9)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("het",), {}, 'problem = "het" is not one of homogeneous, heterogeneous, modes'),
        (("modes", "grid"), {}, 'method = "grid" does not solve problem modes; allowed are decomposition'),
        (("modes",), {"length": 3}, "option length goes with method fixed, not with decomposition"),
        (("heterogeneous", "grid"), {"grid_phi": 0}, "option grid_phi = 0 is not a whole number of at least 1"),
        (("heterogeneous", "grid"), {"grid_rule": "drop"}, 'option grid_rule = "drop" is not clip or skip'),
        (("heterogeneous", "grid"), {"grid_epsilon": 2.0}, "grid_epsilon = 2.0 is not a number above 0 and at most 1"),
        (("heterogeneous", "grid"), {"grid_epsilon": 0.0}, "grid_epsilon = 0.0 is not a number above 0 and at most 1"),
        (("modes",), {"samples": 1}, "option samples = 1 is not a whole number of at least 2"),
        (("modes",), {"sample": 5}, 'option "sample" is unknown; known are samples'),
        (("modes",), {"node_limit": 3}, "option node_limit goes with method exact, not with decomposition"),
        (("heterogeneous", "grid"), {"time_limit_s": 1}, "option time_limit_s goes with method exact, not with grid"),
        (("heterogeneous", "exact"), {"node_limit": 0}, "option node_limit = 0 is not a whole number of at least 1"),
        (("modes", "exact"), {"time_limit_s": 0}, "option time_limit_s = 0 is not a number above 0"),
        (("modes", "exact"), {"time_limit_s": float("nan")}, "option time_limit_s = nan is not a number above 0"),
    ],
)
def test_what_cannot_be_asked(arguments: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        solve(scenario_of(s1()), *arguments, **options)


def test_beyond_the_table_all_methods_are_scored_on_the_same_draws() -> None:
    scenario, _ = draw("multispin-qwen35", devices=24)
    ours = solve(scenario, "modes", samples=4000, seed=5)
    assert ours.standard_error > 0.0
    for method in ("computation-only", "uniform-length", "greedy"):
        other = solve(scenario, "modes", method, samples=4000, seed=5)
        assert other.goodput <= ours.goodput + STANDARD_ERRORS * ours.standard_error
        assert other.goodput <= other.bound  # type: ignore[operator]
    again = solve(scenario, "modes", samples=4000, seed=5)
    assert again.to_dict() == ours.to_dict()
    assert solve(scenario, "modes", samples=4000, seed=6).goodput != ours.goodput


def test_sampled_scores_agree_with_exact_ones() -> None:
    """One comparison at four standard errors: a false alarm in 16 000 seeds."""
    from msopt.evaluation import score
    from msopt.modes.samples import SampledOutcomes

    scenario, _ = draw("uldl-qwen25", devices=8, downlink_power_dbm=15.0)
    control = solve(scenario, "modes").control
    exact = evaluate(scenario, control)
    sampled = score(scenario, control, SampledOutcomes(scenario, "best", 20_000, 3))
    assert abs(sampled.goodput - exact.goodput) <= STANDARD_ERRORS * sampled.standard_error


def test_paper_greedy_draws_anew_at_each_evaluation() -> None:
    scenario, _ = draw("uldl-qwen25", devices=6, downlink_power_dbm=15.0)
    exact = solve(scenario, "modes", "greedy")
    sampled = solve(scenario, "modes", "greedy", samples=50, seed=1)
    assert sampled.goodput <= solve(scenario, "modes").goodput * (1.0 + NEVER_ABOVE)
    assert exact.standard_error is None
    assert evaluate(scenario, sampled.control).goodput == sampled.goodput


def test_warnings_say_what_looks_like_a_slip() -> None:
    weak = scenario_of(s2()).replace(uplink_snr_db=[10.0, -60.0])
    (text,) = solve(weak).warnings
    assert 'devices[1] ("dev-2")' in text
    assert "min_draft_length = 0" in text
    loud = scenario_of(s1()).replace(uplink_snr_db=[87.0])
    assert any("uplink_snr_db = 87 is above 60 dB" in text for text in solve(loud).warnings)
    description = s1()
    del description["devices"][0]["acceptance"]
    description["devices"][0]["acceptance_curve"] = [0.805, 0.632, 0.483]
    curve = scenario_of(description)
    assert curve.acceptance.expected_tokens([3.0])[0] == pytest.approx(2.920, rel=EXACT)
    assert any("beyond its acceptance_curve of 3 values" in text for text in solve(curve).warnings)


def test_a_caution_of_many_devices_is_told_once() -> None:
    """Three devices of 4 s a token where a round verifies in 0.2 s; then two with short measured curves."""
    quick, slow = ({"acceptance": 0.8, "draft_s_per_token": seconds} for seconds in (0.02, 4.0))
    radio = {"uplink_snr_db": 10.0, "downlink_snr_db": 10.0}
    devices = [{"name": f"d{k}"} | one | radio for k, one in enumerate((quick, slow, slow, slow))]
    (text,) = solve(scenario_of(s2() | {"devices": devices})).warnings
    assert re.match(r'devices\[[123]\] \("d[123]"\): its minimum of 1 takes .* nothing \(and 2 more devices\)$', text)
    for device in devices[1:]:
        device["draft_s_per_token"] = 0.02
    for device in devices[1:3]:
        del device["acceptance"]
        device["acceptance_curve"] = [0.9, 0.8]
    (text,) = solve(scenario_of(s2() | {"devices": devices})).warnings
    assert re.match(r'devices\[1\] \("d1"\): draft length \d lies beyond .* ratio \(and 1 more device\)$', text)
    late = scenario_of(s2()).replace(draft_s_per_token=[6.0, 7.0])
    assert any(text.endswith("is above 5 s; is it in seconds? (and 1 more device)") for text in late.warnings)


def test_to_frame() -> None:
    frame = solve(scenario_of(s3()), "modes").to_frame()
    assert frame.index.tolist() == ["dev-1", "dev-2", "dev-3"]
    assert frame["draft_length"].tolist() == [6, 4, 3]
    assert solve(scenario_of(s3()), method="server-only").to_frame().empty


def test_the_homogeneous_method_agrees_with_lemma_1() -> None:
    scenario = scenario_of(s2())
    airtime = scenario.token_payload_bits("homogeneous") / spectral_efficiency(scenario.uplink_snr)
    theta, share = per_token_split(scenario.draft_s_per_token, airtime, scenario.uplink_bandwidth_hz)
    solution = solve(scenario, "homogeneous")
    assert solution.per_token_s == pytest.approx(float(theta), rel=EXACT)
    assert solution.control.bandwidth_hz == pytest.approx(share, rel=EXACT)


def test_a_control_for_the_wrong_number_of_devices() -> None:
    control = Control(problem="heterogeneous", draft_length=np.array([1, 2]), bandwidth_hz=np.array([1e6, 1e6]))
    with pytest.raises(ParameterError, match=r"draft_length has shape \(2,\); \(3,\) is needed"):
        evaluate(scenario_of(s3()), control)


@pytest.mark.parametrize("seed", range(3))
def test_no_baseline_is_above_where_corrections_cost_next_to_nothing(seed: int) -> None:
    """Twelve devices of up to 60 tokens have more deadlines than are searched at once."""
    scenario, _ = draw("multispin-qwen35", devices=12, seed=seed)
    scenario = scenario.replace(max_draft_length=60)
    ours = solve(scenario, "modes").goodput
    for method in (
        "greedy",
        "computation-only",
        "computation-only-greedy",
        "uniform-length",
        "all-uplink",
        "all-downlink",
    ):
        assert solve(scenario, "modes", method).goodput <= ours * (1.0 + NEVER_ABOVE)


def test_grid_where_uploading_takes_no_time_beside_drafting() -> None:
    scenario = draw("multispin-llama2", devices=1, seed=0)[0]
    scenario = scenario.replace(uplink_bandwidth_hz=1e30, min_draft_length=1, max_draft_length=1)
    found = solve(scenario, "heterogeneous", "grid")
    assert found.control.draft_length.tolist() == [1]
