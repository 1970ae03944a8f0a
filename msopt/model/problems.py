"""The problems, one record each: whose it is, what a drafted token sends, which lengths it has, what follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Problem = Literal["homogeneous", "heterogeneous", "modes"]
PROBLEMS: tuple[Problem, ...] = get_args(Problem)


@dataclass(frozen=True, kw_only=True)
class ProblemKind:
    """What sets one problem apart from the others; nothing else in the package tests a problem's name for it.

    Attributes
    ----------
    title : str
        What is decided, in words.
    paper : "MS" or "UD"
        Whose problem it is.
    sends_distribution : bool
        Whether each drafted token travels with its distribution.
    least_length : int
        Of a draft where the scenario names no minimum [token].
    one_length : bool
        Whether one length is common to all devices.
    equal_shares : bool
        Whether the uplink band is shared equally while drafts are sent.
    corrects : bool
        Whether a rejection costs an exchange after verification, by uplink or downlink.
    """

    title: str
    paper: Literal["MS", "UD"]
    sends_distribution: bool
    least_length: int
    one_length: bool = False
    equal_shares: bool = False
    corrects: bool = False


KINDS: Mapping[str, ProblemKind] = MappingProxyType(
    {
        "homogeneous": ProblemKind(
            title="One length for all", paper="MS", sends_distribution=True, least_length=1, one_length=True
        ),
        "heterogeneous": ProblemKind(title="A length for each", paper="MS", sends_distribution=True, least_length=1),
        "modes": ProblemKind(
            title="Lengths and correction modes",
            paper="UD",
            sends_distribution=False,
            least_length=0,
            equal_shares=True,
            corrects=True,
        ),
    }
)
