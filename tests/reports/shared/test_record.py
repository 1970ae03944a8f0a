"""Recorded data: written and read back the same, and a folder that is no record."""

import csv
import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from msopt import ParameterError
from reports.shared.record import Record


def made() -> Record:
    table = pd.DataFrame(
        {
            "pair": ['a, "b"', "µ\nν"],
            "devices": [10, 20],
            "mean": [1.0 / 3.0, 1e-300],
            "low": [None, 0.1 + 0.2],
            "holds": [True, False],
            "word": [None, "x"],
        }
    )
    return Record({"seed": 1, "tables": {"one": {"title": "t"}}}, {"one": table}, {"wall_s": 1.5})


def digests(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*.*"))}


def test_there_and_back(tmp_path: Path) -> None:
    record = made()
    record.write(tmp_path)
    again = Record.read(tmp_path)
    assert (again.manifest, again.timings) == (record.manifest, record.timings)
    written = record.tables["one"].astype(object)
    read = again.tables["one"].astype(object)
    pd.testing.assert_frame_equal(read.where(read.notna(), None), written.where(written.notna(), None))
    first = digests(tmp_path)
    again.write(tmp_path)
    assert digests(tmp_path) == first


def test_csv_holds_every_digit(tmp_path: Path) -> None:
    made().write(tmp_path)
    read = pd.read_csv(tmp_path / "tables" / "one.csv")
    assert read["mean"].tolist() == [1.0 / 3.0, 1e-300]
    assert read["low"].tolist()[1] == 0.1 + 0.2
    assert read["pair"].tolist() == ['a, "b"', "µ\nν"]


def test_no_text_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    texts = ["=1+1", "@home", "-5", "+1", "\t=1", "\r=1", "－1", "a=1", "5", "", "'x"]
    numbers = [-1.5, *range(10)]
    table = pd.DataFrame({"text": texts, "number": numbers, "mixed": ["=2", -2.5, *[None] * 9]})
    Record({"tables": {"one": {}}}, {"one": table}).write(tmp_path)
    with (tmp_path / "tables" / "one.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))[1:]
    assert [row[0] for row in rows] == [*(f"'{text}" for text in [*texts[:5], "\\r=1", "－1"]), *texts[7:]]
    assert [float(row[1]) for row in rows] == numbers
    assert [row[2] for row in rows[:3]] == ["'=2", "-2.5", ""]
    assert Record.read(tmp_path).tables["one"]["text"].tolist() == texts


def test_what_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"manifest\.json: cannot be read"):
        Record.read(tmp_path)
    made().write(tmp_path)
    (tmp_path / "tables" / "one.json").write_text("[1", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"one\.json: is not JSON"):
        Record.read(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps([1]), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"manifest\.json: is not a JSON object"):
        Record.read(tmp_path)
    with pytest.raises(ParameterError, match="cannot be made a folder"):
        made().write(tmp_path / "manifest.json")
