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
from reports.shared.tables import add_row, new_table

Record = dict[str, Any]
PRESETS = ("uldl-qwen25", "uldl-deepseek-r1")
POWERS_DBM = (0.0, 10.0, 15.0, 20.0, 30.0)
BELOW_RTOL = 1e-7
"""The bound may be this much below the optimum: the linear program's tolerance."""


def gaps(devices: int, draws: int) -> Iterator[Record]:
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


def show(records: list[Record], devices: int, draws: int) -> None:
    """The table."""

    def table(console: Any) -> None:
        rows = new_table(
            ("preset", "power\n[dBm]", "median gap\n[%]", "least\n[%]", "greatest\n[%]"), numbers=range(1, 5)
        )
        for record in records:
            values = [100.0 * gap for gap in record["gaps"]]
            cells = (statistics.median(values), min(values), max(values))
            add_row(rows, record["preset"], f"{record['downlink_power_dbm']:g}", *(f"{cell:.3f}" for cell in cells))
        console.print(f"Bound over joint laws above the best lengths, K = {devices}, {draws} draws")
        console.print(rows)

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
