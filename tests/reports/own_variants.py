"""Utilities and limits as a user writes them: right ones, wrong ones, and ones with one form alone."""

from typing import Any

import numpy as np

from msopt import ControlLimit, Utility
from msopt.arrays import FloatArray


class Budget(ControlLimit):
    name, unit = "my budget", "token"

    def __init__(self, most: float) -> None:
        self.most = most

    def left(self, at: Any) -> Any:
        return at.draft_length.sum()

    def right(self, at: Any) -> Any:
        return self.most

    def on_table(self, rules: Any) -> None:
        rules.at_most(self.name, rules.table.drafted, self.most)


class Stricter(Budget):
    """Its table form forbids what its sides allow."""

    def on_table(self, rules: Any) -> None:
        rules.at_most(self.name, rules.table.drafted, self.most - 1.0)


class Laxer(Budget):
    """Its table form allows what its sides forbid."""

    def on_table(self, rules: Any) -> None:
        del rules


class NotForPrograms(Budget):
    """It says nothing of `conic`, and its left side asks for what no convex program has."""

    def left(self, at: Any) -> Any:
        return at.draft_length.sum() + 0.0 * at.airtime_s.sum()


class TableFails(Budget):
    def on_table(self, rules: Any) -> None:
        raise ZeroDivisionError("no table")


class TableAlone(ControlLimit):
    name, unit = "table alone", "token"

    def on_table(self, rules: Any) -> None:
        rules.at_most(self.name, rules.table.drafted, 5.0)


class Doubled(ControlLimit):
    """Twice the bandwidth that the bits need, told to tables alone."""

    name, unit = "doubled", "Hz"

    def on_table(self, rules: Any) -> None:
        rules.bandwidth(lambda hz: 2.0 * hz)


class Halved(Doubled):
    def on_table(self, rules: Any) -> None:
        rules.bandwidth(lambda hz: 0.5 * hz)


class Saturating(Utility):
    name, unit = "saturating", "1"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        return np.log1p(goodput)

    def expression(self, goodput: Any, cp: Any) -> Any:
        return cp.sum(cp.log1p(goodput))


class Numbers(Utility):
    name, unit = "numbers", "1"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        print("a word of the user's")
        return np.sqrt(goodput)


class Fails(Numbers):
    def of_device(self, goodput: FloatArray) -> FloatArray:
        raise ZeroDivisionError("no devices")


class Nothing(Numbers):
    def of_device(self, goodput: FloatArray) -> FloatArray:
        return goodput * np.nan


class Endless(Numbers):
    def of_device(self, goodput: FloatArray) -> FloatArray:
        return goodput + np.inf


class Complex(Numbers):
    def of_device(self, goodput: FloatArray) -> Any:
        return goodput * (1.0 + 1.0j)


class NotTheSum(Numbers):
    name = "sum"


class ExpressionAlone(Utility):
    name, unit = "expression alone", "1"

    def expression(self, goodput: Any, cp: Any) -> Any:
        return cp.sum(cp.sqrt(goodput))


class NoExpression(Saturating):
    def expression(self, goodput: Any, cp: Any) -> Any:
        return None


class Several(Saturating):
    """One number for each device, and not their sum."""

    def expression(self, goodput: Any, cp: Any) -> Any:
        return cp.log1p(goodput)


class FreeVariable(Saturating):
    """Its expression has a number that no goodput gives."""

    def expression(self, goodput: Any, cp: Any) -> Any:
        return super().expression(goodput, cp) - cp.abs(cp.Variable())


class OneValue(Utility):
    """No table form, and one number whatever it is asked of."""

    name, unit = "one value", "1"

    def value(self, tokens: FloatArray, round_s: FloatArray) -> Any:
        return np.asarray(np.sum(tokens))


class NotAlphaFair(Saturating):
    name = "alpha-fair"


class NotMaxMin(Saturating):
    name = "max-min"


class Unbounded(TableAlone):
    """A row whose bound is no number."""

    def on_table(self, rules: Any) -> None:
        rules.at_most(self.name, rules.table.drafted, np.nan)


class NoBudget(ControlLimit):
    """Its right side is without end."""

    name, unit = "my budget", "token"

    def left(self, at: Any) -> Any:
        return at.draft_length.sum()

    def right(self, at: Any) -> Any:
        return np.inf

    def on_table(self, rules: Any) -> None:
        del rules


class NoForm(Utility):
    name, unit = "no form", "1"
