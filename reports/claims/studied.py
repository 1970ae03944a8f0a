"""Everything computed, once: the tables of the studies, and what the manifest says of them."""

import platform
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from msopt import MsoptError
from msopt.model.slacks import FEASIBILITY_RTOL
from reports.claims.judging import CLOSE, OUTCOMES, VERDICTS, judge
from reports.claims.ms_claims import MS_CLAIMS, MS_TACIT
from reports.claims.ud_claims import UD_CLAIMS, UD_TACIT
from reports.shared.parallel import Task, cores, run
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row
from reports.studies import closed_forms, gains, paper_figures, unknown_acceptance
from reports.studies.centralised import implied_draft_times
from reports.studies.effort import Effort
from reports.studies.greedy_paths import greedy_paths, losses
from reports.studies.paper_figures import MS_PRESETS, UD_PRESETS
from reports.studies.points import SOLVED, Failure, attempt, chunks, is_fault, setting_words, solve_rows
from reports.studies.probes import probe_ms, probe_ud
from reports.studies.quoted import ABOUT
from reports.studies.study import Study, draw_seed
from reports.studies.unknown_acceptance import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    Tables = dict[str, pd.DataFrame]

Progress = Callable[[int, int], None]
"""Told how many tasks of how many are done."""

_PACKAGES = ("msopt", "numpy", "scipy", "pandas", "joblib")
_CLAIMS_SOURCE = "the papers' sentences in our words; tests and verdicts are ours, from the draws of this record"
OTHER_TITLES = {
    "claims": ("What the papers say, and whether it held here", _CLAIMS_SOURCE),
    "claims_cases": ("Every case of every claim", _CLAIMS_SOURCE),
    "gains": (
        "Gain of the optimum over each baseline, by family of scenarios",
        "Monte Carlo over the papers' settings and our variations of them; [MS]: up to 88 % over the fixed scheme",
    ),
    "gains_quantiles": ("Distribution of the gain, by hundredths", "the same draws"),
    "faults": ("Where a method has no answer", "the draws of this record"),
    "ms_centralised": (
        "The draft time at the server at which the quoted ratios over Cen-SPIN come out",
        "[MS]'s ratios, the draws of its Fig. 6; the two readings and what counts as plausible are ours",
    ),
    "ud_greedy": (
        "Where Algorithm 1 of [UD] loses against our optimum",
        "[UD], its setting; ways to run it beside the printed one are ours",
    ),
}
_MEANING: dict[str, dict[str, Any]] = {"claims": {"verdicts": VERDICTS}, "claims_cases": {"outcomes": OUTCOMES}}
_FAULT = ("study", "base", "setting", "draw", "scenario_seed", "scheme", "status", "cause")


def collect(
    effort: Effort,
    *,
    seed: int = 0,
    jobs: int | None = None,
    methods: Sequence[str] = (),
    measured: Mapping[str, Sequence[tuple[int, float]]] | None = None,
    progress: Progress | None = None,
) -> Record:
    """Run every study and judge every claim.

    Parameters
    ----------
    effort : Effort
    seed : int
        Of all draws.
    jobs : int, optional
        Processes; one for each core by default. The tables do not depend on it.
    methods : sequence of str
        A user's own, MODULE:FUNCTION.
    measured : mapping, optional
        Measured verification times by profile: (batch, seconds).
    progress : function, optional

    Raises
    ------
    MsoptError
        Where a whole study or all probes fail; what fails here and there is in the table `faults`.
    """
    figures = paper_figures.studies(effort, seed, methods)
    families = gains.studies(effort, seed, tuple(methods))
    everything, faults, seconds = _run(_tasks(effort, seed, figures | families), jobs, progress)
    results, more = _answered(everything, figures | families)
    draws = {name: paper_figures.with_pairs(results[name]) for name in figures}
    draws |= {name: results[name] for name in ("ms_fig3", "ud_fig6", "probes", "ud_greedy", *UNKNOWN)}
    closed = _closed_form_tables(draws, measured or {})
    all_gains = _concat([gains.gains_of(study, results[name]) for name, study in families.items()])
    claims, cases = judge((*MS_CLAIMS, *UD_CLAIMS, *MS_TACIT, *UD_TACIT), closed | draws)
    tables: Tables = closed | {
        name: paper_figures.figure_table(figure, draws[paper_figures.STUDY_OF[name]])
        for name, figure in paper_figures.STUDIED.items()
    }
    tables |= {name: paper_figures.figure_table(figure, draws[name]) for name, figure in UNKNOWN.items()}
    tables |= {
        "ms_centralised": implied_draft_times(draws["ms_fig6"], effort.devices),
        "ud_greedy": losses(draws["ud_greedy"], draws["ud_fig7_8"]),
    }
    tables |= {"claims": claims, "claims_cases": cases}
    tables |= {"gains": gains.summary(all_gains), "gains_quantiles": gains.quantiles(all_gains)}
    tables |= {"faults": _frame([*faults, *more], _FAULT)}
    tables |= {f"draws_{name}": table for name, table in draws.items()} | {"draws_gains": all_gains}
    studies = figures | families
    return Record(_manifest(effort, seed, methods, studies, results, tables), tables, {"cpu_s_by_study": seconds})


