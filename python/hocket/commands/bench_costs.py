"""hocket bench --costs: what is paid around the collectives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from hocket import mpis
from hocket.bench import costs
from hocket.bench.costs import Cost
from hocket.bench.jsonl import schema_of
from hocket.console import console


def _show(measured: Sequence[Cost]) -> None:
    for row in costs.rows(measured):
        console.print("  ".join(row))


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    if schema_of(path) != costs.COSTS.schema:
        return False
    _show(costs.COSTS.read(path))
    return True


def run(chosen: Sequence[mpis.Mpi], counts: Sequence[int], out: Path | None) -> None:
    measured = []
    for count, mpi in product(counts, chosen):
        console.print(f"[dim]{mpi.name} {mpi.version()}, {count} ranks ...[/]")
        fresh = costs.run(mpi, count)
        measured += fresh
        if out:
            costs.COSTS.append(out, fresh)
    _show(measured)
