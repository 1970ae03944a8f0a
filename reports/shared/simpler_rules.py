"""Which of a problem's methods are the simpler rules that an optimum is held against."""

from typing import TYPE_CHECKING

from msopt.methods import names_of

if TYPE_CHECKING:
    from pandas import DataFrame


def simpler_rules(methods: "DataFrame") -> "DataFrame":
    """The rows of `answer_methods` that are controls of their problem, but for ours and the papers' own algorithms."""
    return methods[methods["gap"].notna() & ~methods["method"].isin(names_of("optimum", "algorithm", "conic"))]
