"""What the tables of docs/nonblocking.md have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hocket.bench.markdown import table
from hocket.bench.nonblocking_cells import Cell
from hocket.bench.show import microseconds
from hocket.quantities import format_bytes

Lines = list[str]


def section(title: str, text: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Lines:
    """Nothing where nothing was measured."""
    return [f"## {title}", "", text, "", *table(header, rows)] if rows else []


def bytes_text(cell: Cell) -> str:
    return format_bytes(cell.bytes) if cell.bytes else "-"


def place(cell: Cell) -> list[str]:
    return [cell.mpi, str(cell.ranks), cell.collective, bytes_text(cell)]


def time_text(value: float | None) -> str:
    return "-" if value is None else microseconds(value)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def hockets(found: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in found if cell.side == "hocket"]
