"""hocket bench by itself: every blocking collective, Hocket and the MPI below side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from hocket import mpis
from hocket.bench import comparison, records, runner, show
from hocket.bench.jsonl import schema_of
from hocket.bench.records import Record
from hocket.console import console
from hocket.errors import CommandError


def _runs(with_hocket: bool) -> list[Callable[[mpis.Mpi, runner.Request, runner.Keep], None]]:
    return [runner.run_untouched, runner.run_side_by_side] if with_hocket else [runner.run_untouched]


def _measure(mpi: mpis.Mpi, request: runner.Request, with_hocket: bool, keep: runner.Keep) -> None:
    """What was measured before a failure or a signal is kept: every run hands its records over as it ends."""
    console.print(f"[dim]{mpi.name} {mpi.version()}, {request.ranks} ranks, {request.cells()} cells ...[/]")
    for run in _runs(with_hocket):
        try:
            run(mpi, request, keep)
        except CommandError as problem:
            console.print(f"[red]{problem}[/]")


def _keeper(measured: list[Record], out: Path | None) -> runner.Keep:
    def keep(fresh: list[Record]) -> None:
        measured.extend(fresh)
        if out:
            records.CELLS.append(out, fresh)

    return keep


def _show(measured: Sequence[Record], plot: Path | None) -> bool:
    found = comparison.cells(measured)
    for (mpi, ranks), some in comparison.groups(found).items():
        show.show(console, some, f"{mpi}, {ranks} ranks")
    if plot and found:
        from hocket.bench.plot import plot as draw

        draw(found, plot)
        console.print(f"wrote {plot}")
    return all(cell.valid() for cell in found)


def show_file(path: Path, plot: Path | None) -> bool:
    """False: the file holds other records."""
    if schema_of(path) not in ("", records.CELLS.schema):
        return False
    _show(records.CELLS.read(path), plot)
    return True


def run(
    chosen: Sequence[mpis.Mpi],
    requests: Sequence[runner.Request],
    untouched: bool,
    out: Path | None,
    plot: Path | None,
) -> None:
    measured: list[Record] = []
    keep = _keeper(measured, out)
    expected = 0
    for request, mpi in product(requests, chosen):
        _measure(mpi, request, not untouched, keep)
        expected += request.cells() * (1 if untouched else 3)
    if not _show(measured, plot):
        raise CommandError("wrong results, see the table", 1)
    if len(measured) < expected:
        raise CommandError(f"{expected - len(measured)} of {expected} measurements failed", 1)
