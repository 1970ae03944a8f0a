"""Pairing and shape: what holds for every formulation."""

import doctest
import importlib

import pytest

import formulations
from formulations import REGISTRY, AbstractFormulation, Entry
from formulations.registry import formulation
from formulations.terms.program import PerSecondProgram
from msopt.errors import ParameterError
from tests.formulations.cells import S2

NEEDED = {
    "per_token_s": 0.05,
    "draft_length": [3, 2],
    "deadline_s": 0.2,
    "devices": [0, 1],
    "shares": [0.5, 0.5],
    "rejected": [0, 1],
    "on_uplink": [True, False],
}


def build(entry: Entry) -> AbstractFormulation:
    cell = S2.replace(uplink_sharing="power-limited") if "power-limited" in entry.name else S2
    return entry.build(cell, *(NEEDED[need] for need in entry.needs))


def concrete(kind: type[AbstractFormulation]) -> set[type[AbstractFormulation]]:
    found = set()
    for child in kind.__subclasses__():
        found |= concrete(child) if child.__subclasses__() else {child}
    return found


def test_every_formulation_is_paired_with_a_closed_form_that_exists() -> None:
    assert {entry.formulation for entry in REGISTRY.values()} == concrete(AbstractFormulation)
    for name, entry in REGISTRY.items():
        assert name == entry.name == build(entry).name
        assert entry.statement
        module, _, function = entry.closed_form.partition(":")
        assert module.startswith("msopt.")
        assert not module.startswith("msopt.model"), "the model is shared, so it cross-checks nothing"
        assert callable(getattr(importlib.import_module(module), function))
        assert 0 < entry.objective_rtol <= 1e-4


@pytest.mark.parametrize("entry", REGISTRY.values(), ids=lambda entry: entry.name)
def test_concrete_classes_are_final_and_named(entry: Entry) -> None:
    assert getattr(entry.formulation, "__final__", False)
    assert entry.formulation not in (AbstractFormulation, PerSecondProgram)
    assert "math::" in (importlib.import_module(entry.formulation.__module__).__doc__ or "")


@pytest.mark.parametrize("entry", REGISTRY.values(), ids=lambda entry: entry.name)
def test_declared_by_name_and_parametrised(entry: Entry) -> None:
    program = build(entry)
    assert {v.name() for v in program.cvxpy.variables()} <= set(program.variables)
    assert {p.name() for p in program.cvxpy.parameters()} <= set(program.parameters)
    assert program.quantities
    assert len(program.constraints) == len(program.cvxpy.constraints)
    assert program.problem.cvxpy is program.cvxpy
    if entry.formulation.quasiconvex:
        assert program.cvxpy.is_dqcp()
    else:
        assert program.cvxpy.is_dcp(dpp=True)
        assert program.parameters


@pytest.mark.parametrize("entry", REGISTRY.values(), ids=lambda entry: entry.name)
def test_an_update_and_back_changes_nothing(entry: Entry) -> None:
    program = build(entry)
    first = program.solve()
    scenario = program.scenario
    other = scenario.replace(uplink_snr_db=scenario.uplink_snr_db + 3, downlink_snr_db=scenario.downlink_snr_db + 3)
    program.update(other.replace(verify_base_s=0.1))
    changed = program.solve()
    program.update(scenario)
    again = program.solve()
    assert again.objective == pytest.approx(first.objective, rel=entry.objective_rtol)
    assert changed.objective != pytest.approx(first.objective, rel=1e-5)
    assert first.formulation == entry.name
    assert first.certificate.evaluator_gap <= entry.formulation.agreement
    assert first.certificate.primal_residual < 1e-6


def test_names_are_listed_where_one_is_unknown() -> None:
    assert formulation("draft-control") is REGISTRY["draft-control"]
    with pytest.raises(ParameterError, match="draft-control, "):
        formulation("draft-controll")


def test_the_example_runs() -> None:
    outcome = doctest.testmod(formulations)
    assert outcome.attempted > 10
    assert outcome.failed == 0
