"""Every page's links, names, files, code and commands are there and work, without building the site."""

import ast
import importlib
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygments.lexers import get_lexer_by_name
from typer.main import get_command

import msopt
from reports.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")} | {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.glob("guide/*.md")
}
API = "\n".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "api").glob("*.rst")))
README, DESIGN, CONTRIBUTING = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "DESIGN.md", "CONTRIBUTING.md")
)
MODULES = ("bundled", "choices", "multispin", "uldl", "uncertain")
"""Public names of msopt that are modules: their own names are public, too."""


def public(module: str) -> Iterator[str]:
    """The names that a module shows: those imported `as` themselves, or, of a module of functions, its own."""
    for node in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname == alias.name)


def own(module: Any) -> Iterator[str]:
    for name, value in vars(module).items():
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__:
            yield name


def documented(prefix: str) -> set[str]:
    named = set(re.findall(rf"^\.\. auto(?:class|function|data):: {prefix}\.(\w+)$", API, flags=re.MULTILINE))
    parts = re.split(r"^\.\. currentmodule:: ", API, flags=re.MULTILINE)
    here = "\n".join(part for part in parts if part.startswith(f"{prefix}\n"))
    return named | set(re.findall(r"^\.\. py:data:: (\w+)$", here, flags=re.MULTILINE))


def test_every_public_name_is_in_the_reference_and_no_other() -> None:
    shown = set(public("msopt"))
    assert documented("msopt") == shown - set(MODULES)
    assert set(MODULES) < shown
    assert documented("formulations") == set(public("formulations"))
    twice = {"value_of_knowing", "worst_case"}  # of msopt itself, too
    for name in ("choices", "uncertain"):
        assert documented(f"msopt.{name}") == set(public(f"msopt.{name}")) - twice
    for module in (msopt.multispin, msopt.uldl, msopt.bundled):
        name = module.__name__.rsplit(".", maxsplit=1)[-1]
        extra = {"default"} if name == "bundled" else set()
        assert documented(f"msopt.{name}") == set(own(module)) | extra


def test_code_is_of_languages_that_can_be_highlighted() -> None:
    """The site's test writes no page, and so would not meet another one's warning."""
    languages = {
        lang for text in (*PAGES.values(), DESIGN, CONTRIBUTING) for lang in re.findall(r"^```(\w+)$", text, re.M)
    }
    assert {"python", "text", "toml"} <= languages
    for language in languages:
        assert get_lexer_by_name(language)


def test_links_lead_to_pages_and_names_to_examples() -> None:
    examples = {path.stem for path in (ROOT / "examples").glob("plot_*.py")}
    sections = set(re.findall(r"^## (\d+)\. ", DESIGN, flags=re.MULTILINE))
    for name, text in PAGES.items():
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            path = (DOCS / name).parent / target
            if made := re.search(r"mathematics/section-(\d+)\.md$", target):
                assert str(int(made[1])) in sections, (name, target)
            else:
                assert path.is_file(), (name, target)
        for label in re.findall(r"sphx_glr_gallery_(\w+)\.py", text):
            assert label in examples, (name, label)
        for kind, full in re.findall(r"\{py:(\w+)\}`([\w.]+)`", text):
            assert kind == "mod" or full.rpartition(".")[2] in documented(full.rpartition(".")[0]), (name, full)


def test_every_page_is_in_the_contents_and_every_section_that_is_taken_is_there() -> None:
    contents = set(re.findall(r"^[\w/]+$", PAGES["index.md"], flags=re.MULTILINE))
    assert {name.removesuffix(".md") for name in PAGES if "/" in name} <= contents
    assert "\n*\n" in PAGES["index.md"]  # and every other page
    indexed = set(re.findall(r"^   (\w+)$", (DOCS / "api" / "index.rst").read_text(), flags=re.MULTILINE))
    assert indexed == {path.stem for path in (DOCS / "api").glob("*.rst")} - {"index"}
    for name, text in PAGES.items():
        for file, section in re.findall(r"^```\{from\} ([\w.]+)(?:: (.+))?$", text, flags=re.MULTILINE):
            whole = "" if file == "msopt" else (ROOT / file).read_text(encoding="utf-8")
            assert section in ("", "opening") or f"\n## {section}\n" in whole, (name, section)


def test_every_section_that_a_text_names_is_one_of_the_design() -> None:
    sections = [int(number) for number in re.findall(r"^## (\d+)\. ", DESIGN, flags=re.MULTILINE)]
    assert sections == list(range(1, len(sections) + 1))
    for text in (README, DESIGN, CONTRIBUTING):
        for listed in re.findall(r"\bsections? (\d+(?:(?:, | and )\d+)*)", text):
            assert set(map(int, re.findall(r"\d+", listed))) <= set(sections), listed


def test_contributing_names_files_that_are_there() -> None:
    named = re.findall(r"`([\w./]+(?:/|\.\w+))`", CONTRIBUTING)
    assert len(named) > 25
    for name in named:
        assert name == "__init__.py" or (ROOT / name).exists(), name


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if blocks(text, "python")])
def test_the_code_of_a_page_runs_and_prints_what_is_said(
    page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for scenario in blocks(PAGES[page], "toml"):
        Path("cell.toml").write_text(scenario)
    for code in blocks(PAGES[page], "python"):
        exec(compile(code, page, "exec"), {})
    assert capsys.readouterr().out == "".join(blocks(PAGES[page], "text"))


def test_the_commands_of_the_pages_have_the_options_that_they_are_given() -> None:
    known = vars(get_command(app))["commands"]
    lines = [line for text in PAGES.values() for block in blocks(text, "console") for line in block.splitlines()]
    texts = [*lines, *re.findall(r"`(msopt [a-z]+ [^`]*)`", "\n".join(PAGES.values()))]
    texts += [line for line in README.splitlines() if line.startswith("    msopt ")]
    ran = [re.search(r"\bmsopt ([a-z]+)((?: [^#>]*)?)", text) for text in texts]
    asked = [found for found in ran if found and "make" not in found.string.split("msopt")[0]]
    assert len(asked) > 30
    for found in asked:
        options = {name for one in known[found[1]].params for name in (*one.opts, *one.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--[\w-]+", found[2])) <= options, found.string
        if found.string.startswith(("$", " ")):  # a whole command, not one named in passing
            known[found[1]].make_context(found[1], shlex.split(found[2]))
