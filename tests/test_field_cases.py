"""The table of field cases: every test that it names is there, and every row names one."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "docs" / "field-cases.md").read_text(encoding="utf-8")
TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def test_every_test_that_it_names_is_there() -> None:
    named = set(TEST.findall(TABLE))
    assert len(named) > 80
    for file in {file for file, _ in named}:
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {test for of, test in named if of == file} <= there, file


def test_every_row_has_a_source_an_answer_and_a_test() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith(("| what", "| ---"))]
    assert len(rows) > 60
    for row in rows:
        cells = re.split(r"(?<!\\)\|", row)[1:-1]
        assert len(cells) == 4, row
        assert all(cell.strip() for cell in cells), row
        assert TEST.search(cells[3]), row
