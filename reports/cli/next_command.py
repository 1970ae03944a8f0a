"""What to try next, as the last line of an answer says it."""

import itertools
import shlex
from collections.abc import Iterable, Sequence

from reports.methods.user_method import OPTION as METHOD
from reports.methods.user_variant import OPTION as VARIANT


def after_solving(file: str, problem: str, variants: Sequence[str] = (), *, varied: bool = False) -> str:
    """What to try once a problem of a scenario has been solved, in words.

    Parameters
    ----------
    file, problem : str
    variants : sequence of str
        What `--variant` named.
    varied : bool
        Whether the file itself asks for a variant. Problem `modes` takes none, nor do all three together.
    """
    if problem == "all" or varied or variants:
        return f"msopt report {_retyped(file, variants)} --output out    (every method, as a page)"
    return f"msopt solve {_retyped(file)} --problem all    (the three problems side by side)"


def after_comparing(file: str, problem: str, own: Sequence[str], variants: Sequence[str]) -> str:
    """What to try once methods were compared, in words: the report with the user's own methods, else the control."""
    if own:
        return f"msopt report {_retyped(file, variants, own)} --output out    (the same as a page)"
    return f"msopt solve {_retyped(file, variants)} --problem {problem}    (who gets what)"


def _retyped(file: str, variants: Iterable[str] = (), methods: Iterable[str] = ()) -> str:
    """A scenario and what the user adds to it, as a shell takes them again.

    >>> _retyped("my cell.toml", ["mine:Limit(2.0)"], ["mine:control"])
    "'my cell.toml' --variant 'mine:Limit(2.0)' --method mine:control"
    """
    own = [(VARIANT, name) for name in variants] + [(METHOD, name) for name in methods]
    return shlex.join([file, *itertools.chain.from_iterable(own)])
