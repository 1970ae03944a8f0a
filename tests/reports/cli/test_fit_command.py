"""`msopt fit` as a user calls it."""

import tomllib

import pytest
import tomli_w

from msopt import Scenario
from tests.formulations.cells import S2
from tests.reports.command import Command, assert_one_line

HEAD = "batch,length,tokens_per_s,acceptance\n"


def table(per_round: bool) -> str:
    """T = 0.1 + 0.01 b (L + 1) + 0.02 L, acceptance 0.5: 1, 1.5 and 1.875 tokens a round at lengths 0, 1 and 3."""
    tokens = {0: 1.0, 1: 1.5, 3: 1.875}
    lines = ["batch,length,tokens_per_s," + ("tokens_per_round" if per_round else "acceptance")]
    for b in (1, 2, 4):
        for n, yielded in tokens.items():
            last = "" if n == 0 else str(yielded if per_round else 0.5)
            lines.append(f"{b},{n},{b * yielded / (0.1 + 0.01 * b * (n + 1) + 0.02 * n)!r},{last}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("per_round", [True, False])
def test_costs_of_a_round(msopt: Command, per_round: bool) -> None:
    path = msopt.folder / "t.csv"
    path.write_text(table(per_round))
    record = msopt("fit", path, "--format", "json").record
    costs = {key: cost["seconds"] for key, cost in record["costs"].items()}
    expected = {"verify_base_s": 0.1, "server_draft_s_per_token": 0.02, "verify_per_token_s": 0.01}
    assert {key: costs[key] for key in expected} == pytest.approx(expected, rel=1e-9)
    assert costs["verify_per_device_s"] == pytest.approx(0.0, abs=1e-9)
    assert record["holds"]
    shown = msopt("fit", path).out
    assert "# the model holds: no round of 9" in shown
    # What is shown is the table of a scenario file.
    cell = msopt.folder / "cell.toml"
    S2.write(cell)
    tables = tomllib.loads(cell.read_text())
    tables["server"] = tomllib.loads(shown)["server"] | {"downlink_power_w": S2.downlink_power_w}
    cell.write_text(tomli_w.dumps(tables))
    read = Scenario.read(cell)
    assert (read.verify_base_s, read.server_draft_s_per_token) == pytest.approx((0.1, 0.02))
    assert read.verify_per_token_s == pytest.approx(0.01)


def test_what_is_wrong_with_the_rows_is_told(msopt: Command) -> None:
    path = msopt.folder / "t.csv"
    lines = table(False).splitlines()
    lines[lines.index(next(line for line in lines if line.startswith("2,1,")))] = f"2,1,{2 * 1.5 / 0.16 / 2},0.5"
    path.write_text("\n".join(lines))
    outcome = msopt("fit", path)
    assert outcome.code == 0
    assert "the model does not hold: a round at batch size 2 and length 1 takes" in outcome.err
    path.write_text("".join(line for line in table(False).splitlines(keepends=True) if line[0] in "b1") + "1,0,9.0,\n")
    assert "do not tell verify_per_token_s, verify_per_device_s apart" in msopt("fit", path).err


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["needs the columns batch, length, tokens_per_s"]),
        ("batch,length,tokens_per_s\n1,0,3\n", ["one of acceptance and tokens_per_round"]),
        (HEAD.replace("length", "batch"), ["needs the columns"]),
        (HEAD + "1,0,10,\n0,1,10,0.5\n", ["line 3: batch = 0 is not a whole number of at least 1"]),
        (HEAD + "1.5,0,10,\n", ["line 2: batch = 1.5"]),
        (HEAD + "1,2,nan,0.5\n", ['line 2: tokens_per_s = "nan" is no number']),
        (HEAD + "1,2,0,0.5\n", ["line 2: tokens_per_s = 0 is outside"]),
        (HEAD + "1,2,10,82\n", ["line 2: acceptance = 82 is outside [0, 1]"]),
        (HEAD + "1,2,10,\n", ['line 2: acceptance = "" is no number']),
        (HEAD + "1,2\n", ["line 2: tokens_per_s"]),
        (HEAD + "1,0,10,\n", ["1 rows for 1 costs; at least 2"]),
        (HEAD + "1,1000000000,10,0.5\n", ["line 2: length = 1000000000 is above"]),
    ],
)
def test_bad_tables(msopt: Command, text: str, parts: list[str]) -> None:
    path = msopt.folder / "t.csv"
    path.write_text(text)
    assert_one_line(msopt("fit", path), 2, [f"{path}: ", *parts])
