"""hocket bench --nonblocking: non-blocking and persistent collectives beside the blocking ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket import mpis
from hocket.bench import nonblocking, nonblocking_cells, nonblocking_tables
from hocket.bench.nonblocking import Lane, Request
from hocket.console import console
from hocket.errors import CommandError


def _keeper(measured: list[Lane], out: Path | None) -> nonblocking.Keep:
    def keep(fresh: list[Lane]) -> None:
        measured.extend(fresh)
        if out:
            nonblocking.append(out, fresh)

    return keep


def show(measured: Sequence[Lane]) -> None:
    found = nonblocking_cells.cells(measured)
    nonblocking_tables.show(console, found)
    if not all(cell.valid() for cell in found):
        raise CommandError("wrong results, see the table", 1)


def measure(
    chosen: Sequence[mpis.Mpi], requests: Sequence[Request], untouched: bool, out: Path | None
) -> None:
    """What was measured before a failure or a signal is kept: every run hands its records over as it ends."""
    measured: list[Lane] = []
    keep = _keeper(measured, out)
    runs = [nonblocking.run_untouched, *([] if untouched else [nonblocking.run_side_by_side])]
    failed = 0
    for request in requests:
        for mpi in chosen:
            cells = request.cells
            console.print(
                f"[dim]{mpi.name} {mpi.version()}, {cells.ranks} ranks, {cells.cells()} cells ...[/]"
            )
            for run in runs:
                try:
                    run(mpi, request, keep)
                except CommandError as problem:
                    console.print(f"[red]{problem}[/]")
                    failed += 1
    show(measured)
    if failed:
        raise CommandError(f"{failed} of {len(chosen) * len(requests) * len(runs)} runs failed", 1)
