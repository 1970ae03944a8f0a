"""Recorded studies: figures, claims and gains are what their draws say, the same for any number of workers."""

import json
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special

import msopt
from msopt import Scenario
from msopt.errors import MsoptError, ParameterError
from reports.claims import studied as collect_module
from reports.claims.judging import HELD, IN_PART, NOT_HERE, NOT_SETTLED, NOT_TESTED, VERDICTS, judge, verdict
from reports.claims.ms_claims import MS_CLAIMS
from reports.claims.studied import collect
from reports.claims.ud_claims import UD_CLAIMS
from reports.shared.estimators import mean_of
from reports.shared.record import Record
from reports.studies import gains
from reports.studies.closed_forms import CLOSED
from reports.studies.effort import FULL, QUICK, Effort
from reports.studies.greedy_paths import AS_PRINTED, PATHS
from reports.studies.paper_figures import MS_PRESETS, STUDIED, UD_PRESETS, pair
from reports.studies.probes import expected_tokens_with_deviations
from reports.studies.quoted import QUOTED
from reports.studies.settings import CHANGES, scenario_at, scenario_hash
from reports.studies.study import draw_seed
from tests.tolerances import EXACT

TINY = Effort(
    name="tiny",
    devices=4,
    draws={"heterogeneous": 2, "modes": 2},
    curve_draws=4,
    bandwidth_hz=(5e6, 10e6, 20e6),
    ms_devices=(3, 4, 5),
    downlink_power_dbm=(0.0, 15.0, 30.0),
    greedy_power_dbm=(15.0,),
    ud_devices=(3, 4),
    power_ratio=(4.0, 16.0),
    table_i_part=(0.5, 1.0),
    gains_draws={"heterogeneous": 1, "modes": 1},
    gains_devices={"heterogeneous": 3, "modes": 3},
    prompts=3,
    rounds=30,
)
FAMILIES = {
    "heterogeneous": {"server speed": {"server_speed": [0.5, 2.0]}},
    "modes": {"number of devices": {"devices": [2, 3]}},
}
OWN = "tests.reports.own_methods:three"
HERE_AND_THERE = "tests.reports.own_methods:at_5_mhz"
FIGURES = CLOSED | STUDIED


@pytest.fixture(scope="module")
def record() -> Record:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gains, "FAMILIES", FAMILIES)
        return collect(TINY, jobs=1, methods=[OWN, HERE_AND_THERE], measured={"mine": [(1, 0.1), (2, 0.15)]})


def test_the_same_with_two_workers(record: Record) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gains, "FAMILIES", FAMILIES)
        again = collect(TINY, jobs=2, methods=[OWN, HERE_AND_THERE], measured={"mine": [(1, 0.1), (2, 0.15)]})
    assert again.manifest == record.manifest
    for name, table in record.tables.items():
        pd.testing.assert_frame_equal(again.tables[name], table, check_exact=True, obj=name)


def test_a_method_that_fails_here_and_there_leaves_the_rest(record: Record) -> None:
    """It answers at 5 MHz alone: a line of one point, no gains, and every other draw told with its cause."""
    shown = record.tables["ms_fig7"]
    own = shown[shown["scheme"] == HERE_AND_THERE]
    assert own["bandwidth_hz"].tolist() == [5e6] * len(MS_PRESETS)
    assert set(own["draws"]) == {TINY.curve_draws}
    faults = record.tables["faults"]
    assert set(faults["scheme"]) == {HERE_AND_THERE}
    of_figure = faults[faults["study"] == "ms_fig7"]
    assert len(of_figure) == len(MS_PRESETS) * 2 * TINY.curve_draws
    assert of_figure["setting"].str.contains("bandwidth_hz = ").all()
    status = of_figure["status"].where(of_figure["setting"].str.contains("10000000.0"), "")
    assert set(status) == {"failed", ""}
    assert set(of_figure["status"]) == {"failed", "infeasible"}
    assert HERE_AND_THERE not in set(record.tables["gains"]["baseline"])
    assert not record.tables["draws_ms_fig7"].isna()["goodput_tokens_per_s"].any()


