"""hocket bench --net --only registration: what a registration cache saves. It needs neither MPI nor lab."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket.bench import registration
from hocket.bench.jsonl import beside, schema_of
from hocket.bench.registration import Operation
from hocket.console import console, show_table

NAME = "registration"
ENDING = "-registration"  # of the file for its records
SECONDS = 0.1  # per lane and side


def _show(found: Sequence[Operation]) -> None:
    show_table(registration.HEADER, registration.rows(found))


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    if schema_of(path) != registration.OPERATIONS.schema:
        return False
    _show(registration.OPERATIONS.read(path))
    return True


def run(runs: int, sizes: Sequence[int], seconds: float, out: Path | None) -> None:
    """`sizes`: empty for the experiment's."""
    found: list[Operation] = []
    for number in range(runs):
        console.print(f"[dim]{NAME}, run {number} ...[/]")
        fresh = registration.run(number, sizes or registration.SIZES, seconds)
        found += fresh
        if out:
            registration.OPERATIONS.append(beside(out, ENDING), fresh)
    _show(found)
