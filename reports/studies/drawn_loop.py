"""The loop closed without models: goodput as played beside the formula's, and what it does not see, priced; ours.

One cell of each paper, every control played round after round with tokens drawn from its laws. Every effect and every
fault is switched on alone, on the same luck as the play without it.
"""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from msopt import Fault, FaultPlan, LeftOut, Scenario, attribution, draw, emulate, solve
from msopt.emulation.played_rounds import PlayedRounds, gain_over
from msopt.model.control import Control
from reports.shared.effect_words import size_of
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row
from reports.studies.paper_figures import pair

if TYPE_CHECKING:
    import pandas as pd

DEVICES = 12
SHOWN_ROUNDS, SHOWN_DEVICES = 2, 6
"""Of the timelines."""
SURE = 1.0 - 1e-5
"""Level of the intervals that a report is checked by: at 95 % one play in 20 would be outside."""
PLAYED: dict[str, tuple[str, tuple[str, ...]]] = {
    "multispin-llama2": ("heterogeneous", ("decomposition", "homogeneous", "equal-bandwidth", "fixed")),
    "uldl-qwen25": ("modes", ("decomposition", "all-downlink", "greedy", "random-modes", "all-uplink")),
}
"""By preset: the problem, and the methods whose controls are played; ours first, the weakest last."""
DEADLINE = 1.5
"""Times the slowest draft as planned, up to which drafts are awaited where late ones are left out."""
DELAY_S, LATE_S = 0.01, 0.1
"""Of every message by chance, on average, and of one that is late: as long as a draft takes."""
CHANNELS = 16
"""Blocks of coherence."""
_SOURCE = "one drawn cell of each paper; rounds and effects are ours"


def drawn_loop(seed: int, rounds: int) -> Record:
    """The tables `loop_drawn`, `loop_costs` and `loop_timeline`."""
    import pandas as pd

    drawn: list[Row] = []
    costs: list[Row] = []
    timelines = []
    for preset, (problem, methods) in PLAYED.items():
        scenario, _ = draw(preset, devices=DEVICES, seed=seed)
        controls = {method: _control(scenario, problem, method) for method in methods}
        plays = {name: emulate(scenario, one, rounds, seed=seed) for name, one in controls.items()}
        head = {"pair": pair(preset), "problem": problem}
        drawn += [head | row for row in _drawn_rows(plays)]
        costs += [head | row for row in _cost_rows(scenario, controls[methods[0]], rounds, seed)]
        timelines.append(timeline_rows(preset, problem, seed))
    tables = {
        "loop_drawn": pd.DataFrame(drawn),
        "loop_costs": pd.DataFrame(costs),
        "loop_timeline": pd.concat(timelines, ignore_index=True),
    }
    goodput = dict.fromkeys(("predicted_tokens_per_s", "goodput_tokens_per_s", "low", "high"), "token/s")
    gains = dict.fromkeys(("predicted_gain", "realised_gain", "gain_low", "gain_high"), "1")
    about = {
        "loop_drawn": undrawn("Goodput predicted and as played, tokens drawn from the laws", _SOURCE, goodput | gains),
        "loop_costs": undrawn(
            "What the formula does not see, each alone, as a share of its goodput",
            _SOURCE,
            dict.fromkeys(("cost", "low", "high"), "1") | {"goodput": "token/s"},
        ),
        "loop_timeline": undrawn("Rounds as played: who drafts, sends, waits, is verified and corrected", _SOURCE),
    }
    return Record({"tables": about}, tables)


def _control(scenario: Scenario, problem: str, method: str) -> Control:
    found = solve(scenario, problem, method).control  # type: ignore[arg-type]
    assert found is not None
    return found


def _drawn_rows(plays: dict[str, PlayedRounds]) -> list[Row]:
    """Every method's goodput, and what ours gains over it: as predicted, and as played on the same luck."""
    best = next(iter(plays.values()))
    rows = []
    for method, play in plays.items():
        low, high = play.interval()
        sure_low, sure_high = play.interval(SURE)
        sampled = 4.0 * play.predicted_error
        realised, reach = gain_over(best, play)
        rows.append(
            {
                "method": method,
                "device_rounds": play.tokens.size,
                "predicted_tokens_per_s": play.predicted,
                "goodput_tokens_per_s": play.goodput,
                "low": low,
                "high": high,
                "holds": sure_low - sampled <= play.predicted <= sure_high + sampled,
                "predicted_gain": best.predicted / play.predicted - 1.0 if play is not best else None,
                "realised_gain": realised if play is not best else None,
                "gain_low": realised - reach if play is not best else None,
                "gain_high": realised + reach if play is not best else None,
            }
        )
    return rows


def _cost_rows(scenario: Scenario, control: Control, rounds: int, seed: int) -> list[Row]:
    """A row for each effect; what comes late once as awaited, and once with a deadline."""
    slow = FaultPlan(
        faults=(
            Fault(kind="straggler", probability=0.01, factor=5.0),
            Fault(kind="late", probability=0.01, delay_s=LATE_S),
        )
    )
    broken = (
        Fault(kind="late-result", probability=0.01, delay_s=LATE_S),
        Fault(kind="lost", probability=0.01),
        Fault(kind="dropout", probability=0.002, absent_rounds=50),
        Fault(kind="drift", factor=0.8),
    )
    random = LeftOut(
        text_tokens=256,
        compute_variation=0.2,
        delay_s=DELAY_S,
        coherence_rounds=max(16, rounds // CHANNELS),
        solved_anew=True,
        faults=slow,
    )
    rows = []
    for left_out, answer in (
        (random, "awaited"),
        (LeftOut(faults=replace(slow, deadline_factor=DEADLINE)), "left out"),
        (LeftOut(faults=FaultPlan(faults=broken)), None),
    ):
        for _, effect in left_out.each():
            cost = attribution(scenario, control, rounds, effect, seed=seed)[-1]
            late = any(fault.kind in ("straggler", "late") for fault in effect.faults.faults)
            rows.append(asdict(cost) | {"size": size_of(effect), "late": answer if late else None})
    return rows


def timeline_rows(preset: str, problem: str, seed: int) -> "pd.DataFrame":
    """The first rounds of the first devices of a small cell as they are played, as a table of a play."""
    scenario, _ = draw(preset, devices=SHOWN_DEVICES, seed=seed)
    played = emulate(scenario, _control(scenario, problem, "decomposition"), SHOWN_ROUNDS, seed=seed)
    return played.to_frame().assign(pair=pair(preset), problem=problem)
