"""Which of a problem's methods are the simpler rules that an optimum is held against, and by how much it beats them."""

from collections.abc import Sequence

from msopt.methods import names_of
from reports.shared.rows import Row

ONE_LENGTH = {"heterogeneous": "homogeneous", "modes": "uniform-length"}
"""By problem the rule that gives one length to all; problem `homogeneous` has no other."""


def simpler_rules(methods: Sequence[Row]) -> list[Row]:
    """The rows of `answer_methods` that are controls of their problem, but for ours and the papers' own algorithms."""
    others = names_of("optimum", "algorithm", "conic")
    return [row for row in methods if row["gap"] is not None and row["method"] not in others]


def closest_and_weakest(methods: Sequence[Row]) -> Row:
    """The simpler rules over which the optimum gains least and most, and how much; None without any.

    Parameters
    ----------
    methods : sequence of dict
        The rows of `answer_methods` of one problem.
    """
    rules = simpler_rules(methods)
    found: Row = dict.fromkeys(("closest", "closest_gain", "weakest", "weakest_gain"))
    for word, end in (("closest", min), ("weakest", max)) if rules else ():
        rule = end(rules, key=lambda row: float(row["gain_of_best"]))
        found |= {word: rule["method"], f"{word}_gain": rule["gain_of_best"]}
    return found