def _tasks(effort: Effort, seed: int, studies: Mapping[str, Study]) -> dict[str, list[Task]]:
    """The tasks behind each table of draws."""
    tasks: dict[str, list[Task]] = {
        name: [(solve_rows, (study, chunk)) for chunk in chunks(study, study.points())]
        for name, study in studies.items()
    }

    def each(function: Callable[..., Any], presets: Sequence[str], draws: int | None = None) -> list[Task]:
        draws = draws or effort.draws["heterogeneous" if presets is MS_PRESETS else "modes"]
        numbered = [(number, draw_seed(seed, number)) for number in range(draws)]
        return [(function, (preset, *one, effort.devices)) for preset in presets for one in numbered]

    tasks["ms_fig3"] = each(closed_forms.one_length, MS_PRESETS, effort.curve_draws)
    tasks["ud_fig6"] = each(closed_forms.uplink_sets, UD_PRESETS, effort.curve_draws)
    tasks["probes"] = each(probe_ms, MS_PRESETS) + each(probe_ud, UD_PRESETS)
    value = partial(unknown_acceptance.value_rows, parts=effort.table_i_part, prompts=effort.prompts)
    tasks["unknown_value"] = each(value, MS_PRESETS)
    tasks["unknown_regret"] = each(partial(unknown_acceptance.regret_rows, rounds=effort.rounds), MS_PRESETS)
    tasks["ud_greedy"] = [
        (greedy_paths, (*given, power))
        for _, given in each(greedy_paths, UD_PRESETS)
        for power in effort.greedy_power_dbm
    ]
    return tasks


def _run(
    tasks: Mapping[str, Sequence[Task]], jobs: int | None, progress: Progress | None
) -> tuple[dict[str, list[Row]], list[Row], dict[str, float]]:
    """The rows of every list of tasks in their order, the tasks that failed, and the processor time each list took."""
    flat = [(name, task) for name, of_name in tasks.items() for task in of_name]
    rows: dict[int, list[Row] | Failure] = {}
    seconds = dict.fromkeys(tasks, 0.0)
    for number, found, cpu_s in run([(attempt, (function, *given)) for _, (function, given) in flat], jobs=jobs):
        rows[number] = found
        seconds[flat[number][0]] += cpu_s
        if progress is not None:
            progress(len(rows), len(flat))
    by_name: dict[str, list[Row]] = {name: [] for name in tasks}
    faults = []
    for number, (name, (_, given)) in enumerate(flat):
        found = rows[number]
        if isinstance(found, Failure):
            faults.append({"study": name, "setting": ", ".join(map(str, given)), **found._asdict()})
        else:
            by_name[name] += found
    for name, of_name in by_name.items():
        if tasks[name] and not of_name:
            raise MsoptError(f"nothing could be computed for {name}: {faults[0]['cause']}")
    return by_name, faults, seconds


def _answered(everything: Mapping[str, Sequence[Row]], studies: Mapping[str, Study]) -> "tuple[Tables, list[Row]]":
    """The draws of every study in which its methods have answers, and those in which one has none."""
    tables, faults = {}, []
    for name, rows in everything.items():
        kept = list(rows)
        if name in studies:
            study = studies[name]
            faults += [{"study": name, "setting": setting_words(study, row), **row} for row in rows if is_fault(row)]
            kept = [
                {key: value for key, value in row.items() if key not in ("status", "cause")}
                for row in rows
                if row["status"] == SOLVED
            ]
        tables[name] = _frame(kept, tuple(kept[0]) if kept else ())
    return tables, faults


def _frame(rows: Sequence[Row], columns: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows, columns=list(columns))


def _closed_form_tables(draws: "Tables", measured: Mapping[str, Sequence[tuple[int, float]]]) -> "Tables":
    return {
        "ms_fig3": closed_forms.one_length_table(draws["ms_fig3"]),
        **closed_forms.best_lengths(),
        "ms_fig5": closed_forms.verification(measured),
        "ud_fig6": closed_forms.uplink_sets_table(draws["ud_fig6"]),
    }


def _concat(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def _manifest(
    effort: Effort,
    seed: int,
    methods: Sequence[str],
    studies: Mapping[str, Study],
    results: "Tables",
    tables: "Tables",
) -> dict[str, Any]:
    hashed = {
        name: sha256("".join(results[name]["scenario_hash"]).encode()).hexdigest()[:16]
        for name in studies
        if len(results[name])
    }
    return {
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        "machine": {"platform": platform.platform(), "processor": platform.machine(), "cores": cores()},
        "effort": vars(effort),
        "seed": seed,
        "seeds": {name: study.seed for name, study in studies.items()},
        "methods": list(methods),
        "scenario_hashes": hashed,
        "solver": "the closed forms and searches of msopt; no convex solver takes part",
        "tolerances": {
            "feasible_rtol": FEASIBILITY_RTOL,
            "claims_loss_counts_as_none": CLOSE,
            "claims_about_rtol": ABOUT,
        },
        "tables": {name: _entry(name) for name in tables},
    }


def _entry(name: str) -> dict[str, Any]:
    figures = closed_forms.CLOSED | paper_figures.STUDIED | UNKNOWN
    if name in figures:
        return figures[name].entry()
    if name in OTHER_TITLES:
        title, source = OTHER_TITLES[name]
    else:
        title, source = f"The draws behind {name.removeprefix('draws_')}", "as there"
    return {**undrawn(title, source), **_MEANING.get(name, {})}
