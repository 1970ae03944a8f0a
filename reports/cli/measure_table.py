"""What a measured profile says, as tables: acceptance by task, laws against the curve, times, payloads. No torch."""

from typing import TYPE_CHECKING

from msopt.measured.profile import Profile
from msopt.measured.task_acceptance import Estimate, Spread, TaskAcceptance
from msopt.model.acceptance import Acceptance
from reports.shared.tables import add_row, new_table
from reports.shared.words import counted, literal

if TYPE_CHECKING:
    from rich.console import Console


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
        "measured": _tokens(Acceptance.of([0.0], None, [task.survival]), length) if task.curve else None,
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
    heads = (
        "task",
        "accepted/\n(acc. + rej.)",
        "Σmin(p, q)\nsame positions",
        "z of the\ndifference",
        "Σmin(p, q)\nalong the text",
        "min(1, p/q)\nall drafted",
        "mean ± deviation\nover prompts",
    )
    table = new_table(heads, numbers=range(1, len(heads)))
    for name, task in profile.tasks.items():
        over = task.all_drafted_over_prompts
        add_row(
            table,
            name,
            _interval(task.by_counts),
            _interval(task.by_overlap),
            "-" if task.agreement is None else f"{task.agreement.z:+.2f}",
            _interval(task.target_text_overlap),
            _interval(task.all_drafted_ratio),
            "-" if over is None else f"{over.mean:.3f} ± {over.std:.3f}",
        )
    console.print("\nacceptance, with intervals over prompts", style="bold")
    console.print(table)
    wrong = disagreements(profile)
    tested = sum(task.agreement is not None for task in profile.tasks.values())
    verdict = f"differ on {', '.join(wrong)}" if wrong else f"agree on {counted(tested, 'task')}"
    console.print(f"the two estimates at visited positions {verdict} (99 % level for all tasks together)")


def _show_laws(console: "Console", profile: Profile) -> None:
    if profile.sampling is None:
        return
    length = profile.sampling.draft_length
    console.print(f"\ntokens of a round at draft length {length}, by law", style="bold")
    rows = {name: tokens_by_law(task, length) for name, task in profile.tasks.items()}
    heads = ("task", "measured", "geometric", "Beta", "Beta, [MS]", "geometric\nless measured")
    table = new_table(heads, numbers=range(1, len(heads)))
    for name, found in rows.items():
        measured, geometric = found["measured"], found["geometric"]
        off = "-" if measured is None or geometric is None else f"{geometric - measured:+.3f}"
        add_row(table, name, *("-" if value is None else f"{value:.3f}" for value in found.values()), off)
    console.print(table)


def _show_times(console: "Console", profile: Profile) -> None:
    heads = ("time", "batch", "tokens", "median\n[ms]", "10 %\n[ms]", "90 %\n[ms]", "times")
    table = new_table(heads, numbers=range(1, len(heads)))
    rows = [("drafting", row.batch, row.tokens, row.time) for row in profile.server_draft]
    if profile.verification is not None:
        rows += [("verification", row.batch, row.draft_length + 1, row.time) for row in profile.verification.rows]
    rows += [("prompt", row.batch, row.tokens, row.time) for row in profile.prompt_processing]
    for what, batch, tokens, time in rows:
        seconds = (time.median_s, time.q10_s, time.q90_s)
        add_row(table, what, str(batch), str(tokens), *(f"{1e3 * value:.1f}" for value in seconds), str(time.n))
    console.print("\ntimes; verification computes one position more than it is given drafted tokens", style="bold")
    console.print(table)
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
    heads = ("entries", "bits\neach", "distribution_bits", *(str(task) for task in tasks))
    table = new_table(heads, numbers=range(len(heads)))
    rows: dict[tuple[int, int, int], list[str]] = {}
    for row in profile.payload:
        key = (row.distribution_bits, row.kept_entries, row.probability_bits)
        rows.setdefault(key, []).append(f"{_value(row.acceptance)}/{_value(row.acceptance_at_device)}")
    for (bits, kept, each), cells in sorted(rows.items()):
        add_row(table, str(kept), str(each), str(bits), *cells)
    console.print("\nacceptance by payload, corrected at the server/at the device", style="bold")
    console.print(table)


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{estimate.value:.3f} ({estimate.low:.3f}-{estimate.high:.3f})"


def _value(estimate: Estimate | None) -> str:
    return "-" if estimate is None or estimate.value is None else f"{estimate.value:.3f}"