def test_draws_that_failed_are_left_out_of_the_claims(record: Record) -> None:
    draws = {name.removeprefix("draws_"): table for name, table in record.tables.items() if name.startswith("draws_")}
    table = draws["ms_fig7"]
    lost = (table["scheme"] == "fixed") & (table["draw"] == 0) & (table["bandwidth_hz"] == 10e6)
    cases = judge(MS_CLAIMS, draws | {"ms_fig7": table[~lost]})[1]
    # Three whole curves are left of four: one to choose on, two to judge on; and of the ends of the band all three.
    for name, left in (("saturates", 2), ("gain-narrows", 3)):
        assert cases[cases["id"] == name]["draws"].tolist() == [left] * len(MS_PRESETS)
    assert np.isfinite(cases[cases["id"].isin(("saturates", "gain-narrows"))]["value"]).all()
    none = judge(MS_CLAIMS, draws | {"ms_fig7": table[table["scheme"] != "fixed"]})[0]
    assert {"gain-narrows", "gain-at-most-llama2"} <= set(none.loc[none["verdict"] == NOT_TESTED, "id"])


def test_a_task_that_fails_is_a_fault_and_all_of_them_an_error() -> None:
    def odd(number: int) -> list[dict[str, int]]:
        if number % 2:
            raise ZeroDivisionError
        return [{"number": number}]

    rows, faults, _ = collect_module._run({"one": [(odd, (0,)), (odd, (1,)), (odd, (2,))]}, 1, None)
    assert rows == {"one": [{"number": 0}, {"number": 2}]}
    assert faults == [{"study": "one", "setting": "1", "status": "failed", "cause": "ZeroDivisionError"}]
    with pytest.raises(MsoptError, match="nothing could be computed for one: ZeroDivisionError"):
        collect_module._run({"one": [(odd, (1,))]}, 1, None)


def test_manifest_speaks_of_every_table(record: Record) -> None:
    assert list(record.manifest["tables"]) == list(record.tables)
    json.dumps(record.manifest, allow_nan=False)
    for name, figure in FIGURES.items():
        assert record.manifest["tables"][name]["title"] == figure.title


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_tidy(record: Record, name: str) -> None:
    table, figure = record.tables[name], FIGURES[name]
    assert figure.x is not None
    assert {"pair", figure.x, "scheme", "mean", "low", "high", "draws", *figure.by} <= set(table.columns)
    assert not table.duplicated(["pair", *figure.by, figure.x, "scheme"]).any()
    assert np.all((table["low"] <= table["mean"]) & (table["mean"] <= table["high"]))
    assert np.isfinite(table[["mean", "low", "high", figure.x]].to_numpy(dtype=float)).all()


def test_a_point_of_a_figure_from_its_scenarios(record: Record) -> None:
    """Drawn and solved again, without the studies' own machinery."""
    values = []
    for number in range(TINY.curve_draws):
        scenario, _ = msopt.draw("multispin-qwen35", devices=4, bandwidth_hz=20e6, seed=draw_seed(0, number))
        values.append(msopt.solve(scenario, "heterogeneous", "fixed").goodput)
    table = record.tables["ms_fig7"]
    at = table[(table["bandwidth_hz"] == 20e6) & (table["scheme"] == "fixed") & (table["pair"] == pair(MS_PRESETS[1]))]
    assert at[["mean", "low", "high"]].to_numpy()[0] == pytest.approx(mean_of(values)[:3], rel=EXACT)


def test_the_optimum_is_never_below_another_control(record: Record) -> None:
    for name in ("ms_fig7", "ms_grid", "ms_fig8", "ud_fig7_8", "ud_fig9_10", "ud_fig11"):
        draws = record.tables[f"draws_{name}"]
        best = draws[draws["scheme"] == "optimum"].set_index(["pair", "scenario_hash"])["goodput_tokens_per_s"]
        others = draws.set_index(["pair", "scenario_hash"])["goodput_tokens_per_s"]
        assert np.all(others <= best.reindex(others.index) * (1 + 1e-9)), name


def test_shares_add_up(record: Record) -> None:
    table = record.tables["ud_fig7_8_shares"]
    sums = table.groupby(["pair", "downlink_power_dbm", "scheme"])["mean"].sum()
    np.testing.assert_allclose(sums, 1.0, rtol=EXACT)


