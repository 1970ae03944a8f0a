"""Drafts that are trees: several candidates at a depth, of which the longest accepted path counts (ours)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.scenario import Scenario
from msopt.variants.action_table import ActionTable


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeShape:
    """One shape that a device may draft.

    Attributes
    ----------
    depth, width : int
        Levels, and candidates at each node; the two are what it is called by.
    expected_tokens : array, shape (K,)
        E(depth, width) of each device, the correction or bonus included [token].
    nodes : int
        Drafted tokens, each sent and verified.
    """

    depth: int
    width: int
    expected_tokens: FloatArray
    nodes: int

    def __post_init__(self) -> None:
        for name, least in (("depth", 0), ("width", 1), ("nodes", 0)):
            if getattr(self, name) < least:
                raise ParameterError(f"tree: {name} = {describe(getattr(self, name))} is below {least}")


def full_tree(acceptance: FloatArray, depth: int, width: int) -> TreeShape:
    """The tree in which every node has so many children, of independent candidates (geometric law).

    With acceptance alpha for each of w candidates that are drawn and tried independently, a level is passed with
    probability 1 - (1 - alpha)^w, so that E is the geometric law's with that in place of alpha: an upper estimate,
    because candidates of one position are tried after others of it were rejected. It has w + w^2 + ... + w^depth nodes.
    """
    passed = 1.0 - (1.0 - np.asarray(acceptance, dtype=float)) ** width
    tokens = np.sum(passed ** np.arange(depth + 1.0)[:, None], axis=0)
    return TreeShape(depth=depth, width=width, expected_tokens=tokens, nodes=sum(width**n for n in range(1, depth + 1)))


def tree_actions(scenario: Scenario, shapes: Sequence[TreeShape]) -> ActionTable:
    """Every shape as an action: a depth takes one drafting step, every node is sent and verified.

    Raises
    ------
    ParameterError
        Where there is no shape, or one is for another number of devices.
    """
    count = scenario.device_count
    if not shapes:
        raise ParameterError("there is no tree to choose")
    for shape in shapes:
        if np.shape(shape.expected_tokens) != (count,):
            raise ParameterError(
                f"tree {shape.depth} x {shape.width}: {count} expected tokens are needed, one a device"
            )
    depth = np.array([[float(shape.depth)] for shape in shapes]) * np.ones(count)
    nodes = np.array([[float(shape.nodes)] for shape in shapes]) * np.ones(count)
    return ActionTable(
        labels=tuple(f"tree {shape.depth} x {shape.width}" for shape in shapes),
        device_names=scenario.device_names,
        tokens=np.array([shape.expected_tokens for shape in shapes]),
        compute_s=depth * scenario.draft_s_per_token,
        trip_s=scenario.trip_s(nodes > 0.0),
        bits=nodes * scenario.token_payload_bits("heterogeneous"),
        verified=nodes + 1.0,
        drafted=nodes,
        allowed=np.ones(nodes.shape, dtype=bool),
        extra={"depth": depth},
    )
