"""Times measured anew beside the acceptance that a profile holds of the same pair, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from msopt import ParameterError
from msopt.drawn.from_profiles import draw_from_profiles
from msopt.files.profile_json import parse_profile, profile_text, write_profile
from msopt.measured.profile import Profile
from msopt.measured.provenance import Machine, Origin
from reports.cli.app import main
from reports.page.profile_tables import profile_record
from tests.profiles import profile as invented
from tests.verification.test_measurement import plan_of, ticking
from verification.kept_acceptance import check_same_pair, kept_settings
from verification.measurement import MeasurementPlan, finish, measure
from verification.pairs import Pair
from verification.sampling import SamplingRule

ELSEWHERE = {"machine": Machine(cpu="other processor", threads=7), "date": "2026-01-31", "versions": {"torch": "2.0"}}


@pytest.fixture(scope="module")
def first(tiny: Pair, tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """A whole measurement, made to look as if on another machine."""
    plan = replace(plan_of(tasks=("code",), tokens=12), rule=SamplingRule(0.9, top_k=20))
    found = measure(plan, tiny, tmp_path_factory.mktemp("first") / "first.json", clock=ticking())
    return found.model_copy(update=ELSEWHERE | {"name": "first", "note": "a busy machine"})


def plan_with(kept: Profile) -> MeasurementPlan:
    settings = kept_settings(kept, {})
    rule = SamplingRule(**{key: settings.pop(key) for key in ("temperature", "top_k", "top_p")})
    return MeasurementPlan(
        name="again", draft="d", target="t", rule=rule, batches=(1, 2), draft_lengths=(0, 1, 2), prompt_lengths=(4, 9),
        context=8, repeats=2, kept=kept, **settings,
    )  # fmt: skip


def test_acceptance_is_kept_and_times_are_new(tiny: Pair, first: Profile, tmp_path: Path) -> None:
    output, steps = tmp_path / "again.json", []
    again = measure(plan_with(first), tiny, output, steps.append, ticking(0.25))
    assert steps == ["drafting and verification", "prompt processing"]
    for name in ("tasks", "payload", "sampling", "vocabulary", "seed", "interval_level"):
        assert getattr(again, name) == getattr(first, name)
    assert again.draft_time.median_s == 0.25
    assert [row.draft_length for row in again.verification.rows] == [0, 1, 2] * 2
    assert again.acceptance_from == Origin(name="first", **ELSEWHERE)  # type: ignore[arg-type]
    assert (again.machine, again.note) != (first.machine, first.note)
    assert parse_profile(profile_text(again)) == again
    comment = draw_from_profiles({"again": again}, devices=1)[1]
    assert "acceptance: first, on other processor, 7 threads, 2026-01-31" in " ".join(comment.split())
    assert profile_record([again]).tables["profiles"]["note"].tolist() == [
        "acceptance: first, on other processor, 7 threads, 2026-01-31"
    ]
    finish(plan_with(first), tiny, output)
    third = measure(plan_with(again), tiny, output, clock=ticking())
    assert third.acceptance_from == again.acceptance_from, "where it was first measured"


def test_another_kept_profile_is_another_measurement(tiny: Pair, first: Profile, tmp_path: Path) -> None:
    def stop(step: str) -> None:
        if step == "prompt processing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(plan_with(first), tiny, tmp_path / "x.json", stop, ticking())
    other = first.model_copy(update={"name": "other"})
    with pytest.raises(ParameterError, match="with another kept"):
        measure(plan_with(other), tiny, tmp_path / "x.json", clock=ticking())


@pytest.mark.parametrize(
    ("side", "changes", "said"),
    [
        ("draft", {"parameters": 7}, "draft.parameters = 7 there"),
        ("target", {"name": "huge"}, 'target.name = "huge" there'),
        ("target", {"file_sha256": "0" * 64}, "target.file_sha256 = "),
        ("draft", {"layers_left_out": (1,)}, "draft.layers_left_out = 1 there, none here"),
        ("draft", {"compute_type": "bfloat16"}, 'draft.compute_type = "bfloat16" there, "float32" here'),
        ("target", {"quantisation": "Q4_K_M"}, 'target.quantisation = "Q4_K_M" there, none here'),
        ("vocabulary", {"shared_entries": 31}, "shared_entries = 31 there, 32 here"),
    ],
)
def test_another_pair_is_refused(side: str, changes: dict[str, Any], said: str, tiny: Pair, first: Profile) -> None:
    check_same_pair(first, tiny)
    moved = {"source": "elsewhere"}
    check_same_pair(first.model_copy(update={"draft": first.draft.model_copy(update=moved)}), tiny)
    other = first.model_copy(update={side: getattr(first, side).model_copy(update=changes)})
    with pytest.raises(ParameterError, match=f'"first" is of another pair, its acceptance cannot be kept: {said}'):
        check_same_pair(other, tiny)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"temperature": 1.0}, "temperature = 1.0: .* was measured with 0.9"),
        ({"top_k": 3}, "top_k = 3: .* with 20"),
        ({"top_p": 0.5}, "top_p = 0.5: .* with none"),
        ({"seed": 5}, "seed = 5: .* with 0"),
        ({"draft_length": 8}, "draft_length = 8: .* with 3"),
        ({"prompts": 8}, "prompts = 8: .* with 4"),
        ({"tokens": 96}, "tokens = 96: .* with 12"),
        ({"tasks": ("chat", "code")}, "tasks = chat, code: .* with code"),
    ],
)
def test_other_settings_are_refused(given: dict[str, Any], said: str, first: Profile) -> None:
    same = {"temperature": 0.9, "top_k": 20, "seed": 0, "draft_length": 3, "prompts": 4, "tokens": 12}
    assert kept_settings(first, same | {"tasks": ("code",)}) == kept_settings(first, {})
    with pytest.raises(ParameterError, match=said):
        kept_settings(first, given)


def test_a_profile_without_acceptance_has_none_to_keep() -> None:
    for changes in ({"compute_only": True, "tasks": {}, "payload": (), "sampling": None}, {"tasks": {}}):
        with pytest.raises(ParameterError, match='"invented pair" has no acceptance to keep'):
            kept_settings(invented(**changes), {})
    assert kept_settings(invented(), {"tokens": 96})["seed"] == 1, "older profiles do not say how many tokens"


def test_the_command(tiny: Pair, first: Profile, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_profile(first, tmp_path / "first.json")
    command = ["measure", "--draft", tiny.draft.source, "--target", tiny.target.source, "--output"]
    command += [str(tmp_path / "again.json"), "--acceptance-from", str(tmp_path / "first.json"), "--batches", "1,2"]
    capsys.readouterr()
    assert main([*command, "--repeats", "1", "--temperature", "1"]) == 2
    assert 'temperature = 1.0: the acceptance of profile "first" was measured with 0.9' in capsys.readouterr().err
    assert main([*command, "--repeats", "1"]) == 0
    assert "acceptance: first, on other processor, 7 threads, 2026-01-31" in capsys.readouterr().out
    found = parse_profile((tmp_path / "again.json").read_text())
    assert found.tasks == first.tasks
    assert {row.draft_length for row in found.verification.rows} == {0, 1, 3, 7}
