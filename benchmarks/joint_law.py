"""How far the bound over joint laws lies above the optimum, by server power: `python benchmarks/joint_law.py`.

[UD]'s settings, several draws of each; the bound is that of the deadline at which the best lengths found are there.
"""

import argparse
import statistics
from collections.abc import Iterator
from typing import Any

import msopt
from formulations import JointLawBound
from reports.shared.output import print_tables
from reports.shared.rows import Row
from reports.shared.table_terminal import show_table
from reports.shared.text_table import Column, Table, decimals_column, number_column

PRESETS = ("uldl-qwen25", "uldl-deepseek-r1")
POWERS_DBM = (0.0, 10.0, 15.0, 20.0, 30.0)
_COLUMNS = (
    Column("preset", "preset"),
    number_column("power_dbm", "power", "dBm"),
    *(
        decimals_column(key, words, "%")
        for key, words in (("median", "median gap"), ("least", "least"), ("greatest", "greatest"))
    ),
)
BELOW_RTOL = 1e-7
"""The bound may be this much below the optimum: the linear program's tolerance."""


def gaps(devices: int, draws: int) -> Iterator[Row]:
    """One record for each preset and power, over some draws."""
    for preset in PRESETS:
        for power in POWERS_DBM:
            found = []
            for seed in range(draws):
                scenario, _ = msopt.draw(preset, devices=devices, seed=seed, downlink_power_dbm=power)
                best = msopt.solve(scenario, "modes")
                assert best.evaluation is not None
                deadline = float(best.evaluation.round.draft_upload_s)
                bound = JointLawBound(scenario, deadline).solve("HIGHS")
                found.append(bound.objective / best.goodput - 1.0)
            yield {"preset": preset, "downlink_power_dbm": power, "gaps": found}


def show(records: list[Row], devices: int, draws: int) -> None:
    """The table."""

    def table(console: Any) -> None:
        found = [
            {
                "preset": record["preset"],
                "power_dbm": record["downlink_power_dbm"],
                "median": statistics.median(record["gaps"]),
                "least": min(record["gaps"]),
                "greatest": max(record["gaps"]),
            }
            for record in records
        ]
        console.print(f"Bound over joint laws above the best lengths, K = {devices}, {draws} draws")
        show_table(console, Table.of("", found, _COLUMNS))

    print_tables(table)


def main() -> None:
    """Measure and print; ends with an error where the bound is below the optimum."""
    parser = argparse.ArgumentParser(description="The joint-law bound's gap against downlink power.")
    parser.add_argument("--devices", type=int, default=8, help="number of devices, at most 10 (default 8)")
    parser.add_argument("--draws", type=int, default=5, help="draws of each setting (default 5)")
    given = parser.parse_args()
    records = list(gaps(given.devices, given.draws))
    show(records, given.devices, given.draws)
    if any(min(record["gaps"]) < -BELOW_RTOL for record in records):
        raise SystemExit("the bound is below the optimum")


if __name__ == "__main__":
    main()