def test_a_users_method_is_in_the_figures_of_its_problem(record: Record) -> None:
    for name in STUDIED:
        assert (OWN in set(record.tables[name]["scheme"])) == name.startswith("ms")
    assert OWN in set(record.tables["gains"]["baseline"])


def test_measured_verification_times_are_in_their_figure(record: Record) -> None:
    table = record.tables["ms_fig5"]
    assert table[table["scheme"] == "measured: mine"]["mean"].tolist() == [0.1, 0.15]


def test_closed_form_and_search_agree(record: Record) -> None:
    for name in ("verification", "latency", "acceptance"):
        table = record.tables[f"ms_fig4_{name}"]
        whole, search = (table[table["scheme"] == s]["mean"].tolist() for s in ("closed form (whole)", "search"))
        assert whole == search


# Gains


def test_gains_are_ratios_of_goodputs(record: Record) -> None:
    draws, table = record.tables["draws_gains"], record.tables["gains"]
    ratio = draws["optimum_tokens_per_s"] / draws["baseline_tokens_per_s"] - 1.0
    np.testing.assert_array_equal(draws["gain"], ratio)
    assert np.all((table["median"] <= table["p95"]) & (table["p95"] <= table["max"]))
    pooled = table[(table["family"] == "all") & (table["problem"] == "heterogeneous")].set_index("baseline")
    own = draws[draws["problem"] == "heterogeneous"]
    for baseline in ("fixed", "homogeneous", "equal-bandwidth"):
        gain = own[own["baseline"] == baseline]["gain"]
        assert pooled.loc[baseline, "scenarios"] == len(gain)
        assert pooled.loc[baseline, "max"] == gain.max()


def test_the_full_run_has_the_scenarios_and_draws_that_it_promises() -> None:
    for effort, least in ((QUICK, (300, 30)), (FULL, (2000, 200))):
        studies = gains.studies(effort, 0)
        for problem, count in zip(("heterogeneous", "modes"), least, strict=True):
            assert sum(len(s.points()) for s in studies.values() if s.problem == problem) >= count
    assert min(FULL.draws.values()) >= 10


# Claims


def test_every_claim_has_a_verdict_that_follows_from_its_cases(record: Record) -> None:
    """The numbers quoted at 10 to 24 devices have no draws among five; all else is tested."""
    claims, cases = record.tables["claims"], record.tables["claims_cases"]
    assert claims["id"].is_unique
    assert claims["sentence"].is_unique
    for _, claim in claims.iterrows():
        outcomes = set(cases[cases["id"] == claim["id"]]["outcome"])
        if not outcomes:
            assert claim["verdict"] == NOT_TESTED
            assert claim["id"] in {record.id for record in QUOTED}
            continue
        mixed = "holds in part" in outcomes or outcomes >= {"holds", "fails"}
        single = {"holds": HELD, "fails": NOT_HERE}.get(next(iter(outcomes)), NOT_SETTLED)
        wanted = IN_PART if mixed else single if len(outcomes) == 1 else NOT_SETTLED
        assert claim["verdict"] == wanted
        assert bool(claim["where"]) == (wanted in (IN_PART, NOT_SETTLED) and claim["cases"] > 1)
        assert claim["found"]
        mine = cases[cases["id"] == claim["id"]]
        assert set(mine["counted_in"]) == {claim["counted_in"]}
        every = len(mine) if claim["counted_in"] == "cases" else mine["draws"].sum()
        assert claim["holding"] + claim["failing"] + claim["unsettled"] == every
    assert set(record.manifest["tables"]["claims"]["verdicts"]) == set(VERDICTS)
    assert set(cases["outcome"]) <= set(record.manifest["tables"]["claims_cases"]["outcomes"])


