"""The files beside the code: what they name is there, and they agree with each other."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.page import page
from benchmarks.ratios import table

ROOT = Path(__file__).parent.parent


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_has_our_version_and_the_authors_of_the_papers() -> None:
    cited: dict[str, Any] = yaml.safe_load(text("CITATION.cff"))
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
    assert f"\n## {project['version']}\n" in text("CHANGELOG.md")
    first, second = cited["references"]
    assert [author["family-names"] for author in first["authors"]] == ["Zheng", "Wang", "Cui", "Cai", "Du", "Huang"]
    for paper in (first, second):
        assert paper["url"].rpartition("/")[2] == paper["identifiers"][0]["value"].removeprefix("arXiv:")


def test_the_container_makes_the_sample_report() -> None:
    lines = text("Containerfile").splitlines()
    (command,) = (json.loads(line.removeprefix("CMD ")) for line in lines if line.startswith("CMD "))
    manifest = json.loads(text("reports/sample/manifest.json"))
    shown = json.loads(text("reports/sample/tables/answer_scenarios.json"))
    scenarios = {row[shown["columns"].index("source")] for row in shown["rows"]}
    asked = command[2 : next(place for place, word in enumerate(command) if word.startswith("--"))]
    assert set(asked) == scenarios <= set(manifest["scenario_hashes"])
    assert command[command.index("--seed") + 1] == str(manifest["seed"])
    assert ("--full" in command) == (manifest["effort"]["name"] == "full")
    assert f"python:{manifest['versions']['python']}-" in text("Containerfile")
    pins = dict(line.split("==") for line in text("constraints.txt").splitlines() if "==" in line)
    for library in ("numpy", "scipy", "pandas", "joblib"):
        assert pins[library] == manifest["versions"][library]


def test_what_is_installed_for_the_extras_is_pinned() -> None:
    pins = {line.split("==")[0] for line in text("constraints.txt").splitlines() if "==" in line}
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    for extra, needed in extras.items():
        assert {name.split(">=")[0] for name in needed} <= pins, extra


def test_a_benchmarks_ratios_are_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    table("two cells", {"ours": [1.0, 2.0, 3.0], "theirs": [4.0, 9.0, 10.0]}, "s")
    table("ratio", {"theirs / ours": [4.0, 4.5, 3.5]}, "times", {"theirs / ours": "2 needed"})
    made = page({"cells": capsys.readouterr().out})
    assert "| cells | two cells | theirs / ours | 4 | 3.5 to 4.5 | 2 needed |\n" in made
    assert made.count("| cells |") == 1
    assert "theirs                      " in made
