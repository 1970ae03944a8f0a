"""The first three sentences of the page, for each scenario: what to do, what it gains, how sure that is."""

from collections.abc import Sequence
from math import inf

from msopt.model.objective import GOODPUT
from reports.shared.protocols import CENTRALISED, SERVER_ONLY
from reports.shared.rows import Row
from reports.shared.words import against, counted, gap, number

MOST_TOLD = 12
"""Devices up to which every length is told."""


def best_of_problems(solutions: Sequence[Row]) -> Row:
    """The solution with the greatest goodput among those of a scenario's problems; of another utility the greatest."""
    value = "utility_value" if all(map(_utility, solutions)) else "goodput_tokens_per_s"
    return max(solutions, key=lambda row: -inf if row[value] is None else row[value])


def _utility(solution: Row) -> str | None:
    """What is sought in place of the sum of the goodputs."""
    name = solution.get("utility")
    return None if name in (None, GOODPUT.name) else str(name)


def lead(solution: Row, devices: Sequence[Row]) -> list[str]:
    """Three sentences on the best problem's solution.

    Parameters
    ----------
    solution : dict
        A row of `summary`.
    devices : sequence of dict
        Its rows of the table `answer_devices`.
    """
    told = lengths_told([(row["device"], int(row["draft_length"])) for row in devices])
    goodput = solution["goodput_tokens_per_s"]
    what = f"Problem {solution['problem']} does best, with {number(goodput, 4)} token/s: draft {told}."
    return [what, _gains(solution, goodput), certainty(solution)]


def lengths_told(lengths: Sequence[tuple[str, int]]) -> str:
    """What each device drafts in a round, from its name and length.

    >>> lengths_told([("a", 2), ("b", 1)]), lengths_told([("a", 1), ("b", 1)])
    ('per round 2 at a, 1 at b', '1 token a round each')
    """
    tokens = [length for _, length in lengths]
    if len(set(tokens)) == 1:
        return f"{counted(tokens[0], 'token')} a round each"
    if len(tokens) > MOST_TOLD:
        return f"between {min(tokens)} and {counted(max(tokens), 'token')} a round"
    return f"per round {', '.join(f'{length} at {name}' for name, length in lengths)}"


def _gains(solution: Row, goodput: float) -> str:
    told = []
    if solution["closest"] is not None:
        told.append(f"{against(solution['closest_gain'])} the best of the simpler rules ({solution['closest']})")
    told.append(f"{against(goodput / solution[SERVER_ONLY] - 1.0)} no drafts at all")
    central = solution[CENTRALISED]
    if central is not None:
        told.append(f"{against(goodput / central - 1.0)} drafts made at the server in one batch")
    return f"That is {', '.join(told[:-1])}{' and ' if told[:-1] else ''}{told[-1]}."


def certainty(solution: Row) -> str:
    """How sure it is that no other control of the problem does better."""
    words = gap(solution["gap"])
    if solution["gap"] is None:
        return "No bound is known for it."
    if (name := _utility(solution)) is not None:
        if words == "proven":
            return f"It is proven that no control of this problem has a greater utility ({name})."
        return f"To reach the bound of its utility ({name}) all goodputs would have to be {words} greater."
    if words == "proven":
        return "It is proven that no control of this problem gives more."
    return f"No control of this problem gives {words} more: that is proven."