def test_where_algorithm_1_loses(record: Record) -> None:
    """The ways to run it, each with more than the one before, from the goodputs themselves."""
    table = record.tables["ud_greedy"].set_index(["pair", "scheme"])["mean"]
    drawn, figure = record.tables["draws_ud_greedy"], record.tables["draws_ud_fig7_8"]
    for preset in UD_PRESETS:
        of_pair = figure[(figure["pair"] == pair(preset)) & (figure["downlink_power_dbm"] == 15.0)]
        means = of_pair.groupby("scheme")["goodput_tokens_per_s"].mean()
        assert table[pair(preset), AS_PRINTED] == pytest.approx(1.0 - means["greedy"] / means["optimum"], rel=1e-9)
        for scheme in PATHS:
            mine = drawn[(drawn["pair"] == pair(preset)) & (drawn["scheme"] == scheme)]["goodput_tokens_per_s"]
            assert table[pair(preset), scheme] == pytest.approx(1.0 - fmean(mine) / means["optimum"], abs=1e-12)
        losses = [table[pair(preset), scheme] for scheme in PATHS]
        assert losses == sorted(losses, reverse=True)


def test_the_draft_time_at_which_a_quoted_ratio_comes_out(record: Record) -> None:
    """Put back into the scenarios, it gives the ratio: every length written out."""
    for row in record.tables["ms_centralised"].to_dict("records"):
        preset = next(name for name in MS_PRESETS if pair(name) == row["pair"])
        found = []
        for number in range(TINY.curve_draws):
            cell, _ = msopt.draw(preset, devices=TINY.devices, seed=draw_seed(0, number))
            verify = cell.verify_base_s + TINY.devices * cell.verify_per_device_s
            step = row["draft_s_per_token"] * (TINY.devices if row["scheme"] == "centralised-serial" else 1)
            tokens = [sum(float(np.sum(cell.acceptance.mean**p)) for p in range(l + 1)) for l in range(1, 26)]
            found.append(max(e / (l * step + verify) for l, e in enumerate(tokens, start=1)))
        figure = record.tables["draws_ms_fig6"]
        ours = figure[(figure["pair"] == row["pair"]) & (figure["scheme"] == "optimum")]["goodput_tokens_per_s"]
        assert fmean(ours) / fmean(found) == pytest.approx(row["quoted_ratio"], rel=1e-5)


def made_up(schemes: dict[str, list[float]], key: str, values: list[float]) -> pd.DataFrame:
    """Ten draws in which each scheme has the given goodputs along the key, times a factor of the draw."""
    columns = ["pair", key, "draw", "scheme", "goodput_tokens_per_s"]
    return pd.DataFrame(
        [
            {
                "pair": pair(preset),
                key: x,
                "draw": d,
                "scheme": scheme,
                "goodput_tokens_per_s": curve[i] * (1 + d / 100),
            }
            for preset in (UD_PRESETS if "power" in key else MS_PRESETS)
            for scheme, curve in schemes.items()
            for i, x in enumerate(values)
            for d in range(10)
        ],
        columns=columns,
    )


