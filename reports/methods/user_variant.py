"""A user's own utility or limit, `--variant MODULE:CLASS` or `MODULE:CLASS(2.0, name=3)`, behind the one boundary.

What each method answers is checked where it is used. Arguments are Python literals.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from msopt import ControlLimit, ParameterError, Utility
from msopt.arrays import FloatArray
from msopt.errors import describe
from msopt.variants.well_formed import check_limit_class, check_utility_class
from reports.shared.user_function import load_function, users_code

OPTION = "--variant"
_FAILS = "fails"


@dataclass(frozen=True)
class Variants:
    """A user's utility, if any, and limits, as `msopt.solve` takes them; `names` as they were given."""

    utility: Utility | None = None
    limits: tuple[ControlLimit, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of `msopt.solve`; none where there is nothing to ask for."""
        return {"utility": self.utility, "limits": self.limits} if self.names else {}


NONE = Variants()


def load_variants(names: Sequence[str] | None) -> Variants:
    """The utility and the limits that options name; ParameterError in one line where one is neither."""
    made = [_load(name) for name in names or ()]
    utilities = [one for one in made if isinstance(one, Utility)]
    if len(utilities) > 1:
        raise ParameterError(f"{OPTION}: {utilities[0].name} and {utilities[1].name} are two utilities")
    limits = tuple(one for one in made if isinstance(one, ControlLimit))
    return Variants(utilities[0] if utilities else None, limits, tuple(names or ()))


def _load(name: str) -> Utility | ControlLimit:
    module, _, call = name.partition(":")
    made, positional, named = _parsed(name, call)
    factory = load_function(OPTION, f"{module}:{made}")
    who = f"{OPTION} {name}"
    with users_code(who, "cannot be made"):
        one = factory(*positional, **named)
    if type(one).__module__.startswith("msopt.") and isinstance(one, Utility | ControlLimit):
        return one  # one of ours, with numbers of the user's
    # Of its type and not of what it says of itself.
    if issubclass(type(one), Utility):
        return UsersUtility(one, who)
    if issubclass(type(one), ControlLimit):
        return UsersLimit(one, who)
    raise ParameterError(f"{who}: is a {type(one).__name__}, neither an msopt.Utility nor an msopt.ControlLimit")


def _parsed(name: str, call: str) -> tuple[str, list[Any], dict[str, Any]]:
    """The class and its arguments, which are literals."""
    try:
        tree = ast.parse(call, mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, [], {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            named = {str(one.arg): ast.literal_eval(one.value) for one in tree.keywords if one.arg is not None}
            if len(named) == len(tree.keywords):
                return tree.func.id, [ast.literal_eval(one) for one in tree.args], named
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        pass
    raise ParameterError(f"{OPTION} {describe(name)} is not MODULE:CLASS or MODULE:CLASS(numbers)")


class UsersLimit(ControlLimit):
    """A user's limit, whose every method runs behind the boundary."""

    def __init__(self, inner: ControlLimit, who: str) -> None:
        self._inner, self._who = inner, who
        with users_code(who, _FAILS):
            check_limit_class(inner)
            vars(self).update({key: getattr(inner, key) for key in ("name", "unit", "sense", "conic", "idle")})
            self._sided, self._tabular = bool(inner.sided), bool(inner.tabular)

    @property
    def sided(self) -> bool:
        """Whether it has its two sides."""
        return self._sided

    @property
    def tabular(self) -> bool:
        """Whether it has its table form."""
        return self._tabular

    def left(self, at: Any) -> Any:
        """Its left side."""
        with users_code(self._who, f"{_FAILS} in left"):
            return _plain(self._inner.left(at))

    def right(self, at: Any) -> Any:
        """Its right side."""
        with users_code(self._who, f"{_FAILS} in right"):
            return _plain(self._inner.right(at))

    def on_table(self, rules: Any) -> None:
        """Its table form; what it asks of bandwidths runs behind the boundary, too."""
        with users_code(self._who, f"{_FAILS} in on_table"):
            self._inner.on_table(_GuardedRules(rules, self._who))


class _GuardedRules:
    """`TableRules` for a user's limit."""

    def __init__(self, rules: Any, who: str) -> None:
        self._rules, self._who = rules, who

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)

    def bandwidth(self, changed: Callable[[FloatArray], FloatArray]) -> None:
        """As in `TableRules`."""
        self._rules.bandwidth(partial(_changed, changed, self._who))


def _changed(changed: Callable[[FloatArray], FloatArray], who: str, hz: FloatArray) -> FloatArray:
    with users_code(who, f"{_FAILS} in what it asks of bandwidths"):
        return np.asarray(changed(hz.copy()), dtype=float)


def _plain(answer: Any) -> Any:
    """Numbers as a plain array; a program's quantities as they are."""
    return answer if hasattr(answer, "expression") else np.asarray(answer, dtype=float)


class UsersUtility(Utility):
    """A user's utility, whose every method runs behind the boundary."""

    def __init__(self, inner: Utility, who: str) -> None:
        with users_code(who, _FAILS):
            check_utility_class(inner)
            said = {key: getattr(inner, key) for key in ("name", "unit", "whole")}
            forms = bool(inner.conic), bool(inner.tabular)
        vars(self).update(said, _inner=inner, _who=who, _forms=forms)

    @property
    def conic(self) -> bool:
        """Whether it has an expression."""
        return bool(vars(self)["_forms"][0])

    @property
    def tabular(self) -> bool:
        """Whether a table of actions can be searched for it."""
        return bool(vars(self)["_forms"][1])

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """What each device adds."""
        return self._numbers("of_device", goodput)

    def value(self, tokens: FloatArray, round_s: FloatArray) -> FloatArray:
        """The worth of rounds."""
        answer = self._numbers("value", tokens, round_s)
        if answer.shape != np.shape(round_s):
            raise ParameterError(
                f"{vars(self)['_who']}: value answers an array of shape {answer.shape}, not {np.shape(round_s)}"
            )
        return answer

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The same for CVXPY."""
        with users_code(vars(self)["_who"], f"{_FAILS} in expression"):
            return vars(self)["_inner"].expression(goodput, cp)

    def _numbers(self, method: str, *given: Any) -> FloatArray:
        with users_code(vars(self)["_who"], f"{_FAILS} in {method}"):
            return np.asarray(getattr(vars(self)["_inner"], method)(*given), dtype=float)
