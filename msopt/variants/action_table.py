"""A table of actions: what each device may do in a round, as rows of numbers (design section 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msopt.arrays import BoolArray, FloatArray, Frozen, every_length, frozen, numbers
from msopt.errors import ParameterError, describe
from msopt.model.scenario import Problem, Scenario

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("tokens", "compute_s", "trip_s", "bits", "verified", "drafted")


@dataclass(frozen=True, kw_only=True, eq=False)
class ActionTable(Frozen):
    """A rows of actions for K devices; every device chooses one row of its own column.

    Attributes
    ----------
    labels : tuple of A str
        What the rows are called.
    device_names : tuple of K str
    tokens : array, shape (A, K)
        Expected tokens of a round, the correction or bonus included, E.
    compute_s : array, shape (A, K)
        What the device computes before its bits are ready [s].
    trip_s : array, shape (A, K)
        What messages are under way besides being sent [s].
    bits : array, shape (A, K)
        Sent before verification [bit].
    verified : array, shape (A, K)
        Tokens that the server verifies; 0 where the device takes no part in the batch.
    drafted : array, shape (A, K)
        Tokens drafted, what limits on draft lengths count.
    allowed : array of bool, shape (A, K)
        Whether the device has the action at all.
    extra : mapping
        Further columns, shape (A, K), by name with the unit in it, such as `energy_j` or `memory_bytes`.

    Raises
    ------
    ParameterError
        For columns of other shapes, numbers that are not finite or below 0.
    """

    labels: tuple[str, ...]
    device_names: tuple[str, ...]
    tokens: FloatArray
    compute_s: FloatArray
    trip_s: FloatArray
    bits: FloatArray
    verified: FloatArray
    drafted: FloatArray
    allowed: BoolArray
    extra: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "device_names", tuple(self.device_names))
        allowed = np.array(self.allowed, dtype=bool)
        object.__setattr__(self, "allowed", frozen(allowed))
        object.__setattr__(self, "extra", {name: self._column(name, one) for name, one in self.extra.items()})
        for name in COLUMNS:
            object.__setattr__(self, name, self._column(name, getattr(self, name)))
        if allowed.shape != self.shape:
            raise ParameterError(f"action table: allowed has shape {allowed.shape}; {self.shape} is needed")

    def _column(self, name: str, values: Any) -> FloatArray:
        column = numbers(values, f"action table: {name}")
        if column.shape != self.shape:
            raise ParameterError(f"action table: {name} has shape {column.shape}; {self.shape} is needed")
        bad = np.argwhere(np.asarray(self.allowed) & ~(np.isfinite(column) & (column >= 0.0)))
        if bad.size:
            a, k = bad[0]
            raise ParameterError(
                f"action table: {name} of {describe(self.labels[a])} for {describe(self.device_names[k])} is "
                f"{column[a, k]:g}; a finite number of at least 0 is needed"
            )
        return column

    @property
    def shape(self) -> tuple[int, int]:
        """A and K."""
        return len(self.labels), len(self.device_names)

    @property
    def ready_s(self) -> FloatArray:
        """When bits could be there if sending took no time [s], shape (A, K)."""
        return np.asarray(self.compute_s + self.trip_s)

    @classmethod
    def of_lengths(cls, scenario: Scenario, problem: Problem = "heterogeneous", *, idle: bool = False) -> Self:
        """Every draft length of a problem, each token with the bits that the problem sends.

        Parameters
        ----------
        scenario : Scenario
        problem : str
        idle : bool
            Whether a device may also take no part in a round: no token, nothing to verify. It is the last row.
        """
        low, high = scenario.length_limits(problem)
        lengths = every_length((low, high), scenario.device_count)
        table = cls(
            labels=tuple(f"draft {length}" for length in range(low, high + 1)),
            device_names=scenario.device_names,
            tokens=scenario.acceptance.expected_tokens(lengths),
            compute_s=lengths * scenario.draft_s_per_token,
            trip_s=scenario.trip_s(lengths > 0.0),
            bits=lengths * scenario.token_payload_bits(problem),
            verified=lengths + 1.0,
            drafted=lengths,
            allowed=np.ones(lengths.shape, dtype=bool),
        )
        return table.with_idle() if idle else table

    def with_idle(self) -> Self:
        """The table with a last row for those that take no part in a round."""
        nothing = {name: np.zeros((1, self.shape[1])) for name in (*COLUMNS, *self.extra)}
        rest = np.ones((1, self.shape[1]), dtype=bool)
        idle = type(self)(
            labels=("idle",),
            device_names=self.device_names,
            allowed=rest,
            extra={name: nothing[name] for name in self.extra},
            **{name: nothing[name] for name in COLUMNS},
        )
        return type(self).stacked([self, idle])

    @classmethod
    def stacked(cls, tables: "list[ActionTable]") -> Self:
        """The rows of several tables for the same devices as one table; a column that one lacks is 0 there."""
        first = tables[0]
        if any(table.device_names != first.device_names for table in tables):
            raise ParameterError("action tables for different devices have no common rows")
        extra = dict.fromkeys(name for table in tables for name in table.extra)
        return cls(
            labels=tuple(label for table in tables for label in table.labels),
            device_names=first.device_names,
            allowed=np.concatenate([table.allowed for table in tables]),
            extra={
                name: np.concatenate([table.extra.get(name, np.zeros(table.shape)) for table in tables])
                for name in extra
            },
            **{name: np.concatenate([getattr(table, name) for table in tables]) for name in COLUMNS},
        )

    def verify_s(self, scenario: Scenario) -> FloatArray:
        """What each action adds to the verification time, c2 and c1 for each of its tokens [s], shape (A, K)."""
        each = scenario.verify_per_device_s + scenario.verify_per_token_s * self.verified
        return np.where(self.verified > 0.0, each, 0.0)

    def to_frame(self) -> "pd.DataFrame":
        """One row for each action of each device; loads pandas."""
        import pandas as pd  # noqa: PLC0415  (a heavy library, loaded only here)

        action, device = np.nonzero(self.allowed)
        columns = {name: getattr(self, name)[action, device] for name in COLUMNS}
        return pd.DataFrame(
            {
                "device": [self.device_names[k] for k in device],
                "action": [self.labels[a] for a in action],
                **columns,
                **{name: column[action, device] for name, column in self.extra.items()},
            }
        )
