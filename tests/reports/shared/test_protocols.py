"""Whether drafting pays is said beside every control, from arithmetic that needs no solver."""

import pytest

from msopt import METHODS, PROBLEMS, Acceptance, Scenario, solve
from msopt.model.scenario import Problem
from reports.shared.protocols import verdict, with_protocols
from tests.cases import s2, scenario_of
from tests.reports.command import Command
from tests.tolerances import CLOSED_FORM, EXACT

STEP_S = 0.01


def without_drafts(devices: int) -> float:
    """Two devices of the base cell: a round verifies one token each, in 0.2 s + 1e-4 s a token."""
    return devices / (0.2 + 1e-4 * devices)


def drafted_at_the_server() -> float:
    """S2 with a server step of 10 ms: every common length, its tokens and its seconds written out."""

    def goodput(length: int) -> float:
        tokens = sum((1.0 - a ** (length + 1)) / (1.0 - a) for a in (0.8, 0.6))
        return tokens / (length * STEP_S + 0.2 + 1e-4 * 2 * (length + 1))

    return max(goodput(length) for length in range(17))


@pytest.mark.parametrize("problem", [*PROBLEMS, "all"])
def test_every_solution_stands_beside_the_other_protocols(msopt: Command, problem: str) -> None:
    path = msopt.scenario(s2(server={"draft_s_per_token": STEP_S}))
    outcome = msopt.done("solve", path, "--problem", problem, "--output", msopt.folder / "control.json")
    assert outcome.out.count("Drafting pays: ") == (3 if problem == "all" else 1)
    for word in ("server-only, 9.99)", "centralised, "):
        assert word in outcome.out
    records = msopt.done("solve", path, "--problem", problem, "--format", "json").record
    for record in records if problem == "all" else [records]:
        assert record["server_only_tokens_per_s"] == pytest.approx(without_drafts(2), rel=EXACT)
        assert record["centralised_tokens_per_s"] == pytest.approx(drafted_at_the_server(), rel=CLOSED_FORM)
    if problem != "all":
        score = msopt.done("evaluate", path, "--control", msopt.folder / "control.json", "--format", "json").record
        for key in ("server_only_tokens_per_s", "centralised_tokens_per_s"):
            assert score[key] == records[key]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_whatever_the_method(problem: Problem) -> None:
    scenario = scenario_of(s2(server={"draft_s_per_token": STEP_S}))
    for method in METHODS[problem]:
        record = with_protocols(solve(scenario, problem, method))
        assert record["server_only_tokens_per_s"] == pytest.approx(without_drafts(2), rel=EXACT)
        said = verdict(record)
        if method == "server-only":
            assert said.startswith(
                "Drafting gains nothing: 9.99 token/s, as much as without drafts (server-only, 9.99)"
            )
        elif method == "centralised":
            assert said.endswith(f"as much as with drafts at the server (centralised, {drafted_at_the_server():.4g}).")


def test_without_the_servers_step_it_says_nothing_of_it(msopt: Command) -> None:
    path = msopt.scenario(s2())
    assert msopt.solved(path, "modes", "--method", "exact")["centralised_tokens_per_s"] is None
    assert "centralised" not in msopt.done("solve", path).out


def phones(**changes: object) -> Scenario:
    """Twelve phones that draft slowly for a server that verifies quickly: what a trial of a cell looked like."""
    fields = {
        "verify_base_s": 0.1,
        "verify_per_device_s": 0.00283,
        "downlink_power_w": 1.0,
        "uplink_bandwidth_hz": 20e6,
        "downlink_bandwidth_hz": 20e6,
        "uplink_sharing": "power-limited",
        "token_bits": 18,
        "distribution_bits": 34816,
        "acceptance": Acceptance.of([0.5] * 12),
        "draft_s_per_token": [0.3] * 12,
        "uplink_snr_db": [5.0] * 12,
        "downlink_snr_db": [10.0] * 12,
    }
    return Scenario(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "method", "words"),
    [
        ({}, "decomposition", "Drafting does not pay: "),
        ({}, "fixed", "Drafting does not pay: "),
        ({"draft_s_per_token": [0.02] * 12, "acceptance": [0.8] * 12}, "decomposition", "Drafting pays: "),
        ({"draft_s_per_token": [0.06] * 12}, "fixed", "Drafting like this does not pay: "),
        ({"min_draft_length": 0}, "decomposition", "Drafting gains nothing: 89.58 token/s, as much as without drafts"),
    ],
)
def test_where_drafting_does_not_pay(changes: dict[str, object], method: str, words: str) -> None:
    record = with_protocols(solve(phones(**changes), "heterogeneous", method))
    assert record["server_only_tokens_per_s"] == pytest.approx(12 / (0.1 + 12 * 0.00283), rel=EXACT)
    said = verdict(record)
    assert said.startswith(words)
    assert said.endswith("(server-only, 89.58).")


def test_how_much() -> None:
    record = {
        "goodput_tokens_per_s": 30.0,
        "bound_tokens_per_s": None,
        "server_only_tokens_per_s": 40.0,
        "centralised_tokens_per_s": 20.0,
    }
    assert verdict(record) == (
        "Drafting like this does not pay: 30 token/s, 25 % less than without drafts (server-only, 40) and "
        "50 % more than with drafts at the server (centralised, 20)."
    )
