"""What a measured profile says, as tables: acceptance by task, laws against the curve, times, payloads. No torch."""

from typing import TYPE_CHECKING

from msopt.measured.profile import Profile
from msopt.measured.task_acceptance import Estimate, Spread, TaskAcceptance
from msopt.model.acceptance import Acceptance
from reports.shared.rows import Row
from reports.shared.table_terminal import show_table
from reports.shared.text_table import Column, Table, count_column, decimals_column, words_column
from reports.shared.words import counted, literal

if TYPE_CHECKING:
    from rich.console import Console


_SENT = ("distribution_bits", "kept_entries", "probability_bits")


def show_profile(console: "Console", profile: Profile) -> None:
    """All that was measured."""
    console.print(literal(profile.label), style="bold")
    if profile.acceptance_from is not None:
        console.print(literal(f"acceptance: {profile.acceptance_from.label}"))
    _show_acceptance(console, profile)
    _show_laws(console, profile)
    _show_times(console, profile)
    _show_payload(console, profile)


def disagreements(profile: Profile) -> list[str]:
    """Tasks whose two estimates at visited positions differ, at the 99 % level of all the profile's tasks together."""
    tested = {name: task.agreement for name, task in profile.tasks.items() if task.agreement is not None}
    return [name for name, found in tested.items() if not found.holds(len(tested))]


def tokens_by_law(task: TaskAcceptance, length: int) -> dict[str, float | None]:
    """Expected tokens of a round of one draft length, by the measured curve and by each law.

    `geometric` has the acceptance by counts, `Beta` mean and deviation over prompts at visited positions, and
    `Beta, [MS]` those of the papers' estimator, as [MS] Table I gives them. None where there is no such law.
    """
    share = task.by_counts.value
    return {
        "measured": _tokens(Acceptance.of(curves=[task.survival]), length) if task.curve else None,
        "geometric": _tokens(Acceptance.of([share]), length) if share is not None else None,
        "Beta": _beta_tokens(task.over_prompts, length),
        "Beta, [MS]": _beta_tokens(task.all_drafted_over_prompts, length),
    }


def _tokens(law: Acceptance, length: int) -> float:
    return float(law.expected_tokens([float(length)])[0])


def _beta_tokens(spread: Spread | None, length: int) -> float | None:
    if spread is None or spread.beta is None:
        return None
    return _tokens(Acceptance.of([spread.mean], [spread.std]), length)


def _show_acceptance(console: "Console", profile: Profile) -> None:
    rows = [
        {
            "task": name,
            "counts": _interval(task.by_counts),
            "overlap": _interval(task.by_overlap),
            "z": None if task.agreement is None else task.agreement.z,
            "along": _interval(task.target_text_overlap),
            "drafted": _interval(task.all_drafted_ratio),
            "over": _spread(task.all_drafted_over_prompts),
        }
        for name, task in profile.tasks.items()
    ]
    columns = (
        Column("task", "task"),
        words_column("counts", "accepted/\n(acc. + rej.)", numeric=True),
        words_column("overlap", "Σmin(p, q)\nsame positions", numeric=True),
        decimals_column("z", "z of the\ndifference", form="+.2f"),
        words_column("along", "Σmin(p, q)\nalong the text", numeric=True),
        words_column("drafted", "min(1, p/q)\nall drafted", numeric=True),
        words_column("over", "mean ± deviation\nover prompts", numeric=True),
    )
    console.print()
    show_table(console, Table.of("acceptance, with intervals over prompts", rows, columns, whole=True))
    wrong = disagreements(profile)
    tested = sum(task.agreement is not None for task in profile.tasks.values())
    verdict = f"differ on {', '.join(wrong)}" if wrong else f"agree on {counted(tested, 'task')}"
    console.print(f"the two estimates at visited positions {verdict} (99 % level for all tasks together)")


def _show_laws(console: "Console", profile: Profile) -> None:
    if profile.sampling is None:
        return
    length = profile.sampling.draft_length
    rows: list[Row] = []
    for name, task in profile.tasks.items():
        found = tokens_by_law(task, length)
        measured, geometric = found["measured"], found["geometric"]
        off = None if measured is None or geometric is None else geometric - measured
        rows.append({"task": name, "off": off} | found)
    laws = ("measured", "geometric", "Beta", "Beta, [MS]")
    columns = (Column("task", "task"), *(decimals_column(law, law) for law in laws))
    off_column = decimals_column("off", "geometric\nless measured", form="+.3f")
    title = f"tokens of a round at draft length {length}, by law"
    console.print()
    show_table(console, Table.of(title, rows, (*columns, off_column), whole=True))


def _show_times(console: "Console", profile: Profile) -> None:
    measured = [("drafting", row.batch, row.tokens, row.time) for row in profile.server_draft]
    if profile.verification is not None:
        measured += [("verification", row.batch, row.draft_length + 1, row.time) for row in profile.verification.rows]
    measured += [("prompt", row.batch, row.tokens, row.time) for row in profile.prompt_processing]
    rows = [
        {"what": what, "batch": batch, "tokens": tokens} | vars(time) | {"n": time.n}
        for what, batch, tokens, time in measured
    ]
    columns = (
        Column("what", "time"),
        count_column("batch", "batch"),
        count_column("tokens", "tokens"),
        *(
            decimals_column(key, words, "ms", ".1f")
            for key, words in (("median_s", "median"), ("q10_s", "10 %"), ("q90_s", "90 %"))
        ),
        count_column("n", "times"),
    )
    title = "times; verification computes one position more than it is given drafted tokens"
    console.print()
    show_table(console, Table.of(title, rows, columns, whole=True))
    if profile.verification is None:
        return
    fit = profile.verification.fit
    for name, term in (("base", fit.base), ("per device", fit.per_device), ("per token", fit.per_token)):
        error = "" if term.standard_error_s is None else f" ± {1e3 * term.standard_error_s:.2f}"
        p_value = "" if term.p_value is None else f" (p = {term.p_value:.2g})"
        what = f"{1e3 * term.seconds:.2f}{error} ms" if term.needed else "not needed"
        console.print(f"verification, {name}: {what}{p_value}")
    console.print(f"R² = {fit.r_squared:.4f}, residuals up to {100 * fit.max_relative_residual:.0f} %")


def _show_payload(console: "Console", profile: Profile) -> None:
    if not profile.payload:
        return
    tasks = list(dict.fromkeys(row.task for row in profile.payload))
    rows: dict[tuple[int, int, int], Row] = {}
    for row in profile.payload:
        key = (row.distribution_bits, row.kept_entries, row.probability_bits)
        rows.setdefault(key, dict(zip(_SENT, key, strict=True)))[str(row.task)] = (
            f"{_value(row.acceptance)}/{_value(row.acceptance_at_device)}"
        )
    columns = (
        count_column("kept_entries", "entries"),
        count_column("probability_bits", "bits\neach"),
        count_column("distribution_bits", "distribution_bits"),
        *(words_column(str(task), str(task), numeric=True) for task in tasks),
    )
    title = "acceptance by payload, corrected at the server/at the device"
    console.print()
    show_table(console, Table.of(title, [rows[key] for key in sorted(rows)], columns, whole=True))


def _spread(over: Spread | None) -> str | None:
    return None if over is None else f"{over.mean:.3f} ± {over.std:.3f}"


def _interval(estimate: Estimate | None) -> str | None:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return f"{estimate.value:.3f} ({estimate.low:.3f}-{estimate.high:.3f})"


def _value(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.value is None else f"{estimate.value:.3f}"
