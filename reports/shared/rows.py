"""A table as plain rows: what commands print as JSON, what tables are shown of, and what DataFrames are made of."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]
"""A value by column, or by key; what is missing is None."""


def rows_of(table: "DataFrame") -> list[Row]:
    """Each row by column; what is missing is None."""
    plain: Any = table.astype(object).where(table.notna(), None)
    return list(plain.to_dict("records"))


def finite_or_none(value: float) -> float | None:
    """A number, or None for what a table has no number for."""
    return value if math.isfinite(value) else None
