"""What the methods warn of, where several problems were solved."""

from collections.abc import Sequence

from msopt import Solution


def told_once(solutions: Sequence[Solution]) -> list[str]:
    """Every warning once; one that not all problems have begins with those that have it."""
    found: dict[str, list[str]] = {}
    for solution in solutions:
        for text in solution.warnings:
            found.setdefault(text, []).append(solution.problem)
    return [
        text if len(problems) == len(solutions) else f"{', '.join(problems)}: {text}"
        for text, problems in found.items()
    ]