@pytest.mark.parametrize(
    ("claim", "schemes", "held"),
    [
        ("gain-narrows", {"optimum": [4, 5, 6], "fixed": [2, 3, 4]}, HELD),
        ("gain-narrows", {"optimum": [4, 8, 12], "fixed": [2, 3, 4]}, NOT_HERE),
        ("saturates", {"optimum": [1, 3, 3.9], "fixed": [1, 1, 1]}, HELD),
        ("saturates", {"optimum": [1, 3, 4.1], "fixed": [1, 1, 1]}, NOT_HERE),
        ("saturates", {"optimum": [1, 2, 4], "fixed": [1, 1, 1]}, NOT_HERE),
        ("gain-grows", {"optimum": [4, 8, 12], "fixed": [2, 3, 4]}, HELD),
        ("gain-grows", {"optimum": [4, 5, 6], "fixed": [2, 3, 4]}, NOT_HERE),
        ("fixed-saturates", {"fixed": [1, 3, 3.5]}, HELD),
        ("fixed-degrades", {"optimum": [4, 4, 4], "fixed": [2, 3, 2.5]}, HELD),
        ("fixed-degrades", {"optimum": [4, 4, 4], "fixed": [2, 3, 4]}, NOT_HERE),
        ("gap-widens", {"optimum": [4, 6, 9], "homogeneous": [3, 4, 5]}, HELD),
        ("gap-widens", {"optimum": [4, 6, 8], "homogeneous": [3, 5, 7.5]}, NOT_HERE),
        ("gap-widens-in-tokens", {"optimum": [4, 6, 10], "homogeneous": [3, 5, 8.9]}, HELD),
        ("uni-bw-above-homo", {"equal-bandwidth": [2, 2, 2], "homogeneous": [1, 1, 1]}, HELD),
        ("uni-bw-above-homo", {"equal-bandwidth": [2, 1, 2], "homogeneous": [1, 2, 1]}, IN_PART),
        ("gain-at-5-mhz-llama2", {"optimum": [1.88, 1, 1], "fixed": [1, 1, 1]}, HELD),
        ("gain-at-5-mhz-llama2", {"optimum": [2, 1, 1], "fixed": [1, 1, 1]}, NOT_HERE),
        ("gain-at-most-llama2", {"optimum": [1.5, 1, 1], "fixed": [1, 1, 1]}, HELD),
        ("gain-at-most-llama2", {"optimum": [2, 1, 1], "fixed": [1, 1, 1]}, IN_PART),
        ("grid-global", {"optimum": [2, 2, 2], "grid": [2, 2, 2]}, HELD),
        ("grid-global", {"optimum": [2, 2, 2], "grid": [1.9, 1.9, 1.9]}, NOT_HERE),
    ],
)
def test_claims_of_ms_on_made_up_draws(claim: str, schemes: dict[str, list[float]], held: str) -> None:
    """Draws that differ by a factor alone, so that every ratio of theirs is sure."""
    tested = next(one for one in MS_CLAIMS if one.id == claim)
    by_bandwidth = made_up(schemes, "bandwidth_hz", [5e6, 10e6, 15e6])
    draws = {
        "ms_fig6": made_up({}, "devices", []),
        "ms_fig7": by_bandwidth.assign(devices=20),
        "ms_fig8": made_up(schemes, "devices", [10, 15, 20]),
        "ms_grid": by_bandwidth.assign(devices=10),
    }
    assert verdict(tested.cases(draws)) == held


@pytest.mark.parametrize(
    ("claim", "schemes", "held"),
    [
        ("optimum-above-uniform-length", {"optimum": [3, 3], "uniform-length": [2, 2]}, HELD),
        ("greedy-above-computation-only", {"greedy": [3, 1], "computation-only": [2, 2]}, IN_PART),
        ("greedy-above-computation-only-greedy", {"greedy": [1, 1], "computation-only-greedy": [1, 2]}, NOT_HERE),
    ],
)
def test_lengths_above_on_made_up_draws(claim: str, schemes: dict[str, list[float]], held: str) -> None:
    tested = next(one for one in UD_CLAIMS if one.id == claim)
    assert verdict(tested.cases({"ud_fig11": made_up(schemes, "power_ratio", [4.0, 16.0])})) == held


@pytest.mark.parametrize(("curve", "held"), [([1, 1, 4, 5], HELD), ([1, 1, 4, 6], NOT_HERE)])
def test_saturation_is_held_against_the_steepest_step(curve: list[float], held: str) -> None:
    """Flat, then steep, then flat: its first step says nothing."""
    tested = next(one for one in UD_CLAIMS if one.id == "power-saturates-optimum")
    table = made_up({"optimum": curve}, "downlink_power_dbm", [0.0, 10.0, 20.0, 30.0])
    assert verdict(tested.cases({"ud_fig7_8": table})) == held


def test_expected_tokens_with_deviations_by_integration() -> None:
    """E[N] at 8 tokens averaged over a Beta law of alpha with Table I's moments, MBPP+ and GSM8K, Llama-2."""
    found = dict(expected_tokens_with_deviations("multispin-llama2", 8))
    for dataset, mean, std in (("MBPP+", 0.8582, 0.2472), ("GSM8K", 0.7390, 0.3133)):
        total = mean * (1 - mean) / std**2 - 1
        a, b = mean * total, (1 - mean) * total

        def tokens(alpha: float) -> float:
            return sum(alpha**power for power in range(9))

        # quad's own weight x^(a-1) (1-x)^(b-1): both ends are poles.
        over = integrate.quad(tokens, 0, 1, weight="alg", wvar=(a - 1, b - 1))[0] / special.beta(a, b)
        assert found[dataset] == pytest.approx(over / tokens(mean) - 1, rel=1e-7)


# Settings and statistics


