"""One console for all commands, wide enough for tables when the output is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

_piped_width = 150

console = Console(width=None if sys.stdout.isatty() else _piped_width, highlight=False, soft_wrap=False)


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Nothing where there are no rows."""
    if not rows:
        return
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    console.print(table)
