"""A table in a terminal."""

from typing import TYPE_CHECKING

from reports.shared.text_table import Table

if TYPE_CHECKING:
    from rich.console import Console


def show_table(console: "Console", table: Table) -> None:
    """The title, where there is one, then the table: numbers right, units below the words, every text as it is."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    if table.title:
        console.print(table.title, style="bold")
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in table.columns:
        head = Text(column.head("\n"))
        if column.numeric:
            grid.add_column(head, justify="right", no_wrap=True, vertical="bottom")
        else:
            grid.add_column(head, overflow="fold", vertical="bottom")
    for row in table.rows:
        grid.add_row(*map(Text, row))
    console.print(grid)
