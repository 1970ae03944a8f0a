"""`msopt emulate --draft`: a scenario played by tiny models."""

import io
import json
from pathlib import Path

import pytest

from tests.cases import s3
from tests.reports.command import Command, assert_one_line
from tests.tolerances import EXACT
from tests.verification.tiny import write_model

FILES = ["emulation.json", "rounds.parquet", "texts.json", "timeline.pdf", "timeline.svg"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    root = tmp_path_factory.mktemp("models")
    return write_model(root / "draft", seed=1, layers=2), write_model(root / "target", seed=2, layers=2)


def test_what_models_play(msopt: Command, models: tuple[str, str]) -> None:
    import pyarrow.parquet

    path, folder = msopt.scenario(s3()), msopt.folder / "out"
    draft, target = models
    ask = ("emulate", path, "--draft", draft, "--target", target, "--task", "chat", "--prompts", 1, "--tokens", 6)
    ask = (*ask, "--problem", "modes", "--rounds", 32, "--seed", 2, "--format", "json")
    record = msopt.done(*ask, "--output", folder).record
    assert sorted(file.name for file in folder.iterdir()) == FILES
    found = record["models"]
    rows = pyarrow.parquet.read_table(io.BytesIO((folder / "rounds.parquet").read_bytes())).to_pylist()
    assert len(rows) == 32 * 3
    tokens = sum(row["tokens"] for row in rows)
    assert tokens == pytest.approx(32 * found["tokens_per_round"], rel=EXACT)
    assert tokens == pytest.approx(record["goodput_tokens_per_s"] * record["seconds"], rel=EXACT)
    texts = json.loads((folder / "texts.json").read_text())
    assert sum(len(text["tokens"]) for text in texts) == tokens
    assert all(len(text["tokens"]) <= 6 for text in texts)
    steps = sum(row["change"] for row in found["assumptions"][2:])  # from the drafts' own expectation on
    assert found["predicted_tokens"] * (1 + steps) + 0 == pytest.approx(
        found["tokens_per_round"] + found["predicted_tokens"] * found["assumptions"][2]["change"], rel=1e-6
    )
    assert msopt.done(*ask).record == record, "one seed, one play"


def test_faults_strike_models_and_leave_their_texts_alone(msopt: Command, models: tuple[str, str]) -> None:
    path, faults = msopt.scenario(s3()), msopt.folder / "faults.toml"
    faults.write_text('[[faults]]\nkind = "lost"\nprobability = 0.3\n[[faults]]\nkind = "dropout"\nend_round = 4\n')
    draft, target = models
    ask = ("emulate", path, "--draft", draft, "--target", target, "--task", "chat", "--prompts", 1, "--tokens", 8)
    ask = (*ask, "--temperature", 0, "--problem", "modes", "--rounds", 32, "--format", "json")
    plain = msopt.done(*ask, "--output", msopt.folder / "plain").record
    struck = msopt.done(*ask, "--faults", faults, "--output", msopt.folder / "struck").record
    assert struck["undisturbed_tokens_per_s"] == plain["goodput_tokens_per_s"] > struck["goodput_tokens_per_s"]
    (cost,) = struck["left_out"]
    lost = plain["goodput_tokens_per_s"] - struck["goodput_tokens_per_s"]
    assert cost["cost"] == pytest.approx(lost / plain["predicted_tokens_per_s"], rel=EXACT)
    whole, left = (
        {device: [text["tokens"] for text in texts if text["device"] == device] for device in (0, 1, 2)}
        for texts in (json.loads((msopt.folder / name / "texts.json").read_text()) for name in ("plain", "struck"))
    )
    for device, texts in left.items():
        assert 2 < len(texts) <= len(whole[device])
        for text, undisturbed in zip(texts[:-1], whole[device], strict=False):
            assert text == undisturbed
        last = texts[-1]
        assert last == whole[device][len(texts) - 1][: len(last)], "begun, and as far as it goes the same"


def test_a_device_whose_drafts_never_come_through_has_no_tokens_a_round(
    msopt: Command, models: tuple[str, str]
) -> None:
    path, faults = msopt.scenario(s3()), msopt.folder / "faults.toml"
    name = json.loads(msopt.done("solve", path, "--format", "json").out)["devices"][0]["name"]
    faults.write_text(f'[[faults]]\nkind = "dropout"\ndevices = ["{name}"]\n')
    draft, target = models
    ask = ("emulate", path, "--draft", draft, "--target", target, "--task", "chat", "--prompts", 1, "--tokens", 8)
    found = msopt.done(*ask, "--rounds", 32, "--faults", faults, "--format", "json").record["models"]
    assert found["tokens_per_round"] is None
    assert found["assumptions"] == []
    assert [row["tokens_per_round"] is None for row in found["devices"]] == [True, False, False]
    assert "cannot be told" in msopt.done(*ask, "--rounds", 32, "--faults", faults).out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--tokens 5", ["--tokens is about models", "--draft"]),
        ("--task chat", ["--task is about models", "--draft"]),
    ],
)
def test_options_of_models_need_models(msopt: Command, line: str, words: list[str]) -> None:
    path = msopt.scenario(s3())
    assert_one_line(msopt("emulate", path, *line.split()), 2, words)


def test_a_folder_that_is_no_model(msopt: Command, tmp_path: Path) -> None:
    path = msopt.scenario(s3())
    (tmp_path / "empty").mkdir()
    answer = msopt("emulate", path, "--draft", tmp_path / "empty", "--target", tmp_path / "empty", "--rounds", 32)
    assert_one_line(answer, 2, ["empty", "cannot be loaded"])
