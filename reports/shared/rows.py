"""A table's rows as plain dictionaries."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def rows_of(table: "DataFrame") -> list[dict[str, Any]]:
    """Each row by column; what is missing is None."""
    plain: Any = table.astype(object).where(table.notna(), None)
    return list(plain.to_dict("records"))
