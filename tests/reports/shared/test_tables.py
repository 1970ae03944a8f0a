"""One table shown three ways, and one list of quantities behind every head and axis."""

import pytest

from reports.shared.output import print_tables
from reports.shared.quantities import QUANTITIES, axis_of, axis_of_quantity, units_of
from reports.shared.table_markup import latex_table, markdown_table
from reports.shared.table_terminal import show_table
from reports.shared.text_table import Table, count_column, quantity_column, ratio_column, words_column

COLUMNS = (
    words_column("device", "device"),
    quantity_column("bandwidth_hz"),
    quantity_column("draft_s_per_token", digits=2),
    ratio_column("gap", "gap"),
    count_column("n", "timed"),
)
ROWS = (
    {"device": "a|b_[c]", "bandwidth_hz": 2.5e6, "draft_s_per_token": 0.0123, "gap": 0.0351, "n": None},
    {"device": "*", "bandwidth_hz": None, "draft_s_per_token": 1.0, "gap": None},
)
TABLE = Table.of("50 %", ROWS, COLUMNS)


def test_a_column_that_holds_nothing_is_left_out_but_of_a_whole_table() -> None:
    assert [column.key for column in TABLE.columns] == ["device", "bandwidth_hz", "draft_s_per_token", "gap"]
    assert Table.of("", ROWS, COLUMNS, whole=True).rows[1] == ("*", "–", "1e+03", "–", "–")


def test_one_table_three_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert markdown_table(TABLE).splitlines() == [
        "Table: 50 %",
        "",
        r"| device | bandwidth \[MHz\] | draft time \[ms/token\] | gap |",
        "| --- | ---: | ---: | ---: |",
        r"| a\|b\_\[c\] | 2.5 | 12 | 3.51 % |",
        r"| \* | – | 1e+03 | – |",
    ]
    latex = latex_table(TABLE).splitlines()
    assert latex[0] == "% 50 %"
    assert latex[2] == r"\begin{tabular}{@{}lrrr@{}}"
    assert latex[4] == r"{device} & bandwidth [MHz] & draft time [ms/token] & gap \\"
    assert latex[6] == r"{a\textbar{}b\_[c]} & 2.5 & 12 & 3.51 \% \\"
    print_tables(lambda console: show_table(console, TABLE))
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert shown == [
        ["50", "%"],
        ["bandwidth", "draft", "time"],
        ["device", "[MHz]", "[ms/token]", "gap"],
        ["a|b_[c]", "2.5", "12", "3.51", "%"],
        ["*", "–", "1e+03", "–"],
    ]


def test_every_factor_is_that_of_its_prefix() -> None:
    prefixes = {"M": 1e-6, "k": 1e-3, "m": 1e3}
    others = {"%": 100.0, "token/s per MHz": 1e6, "probability": 1.0, "1": 1.0}
    for key, known in QUANTITIES.items():
        seen = known.reader_unit
        prefixed = {prefix + known.unit: factor for prefix, factor in prefixes.items()}
        assert known.factor == ({known.unit: 1.0} | others | prefixed)[seen], key


def test_axes_and_units() -> None:
    assert axis_of("per_token_s").axis == "time to draft and send a token θ [ms]"
    assert axis_of("some_thing").axis == "some thing [1]"
    assert (axis_of_quantity("round", "s").axis, axis_of_quantity("round", "s").factor) == ("round [ms]", 1e3)
    assert units_of(["device", "bandwidth_hz", "devices", None]) == {"bandwidth_hz": "Hz", "devices": "devices"}
