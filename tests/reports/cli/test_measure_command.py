"""`msopt measure` with options that mean nothing and models that cannot be loaded: one line, exit 2, no profile."""

from pathlib import Path

import pytest

from tests.reports.command import Command, assert_one_line
from tests.verification.tiny import write_model

REFUSED = {
    "no number of threads": (["--threads", "99999999999"], "'--threads': Input should be less than or equal to 1024"),
    "threads beyond 64 bit": (["--threads", "9" * 30], "'--threads'"),
    "a device without its number": (
        ["--device", "cpu:"],
        'device = "cpu:" is neither cpu nor cuda, nor one of them with a number: cuda:1',
    ),
    "a rung of many digits": (["--draft", "skip-" + "9" * 5000], "is not skip-N with a whole number N below 10000"),
    "a draft in other bytes": (["--draft", "\udcff"], '--draft = "\\udcff" is not UTF-8 text'),
    "a target in other bytes": (["--target", "a\udcfe"], '--target = "a\\udcfe" is not UTF-8 text'),
    "a name in other bytes": (["--name", "\udcff"], '--name = "\\udcff" is not UTF-8 text'),
    "an empty folder": (["--target", "EMPTY"], "cannot be loaded as a language model: its configuration: "),
    "a folder that is a file": (["--target", "EMPTY.gguf"], "cannot be loaded as a language model: its header: "),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_measured(kind: str, msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (msopt.folder / "EMPTY").mkdir()
    (msopt.folder / "EMPTY.gguf").write_bytes(b"")
    given, said = REFUSED[kind]
    given = [text.replace("EMPTY", str(msopt.folder / "EMPTY")) for text in given]
    outcome = msopt("measure", "--draft", "skip-1", "--target", "nowhere", "--output", msopt.folder / "x.json", *given)
    assert_one_line(outcome, 2, [said])
    assert outcome.err[:-1].isprintable()
    assert sorted(path.name for path in msopt.folder.iterdir()) == ["EMPTY", "EMPTY.gguf"]


def test_a_template_that_fails_ends_before_anything_is_measured(msopt: Command, tmp_path: Path) -> None:
    folder = Path(write_model(tmp_path / "model", seed=0))
    (folder / "chat_template.jinja").write_text("{{ raise_exception('\x1b[31mno\nsystem turn') }}")
    outcome = msopt("measure", "--draft", folder, "--target", folder, "--output", tmp_path / "x.json")
    assert outcome.code == 2
    assert outcome.err == 'msopt: the chat template of "model" cannot be used: TemplateError: no\n'
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
