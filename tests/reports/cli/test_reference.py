"""Every reference case and the field scenarios S1 to S3 through the command line."""

import pytest

from reports.shared.rows import Row
from tests.cases import REFERENCE, REFERENCE_NAMES, Description, base, s1, s2, s3
from tests.reports.command import Command
from tests.tolerances import (
    BASELINE,
    CLOSED_FORM,
    DECOMPOSITION_MODES,
    EXACT,
    FEW_ROUNDINGS,
    FIVE_DIGITS,
    NEVER_ABOVE,
    PUBLISHED_DIGITS,
)

each_case = pytest.mark.parametrize("case", REFERENCE, ids=REFERENCE_NAMES)


def lengths(record: Row) -> list[int]:
    return [device["draft_length"] for device in record["devices"]]


def bandwidths(record: Row) -> list[float]:
    return [device["bandwidth_hz"] for device in record["devices"]]


@each_case
def test_homogeneous(msopt: Command, case: Row) -> None:
    expected = case["expected"]["homogeneous"]
    record = msopt.solved(msopt.scenario(case["scenario"]), "homogeneous")
    assert lengths(record) == [expected["length"]] * len(record["devices"])
    assert record["per_token_s"] == pytest.approx(expected["theta_s"], rel=CLOSED_FORM)
    assert bandwidths(record) == pytest.approx(expected["bandwidth_hz"], rel=CLOSED_FORM)
    assert record["goodput_tokens_per_s"] == pytest.approx(expected["goodput"], rel=CLOSED_FORM)
    assert record["relaxed_goodput_tokens_per_s"] >= expected["goodput"] * (1.0 - EXACT)


@each_case
def test_heterogeneous(msopt: Command, case: Row) -> None:
    best = case["expected"]["heterogeneous"]["goodput"]
    record = msopt.solved(msopt.scenario(case["scenario"]), "heterogeneous")
    assert record["goodput_tokens_per_s"] == pytest.approx(best, rel=CLOSED_FORM)
    assert record["bound_tokens_per_s"] >= best
    assert record["gap"] == record["bound_tokens_per_s"] / record["goodput_tokens_per_s"] - 1.0


@each_case
def test_modes(msopt: Command, case: Row) -> None:
    expected = case["expected"]["modes"]
    path = msopt.scenario(case["scenario"])
    record = msopt.solved(path, "modes")
    assert record["goodput_tokens_per_s"] >= DECOMPOSITION_MODES * expected["goodput"]
    assert record["goodput_tokens_per_s"] <= (1.0 + NEVER_ABOVE) * expected["goodput"]
    assert record["bound_tokens_per_s"] >= expected["goodput"]
    for method, key in (("all-uplink", "all_uplink"), ("all-downlink", "all_downlink")):
        baseline = msopt.solved(path, "modes", "--method", method)["goodput_tokens_per_s"]
        assert baseline == pytest.approx(expected[key], rel=BASELINE)


@each_case
def test_reactions(msopt: Command, case: Row) -> None:
    """The best modes are often not unique: the time must be right, and the modes shown must attain it."""
    path = msopt.scenario(case["scenario"])
    names = [device["name"] for device in case["scenario"]["devices"]]
    for expected in case["expected"]["modes"]["reactions"]:
        rejected = ",".join(names[k] for k in expected["rejected"])
        outcome = msopt.done("react", path, "--rejected", rejected, "--format", "json")
        assert outcome.record["correction_s"] == pytest.approx(expected["correction_s"], rel=CLOSED_FORM)
        assert [device["name"] for device in outcome.record["devices"]] == [names[k] for k in expected["rejected"]]
        (written := msopt.folder / "reaction.json").write_text(outcome.out, encoding="utf-8")
        score = msopt.done("evaluate", path, "--control", written, "--format", "json").record
        assert score["correction_s"] == pytest.approx(expected["correction_s"], rel=CLOSED_FORM)
        assert score["best_correction_s"] == outcome.record["correction_s"]


def test_s1(msopt: Command) -> None:
    path = msopt.scenario(s1())
    for problem in ("homogeneous", "heterogeneous"):
        record = msopt.solved(path, problem)
        assert lengths(record) == [6]
        assert bandwidths(record) == pytest.approx([20e6], rel=CLOSED_FORM)
        assert record["goodput_tokens_per_s"] == pytest.approx(12.2096246590, rel=PUBLISHED_DIGITS)
    assert msopt.solved(path, "homogeneous")["per_token_s"] == pytest.approx(0.02048864963565, rel=PUBLISHED_DIGITS)
    record = msopt.solved(path, "modes")
    assert lengths(record) == [6]
    assert record["goodput_tokens_per_s"] == pytest.approx(12.3154291299, rel=PUBLISHED_DIGITS)
    assert record["correction_s"] == pytest.approx(1.500331206e-4, rel=PUBLISHED_DIGITS)
    uplink = msopt.solved(path, "modes", "--method", "all-uplink")
    assert uplink["goodput_tokens_per_s"] == pytest.approx(12.3073608690, rel=PUBLISHED_DIGITS)
    reaction = msopt.done("react", path, "--rejected", "dev-1", "--format", "json").record
    assert reaction["correction_s"] == pytest.approx(2.03336587e-4, rel=2e-9)
    (device,) = reaction["devices"]
    assert (device["mode"], device["bandwidth_hz"]) == ("downlink", 20e6)
    assert device["downlink_power_w"] == pytest.approx(10.0, rel=FEW_ROUNDINGS)


