"""`msopt report` from the command line to its files, on a small effort."""

import csv
import re

import pytest

from reports.calibration.both_papers import Share
from reports.claims import studied
from reports.crosscheck import crosscheck_record
from reports.page import collect, page
from reports.plots.style import rendered
from reports.shared.record import Record
from reports.studies import gains
from reports.studies.quoted import QUOTED
from tests.cases import s2
from tests.reports.command import Command, strict_json
from tests.reports.studies.test_studies import FAMILIES, OWN, TINY

QUOTED_OF_MS = {record.id for record in QUOTED if "devices" in record.at}
"""What is quoted of 10 to 24 devices has no draws among five."""


def test_report(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(collect.EFFORTS, "quick", TINY)
    monkeypatch.setitem(collect.CROSSCHECK_TRIALS, "quick", 1)
    monkeypatch.setitem(collect.CROSSCHECK_DEVICES, "quick", 4)
    share = Share(settings=2, starts=0, draws=2, judged=1, efforts={"MS": TINY, "UD": TINY})
    monkeypatch.setitem(collect.SHARES, "quick", share)
    monkeypatch.setitem(collect.LOOP_ROUNDS, "quick", 64)
    monkeypatch.setattr(crosscheck_record, "SOLVERS", ("CLARABEL", "HIGHS"))
    monkeypatch.setattr(gains, "FAMILIES", FAMILIES)
    small = tuple(claim for claim in studied.MS_CLAIMS if claim.id not in QUOTED_OF_MS)
    monkeypatch.setattr(studied, "MS_CLAIMS", small)
    # Every kind of panel is a PDF file in test_page.
    monkeypatch.setattr(page, "rendered", lambda *given: b"" if "pdf" in given else rendered(*given))
    path, folder = msopt.scenario(s2()), msopt.folder / "new" / "out"
    done = msopt.done("report", path, "--output", folder, "--method", OWN, "--seed", 3, "--jobs", 1)
    assert done.out == f"The report is in {folder / 'report.html'}\n"
    record = Record.read(folder)
    assert record.manifest["seed"] == 3
    assert record.manifest["methods"] == [OWN]
    assert {"versions", "machine", "scenario_hashes", "solvers", "tolerances"} <= set(record.manifest)
    assert str(path) in record.manifest["scenario_hashes"]
    assert set(record.tables["checks"]["verdict"]) == {"pass"}, record.tables["checks"].to_string()
    assert OWN in set(record.tables["answer_methods"]["method"])
    assert OWN in set(record.tables["ms_fig7"]["scheme"])
    assert OWN in set(record.tables["gains"]["baseline"])
    for figure in ("ms_fig7-1", "answer-1-heterogeneous", "gains-heterogeneous"):
        assert OWN in (folder / "figures" / f"{figure}.svg").read_text(encoding="utf-8")
    assert set(record.tables["claims_at_settings"]["id"]) >= set(record.tables["claims"]["id"])
    assert record.tables["claims"]["plausible"].str.contains("settings").any()
    for name in record.manifest["tables"]:
        rows = strict_json((folder / "tables" / f"{name}.json").read_text(encoding="utf-8"))["rows"]
        with (folder / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as lines:
            assert sum(1 for _ in csv.reader(lines)) == 1 + len(rows)
    text = (folder / "report.md").read_text(encoding="utf-8")
    goodput = record.tables["answer_solutions"]["goodput_tokens_per_s"]
    assert re.findall(r"\*\*([\d.]+) token/s\*\*", text) == [f"{value:.5g}" for value in goodput]


def test_a_bad_method_or_profile_is_told_before_anything_is_computed(msopt: Command) -> None:
    for option, words in (("--method", "MODULE:FUNCTION"), ("--profile", "neither a file nor a bundled profile")):
        outcome = msopt("report", "--output", msopt.folder / "out", option, "nonsense")
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.count("\n") == 1
        assert words in outcome.err
    assert not (msopt.folder / "out").exists()
