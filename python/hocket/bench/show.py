"""The comparison as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from hocket.bench import comparison
from hocket.bench.comparison import Cell
from hocket.bench.records import Record
from hocket.quantities import format_bytes


def microseconds(value: float) -> str:
    digits = 3 if value < 10 else 1 if value < 1000 else 0
    return f"{value:,.{digits}f}"


def time_text(record: Record | None) -> str:
    return microseconds(record.median_us) if record else "-"


def spread_text(record: Record | None) -> str:
    return f"{microseconds(record.p10_us)}-{microseconds(record.p90_us)}" if record else "-"


def ratio_text(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}x" if ratio >= 0.095 else f"{ratio:.1g}x"


def _styled(ratio: float | None) -> str:
    if ratio is None or 0.95 <= ratio <= 1.05:
        return ratio_text(ratio)
    return f"[{'green' if ratio > 1 else 'red'}]{ratio_text(ratio)}[/]"


def _cells_table(title: str, found: Sequence[Cell]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("collective", "bytes", "ran"):
        table.add_column(name, no_wrap=True)
    for name in ("Hocket us", "p10-p90", "MPI us", "p10-p90", "untouched us", "to the MPI", "to the fastest"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for cell in found:
        rival = f"of {cell.fastest.mpi}" if cell.fastest and cell.hocket else ""
        table.add_row(
            *(
                cell.collective,
                format_bytes(cell.bytes) if cell.bytes else "-",
                cell.hocket.algorithm if cell.hocket else "-",
            ),
            *(
                time_text(cell.hocket),
                spread_text(cell.hocket),
                time_text(cell.native),
                spread_text(cell.native),
            ),
            *(time_text(cell.untouched), _styled(cell.to_below()), _styled(cell.to_fastest())),
            rival if cell.valid() else "[red]WRONG RESULT[/]",
        )
    return table


def _means_table(found: Sequence[Cell]) -> Table:
    table = Table(title="Geometric means", title_justify="left", box=None, pad_edge=False)
    table.add_column("collective")
    table.add_column("to the MPI", justify="right")
    table.add_column("to the fastest", justify="right")
    rows = [*comparison.by_collective(found).items(), ("all", list(found))]
    for name, some in rows:
        table.add_row(
            name,
            _styled(comparison.mean(some, Cell.to_below)),
            _styled(comparison.mean(some, Cell.to_fastest)),
        )
    return table


def worst_text(found: Sequence[Cell]) -> str:
    cell = comparison.worst(found, Cell.to_below)
    if not cell:
        return "no cell was measured with Hocket"
    lost = comparison.lost(found, Cell.to_below)
    size = f" of {format_bytes(cell.bytes)}" if cell.bytes else ""
    return (
        f"worst cell: {cell.collective}{size}, {ratio_text(cell.to_below())} of the MPI below; "
        f"{len(lost)} of {len(found)} cells are slower than 0.95x"
    )


def show(console: Console, found: Sequence[Cell], title: str) -> None:
    console.print(_cells_table(title, found))
    if any(cell.hocket for cell in found):
        console.print(_means_table(found))
        console.print(worst_text(found))
    console.print()
