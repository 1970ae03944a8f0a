"""Measuring, with small random models and a clock of our own: profiles, interrupts, the command line."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from msopt import ParameterError
from msopt.files.profile_json import read_profile
from msopt.measured.profile import Profile
from reports.cli.app import main
from reports.cli.measure_table import disagreements, tokens_by_law
from verification.measurement import MeasurementPlan, finish, measure
from verification.pairs import Pair
from verification.prompts import all_prompts


def ticking(step_s: float = 0.5) -> Callable[[], float]:
    """A clock that goes on by one step whenever it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) * step_s


def plan_of(tasks: tuple[str, ...] = ("code", "chat"), tokens: int = 30) -> MeasurementPlan:
    return MeasurementPlan(
        name="tiny", draft="d", target="t", tasks=tasks, prompts=4, tokens=tokens, draft_length=3,
        batches=(1, 2), draft_lengths=(0, 1, 2), prompt_lengths=(4, 9), context=8, repeats=3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def profile(tiny: Pair, tmp_path_factory: pytest.TempPathFactory) -> Profile:
    output = tmp_path_factory.mktemp("measured") / "tiny.json"
    found = measure(plan_of(), tiny, output, clock=ticking())
    assert not output.exists()
    finish(plan_of(), tiny, output)
    assert list(output.parent.iterdir()) == []
    return found


def test_there_are_six_tasks_of_at_least_six_prompts() -> None:
    assert set(all_prompts()) == {"code", "translation", "summary", "question-answering", "mathematics", "chat"}
    assert min(len(prompts) for prompts in all_prompts().values()) >= 6
    texts = [prompt for prompts in all_prompts().values() for prompt in prompts]
    assert len(set(texts)) == len(texts)


def test_the_profile_holds_what_was_measured(profile: Profile) -> None:
    assert set(profile.tasks) == {"code", "chat"}
    for task in profile.tasks.values():
        assert task.by_counts.n == task.by_overlap.n == task.visited
        assert task.agreement is not None
        assert task.target_text_overlap is not None
        assert len(task.curve) == 3
    assert disagreements(profile) == []
    assert profile.draft_time.median_s == 0.5
    assert profile.draft_time.n == 24
    assert [(row.batch, row.draft_length) for row in profile.verification.rows] == [
        (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)
    ]  # fmt: skip
    assert profile.verification.fit.base.seconds == pytest.approx(0.5)
    assert not profile.verification.fit.per_token.needed
    assert [row.tokens for row in profile.prompt_processing] == [4, 9]
    assert 0.0 < profile.vocabulary.target_mass_outside < 1.0
    assert profile.vocabulary.shared_entries < profile.vocabulary.target_entries


def test_the_payload_table_rises_to_the_acceptance_of_the_whole_law(profile: Profile) -> None:
    rows = {(row.kept_entries, row.probability_bits): row for row in profile.payload if row.task == "code"}
    full, cut = rows[16, 16], rows[16, 8]
    assert full.distribution_bits == 16 * (5 + 16)
    assert cut.acceptance_at_device.value <= cut.acceptance.value
    by_rounds = profile.tasks["code"].by_overlap
    assert by_rounds.low - 0.2 < full.acceptance.value < by_rounds.high + 0.2


def test_laws_are_set_against_the_curve(profile: Profile) -> None:
    task = profile.tasks["code"]
    found = tokens_by_law(task, 3)
    assert found["measured"] == pytest.approx(1.0 + sum(task.survival))
    share = task.by_counts.value
    assert found["geometric"] == pytest.approx(1.0 + share + share**2 + share**3)


class Stop(KeyboardInterrupt):
    """An interrupt of our own."""


@pytest.mark.parametrize("after", [1, 2, 3])
def test_an_interrupted_measurement_goes_on_and_ends_with_the_same_numbers(
    after: int, tiny: Pair, profile: Profile, tmp_path: Path
) -> None:
    output = tmp_path / "tiny.json"
    seen: list[str] = []

    def stop(step: str) -> None:
        seen.append(step)
        if len(seen) > after:
            raise Stop

    with pytest.raises(Stop):
        measure(plan_of(), tiny, output, stop, ticking())
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.json.partial"]
    done = json.loads((tmp_path / "tiny.json.partial").read_text())["done"]
    assert list(done) == plan_of().steps[:after]
    again = measure(plan_of(), tiny, output, clock=ticking())
    assert again.tasks == profile.tasks
    assert again.payload == profile.payload
    assert again.verification == profile.verification


def test_a_full_disk_costs_the_step_at_work_alone(
    tiny: Pair, profile: Profile, tmp_path: Path, full_disk: Callable[[int], None]
) -> None:
    output, partial = tmp_path / "tiny.json", tmp_path / "tiny.json.partial"

    def fill(step: str) -> None:
        if step == "chat":
            full_disk(partial.stat().st_size)

    with pytest.raises(ParameterError, match=r"tiny\.json\.partial: cannot be written: File too large"):
        measure(plan_of(), tiny, output, fill, ticking())
    assert list(tmp_path.iterdir()) == [partial]
    assert list(json.loads(partial.read_text())["done"]) == ["code"]
    full_disk(10**9)
    again = measure(plan_of(), tiny, output, clock=ticking())
    assert (again.tasks, again.payload) == (profile.tasks, profile.payload)


def test_one_task_alone_measures_the_same(tiny: Pair, profile: Profile, tmp_path: Path) -> None:
    alone = measure(plan_of(tasks=("chat",)), tiny, tmp_path / "x.json", clock=ticking())
    assert alone.tasks["chat"] == profile.tasks["chat"]


def test_what_another_measurement_left_is_not_mixed_in(tiny: Pair, tmp_path: Path) -> None:
    output = tmp_path / "x.json"

    def stop(step: str) -> None:
        if step == "chat":
            raise Stop

    with pytest.raises(Stop):
        measure(plan_of(), tiny, output, stop, ticking())
    with pytest.raises(ParameterError, match="another tokens"):
        measure(plan_of(tokens=31), tiny, output, clock=ticking())
    path = output.with_name("x.json.partial")
    held = json.loads(path.read_text())
    good = held["done"]["code"]
    verified = [[0.1 * n] for n in range(1, 7)]
    times = {"drafting and verification": [[[0.1]] * 2, verified], "prompt processing": [[1], [2]]}
    run = good["prompts"][0]
    for spoilt in (
        good | {"mass_outside": [2.0, 0.0]},
        good | {"prompts": [run | {"text_overlap": [1.5]}]},
        good | {"prompts": [run | {"rounds": [{}]}]},
        [],
    ):
        path.write_text(json.dumps(held | {"done": times | {"code": spoilt, "chat": good}}))
        with pytest.raises(ParameterError, match=r"x\.json\.partial: .*remove it"):
            measure(plan_of(), tiny, output, clock=ticking())
    path.write_text(json.dumps(held | {"done": times | {"code": good, "chat": good}}))
    assert measure(plan_of(), tiny, output).tasks["code"].prompts == 4
    path.write_text("{")
    with pytest.raises(ParameterError, match="remove it"):
        measure(plan_of(), tiny, output, clock=ticking())


@pytest.mark.parametrize(
    "given",
    [
        {"prompts": 0},
        {"prompts": 99},
        {"tasks": ("poetry",)},
        {"batches": (1,)},
        {"seed": -1},
        {"tasks": ()},
        {"draft_lengths": (-1, 2)},
        {"draft_lengths": (0,)},
        {"batches": (1, 1, 2)},
        {"batches": (0, 1)},
    ],
)
def test_a_plan_that_means_nothing_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        MeasurementPlan(**{"name": "x", "draft": "d", "target": "t", "tasks": ("code",), **given})  # type: ignore[arg-type]


def test_the_command(tiny_folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft, target = tiny_folders
    output = tmp_path / "pair.json"
    small = ["--prompts", "3", "--tokens", "12", "--draft-length", "2", "--repeats", "2", "--batches", "1,2"]
    arguments = ["measure", "--draft", draft, "--target", target, "--task", "code", "--output", str(output), *small]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "agree on 1 task " in said.out
    assert [path.name for path in tmp_path.iterdir()] == ["pair.json"]
    found = read_profile(output)
    assert (found.name, set(found.tasks)) == ("pair", {"code"})
    assert found.draft.source == draft


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (["--batches", "1,x"], "--batches"),
        (["--temperature", "-1"], "temperature"),
        (["--dtype", "int4"], "dtype"),
        (["--task", "poetry"], "poetry"),
        (["--threads", "0"], "threads"),
        (["--output", "no/such/folder/x.json"], "--output"),
    ],
)
def test_bad_options_are_one_line(
    extra: list[str], said: str, tiny_folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft, target = tiny_folders
    arguments = ["measure", "--draft", draft, "--target", target, "--output", str(tmp_path / "x.json"), *extra]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