def test_s2(msopt: Command) -> None:
    path = msopt.scenario(s2())
    together = msopt.done("solve", path, "--problem", "all", "--format", "json").record
    homogeneous, heterogeneous, modes = together
    assert [record["problem"] for record in together] == ["homogeneous", "heterogeneous", "modes"]
    assert [lengths(record) for record in together] == [[3, 3], [5, 2], [6, 3]]
    goodputs = [record["goodput_tokens_per_s"] for record in together]
    assert goodputs == pytest.approx([15.3599528894, 18.5400314930, 19.0473044917], rel=PUBLISHED_DIGITS)
    assert homogeneous["per_token_s"] == pytest.approx(0.04435173021, rel=PUBLISHED_DIGITS)
    assert bandwidths(homogeneous) == pytest.approx([401326.42, 19598673.58], rel=2e-8)
    assert heterogeneous["relaxed_goodput_tokens_per_s"] == pytest.approx(18.6189740585, rel=PUBLISHED_DIGITS)
    price = heterogeneous["price_of_bandwidth_tokens_per_s_per_hz"]
    assert price == pytest.approx(2.6411e-8, rel=2 * FIVE_DIGITS)
    assert modes["correction_s"] == pytest.approx(5.822070366e-4, rel=PUBLISHED_DIGITS)
    fixed = msopt.solved(path, "heterogeneous", "--method", "fixed", "--length", 4)
    assert fixed["goodput_tokens_per_s"] == pytest.approx(14.3431566219, rel=PUBLISHED_DIGITS)
    alone = msopt.solved(path, "heterogeneous", "--method", "server-only")
    assert alone["goodput_tokens_per_s"] == pytest.approx(9.9900099900, rel=PUBLISHED_DIGITS)
    assert alone["devices"] == []


def test_s3(msopt: Command) -> None:
    path = msopt.scenario(s3())
    record = msopt.solved(path, "modes")
    assert lengths(record) == [6, 4, 3]
    assert record["correction_s"] == pytest.approx(8.664913993e-4, rel=PUBLISHED_DIGITS)
    for method, goodput, digits in (
        ("decomposition", 30.0661086526, PUBLISHED_DIGITS),
        ("all-downlink", 30.0656805936, PUBLISHED_DIGITS),
        ("all-uplink", 29.6327967, BASELINE),
    ):
        found = msopt.solved(path, "modes", "--method", method)["goodput_tokens_per_s"]
        assert found == pytest.approx(goodput, rel=digits)
    for rejected, modes, seconds in (
        ("dev-1,dev-2,dev-3", ["uplink", "downlink", "downlink"], 1.669037980e-3),
        ("dev-1,dev-2", ["uplink", "downlink"], 7.69343304e-4),
        ("dev-2,dev-3", ["downlink", "downlink"], 1.33180345e-3),
    ):
        reaction = msopt.done("react", path, "--rejected", rejected, "--format", "json").record
        assert reaction["correction_s"] == pytest.approx(seconds, rel=2e-9)
        assert [device["mode"] for device in reaction["devices"]] == modes


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
def test_nothing_to_choose(msopt: Command, problem: str) -> None:
    """One device, one allowed length."""
    record = msopt.solved(msopt.scenario(s1(limits={"min_draft_length": 4, "max_draft_length": 4})), problem)
    assert lengths(record) == [4]
    assert bandwidths(record) == pytest.approx([20e6], rel=EXACT)
    for key in ("goodput_tokens_per_s", "bound_tokens_per_s"):
        assert record[key] == pytest.approx(11.90138, rel=5e-7)


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
@pytest.mark.parametrize(
    ("alpha", "length", "goodput"), [(1.0, 16, 32.1046448757), (0.0, 1, 4.5312706460)], ids=["certain", "never"]
)
def test_extreme_acceptance(msopt: Command, problem: str, alpha: float, length: int, goodput: float) -> None:
    description: Description = base((alpha, 0.02, 10.0, 25.0))
    record = msopt.solved(msopt.scenario(description), problem)
    assert lengths(record) == [length]
    assert record["goodput_tokens_per_s"] == pytest.approx(goodput, rel=PUBLISHED_DIGITS)