def test_spreads_and_speed() -> None:
    own = scenario_at("uldl-qwen25", {"devices": 6}, 3)
    alike = {"acceptance_spread": 0.0, "draft_time_spread": 0.0, "snr_spread": 0.0}
    same = scenario_at("uldl-qwen25", {"devices": 6} | alike, 3)
    for values in (same.acceptance.mean, same.draft_s_per_token, same.uplink_snr_db, same.downlink_snr_db):
        np.testing.assert_allclose(values, values[0], rtol=EXACT)
    assert same.uplink_snr_db[0] == pytest.approx(np.mean(own.uplink_snr_db), rel=EXACT)
    unchanged = scenario_at("uldl-qwen25", {"devices": 6} | dict.fromkeys(alike, 1.0), 3)
    np.testing.assert_allclose(unchanged.acceptance.mean, own.acceptance.mean, rtol=EXACT)
    wider = scenario_at("uldl-qwen25", {"devices": 6, "draft_time_spread": 2.0, "server_speed": 2.0}, 3)
    assert np.ptp(np.log(wider.draft_s_per_token)) == pytest.approx(2 * np.ptp(np.log(own.draft_s_per_token)))
    assert wider.verify_idle_s == pytest.approx(own.verify_idle_s / 2, rel=EXACT)


def test_bands_and_power_of_a_file_change_as_those_of_a_draw(tmp_path: Path) -> None:
    """An axis of a file holds the transmit powers, as a draw with other options does."""
    given = {"bandwidth_hz": 10e6, "downlink_power_dbm": 10.0}
    scenario_at("uldl-qwen25", {"devices": 3} | given, 3).write(path := tmp_path / "cell.toml")
    changed = {"uplink_bandwidth_hz": 40e6, "downlink_bandwidth_hz": 40e6, "downlink_power_w": 1.0}
    found = scenario_at(str(path), changed, 0)
    drawn = scenario_at("uldl-qwen25", {"devices": 3, "bandwidth_hz": 40e6, "downlink_power_dbm": 30.0}, 3)
    for name in ("uplink_snr_db", "downlink_snr_db"):
        np.testing.assert_allclose(getattr(found, name), getattr(drawn, name), rtol=0, atol=1.1e-9)
    # The sharing that an axis sets is the one under which the band changes.
    shared = scenario_at("qwen-coder", {"uplink_sharing": "power-limited", "uplink_bandwidth_hz": 40e6}, 0)
    np.testing.assert_allclose(shared.uplink_snr * 2.0, scenario_at("qwen-coder", {}, 0).uplink_snr, rtol=EXACT)


@pytest.mark.parametrize(
    ("base", "settings", "words"),
    [
        ("qwen-coder", {"devices": 3}, "devices is for presets"),
        ("qwen-coder", {"bandwidth_hz": 1e6}, "its own is uplink_bandwidth_hz or downlink_bandwidth_hz"),
        ("uldl-qwen25", {"uplink_bandwidth_hz": 0}, "uplink_bandwidth_hz = 0 is not a finite number above 0"),
        ("uldl-qwen25", {"server_speed": 0.0}, "server_speed = 0"),
        ("uldl-qwen25", {"snr_spread": "x"}, 'snr_spread = "x" is not a number'),
        ("uldl-qwen25", {"dataset": "SQuAD"}, "HumanEval"),
    ],
)
def test_bad_settings(base: str, settings: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        scenario_at(base, settings, 0)


def test_sure_devices_have_no_spread() -> None:
    sure = scenario_at("uldl-qwen25", {"devices": 2}, 0).replace(acceptance=[1.0, 0.5])
    with pytest.raises(ParameterError, match="needs a geometric acceptance law between 0 and 1"):
        CHANGES["acceptance_spread"](sure, 2.0)


def test_hash_of_a_scenario(record: Record) -> None:
    one, other = (scenario_at("uldl-qwen25", {"devices": 2}, seed) for seed in (0, 1))
    assert scenario_hash(one) == scenario_hash(one.replace(name="another"))
    assert scenario_hash(one) != scenario_hash(other)
    row = record.tables["draws_ud_fig11"].iloc[0]
    again: Scenario = scenario_at(
        UD_PRESETS[0], {"devices": 4, "power_ratio": row["power_ratio"]}, int(row["scenario_seed"])
    )
    assert scenario_hash(again) == row["scenario_hash"]
