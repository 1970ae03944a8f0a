"""Loops closed with real models, as stored: what was predicted, what the models delivered, and why they differ."""

from pathlib import Path

from msopt.errors import ParameterError
from msopt.files.json_text import load_json
from msopt.files.whole_files import read_text
from reports.shared.rows import Row

RESULTS = Path(__file__).parent / "loop_results"


def stored_loops() -> list[Row]:
    """Every stored result, by name; none where nothing is stored."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        content = load_json(read_text(path))
        if not isinstance(content, dict) or content.get("schema_version") != 1:
            raise ParameterError(f"{path}: is not a result of schema_version 1")
        found.append(content)
    return found
