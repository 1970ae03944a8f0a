"""Limits on draft lengths: of each device, of all together (design section 7)."""

from typing import Any

import numpy as np

from msopt.errors import ParameterError
from msopt.model.control_limit import ControlLimit
from msopt.variants.limit_numbers import NumberLimit, positive
from msopt.variants.table_rules import TableRules


class LongestDraft(NumberLimit):
    """L_k <= L_max,k: a greatest draft length of each device's own."""

    name, unit = "longest draft", "token"
    number = "tokens"

    def __init__(self, tokens: Any) -> None:
        self.tokens = positive(self.name, tokens, zero=True)

    def left(self, at: Any) -> Any:
        """The draft lengths [token]."""
        return at.draft_length

    def on_table(self, rules: TableRules) -> None:
        """A filter."""
        rules.forbid(rules.table.drafted > self.tokens)


class AllowedLengths(ControlLimit):
    """L_k in a set of lengths, such as those that a server has compiled."""

    name, unit, conic = "allowed lengths", "token", "relaxed"

    def __init__(self, lengths: Any) -> None:
        self.lengths = np.unique(positive(self.name, np.asarray(lengths, dtype=float).reshape(-1), zero=True))
        if not self.lengths.size:
            raise ParameterError("limit allowed lengths: there is none")

    def left(self, at: Any) -> Any:
        """How far each length is from the nearest that is allowed [token]."""
        away = np.min(np.abs(np.asarray(at.draft_length, dtype=float)[..., None] - self.lengths), axis=-1)
        return np.where(at.served, away, 0.0)

    def right(self, at: Any) -> Any:
        """0."""
        return 0.0

    def on_table(self, rules: TableRules) -> None:
        """A filter; taking no part in a round is always allowed."""
        rules.forbid(~np.isin(rules.table.drafted, self.lengths) & (rules.table.verified > 0.0))


class TokenBudget(NumberLimit):
    """sum_k L_k <= a number of tokens: the drafts of one batch."""

    name, unit = "token budget", "token"
    number = "tokens"

    def __init__(self, tokens: Any) -> None:
        self.tokens = float(positive(self.name, tokens, zero=True))

    def left(self, at: Any) -> Any:
        """All drafted tokens [token]."""
        return at.draft_length.sum()

    def on_table(self, rules: TableRules) -> None:
        """One row."""
        rules.at_most(self.name, rules.table.drafted, self.tokens)
