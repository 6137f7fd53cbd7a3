"""What is paid around the collectives: calls left to the MPI, communicators, the hand-over alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hocket import launch, processes
from hocket.bench import machine
from hocket.bench.jsonl import Kind
from hocket.bench.program import costs_program
from hocket.errors import CommandError
from hocket.mpis import Mpi

_bound_seconds = 120.0

_meanings = {
    "passed_through": "a collective that Hocket leaves to the MPI",
    "communicator_unused": "a communicator made and freed",
    "communicator_used_once": "a communicator made, used once and freed",
    "allreduce_8_bytes": "allreduce of 8 bytes, and the hand-over between ranks alone",
    "mpi4py_suite": "mpi4py's test suite, the whole run",
}


@dataclass(frozen=True)
class Cost:
    """One side of a cost, per call, of the slowest rank."""

    date: str
    cpu: str
    cores: int
    mpi: str
    mpi_version: str
    ranks: int
    what: str
    side: str
    unit: str  # ns, us or s
    median: float
    p10: float
    p90: float
    schema: str = "hocket-costs-1"


def _refusal(cost: Cost) -> str:
    return "" if cost.what in _meanings else f"no such cost: {cost.what!r}"


COSTS = Kind(Cost, _refusal)


def of_lines(mpi: str, version: str, lines: Iterable[str]) -> list[Cost]:
    """What a program printed, with where and when."""
    common: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": machine.cpu_model(),
        "cores": machine.cores(),
        "mpi": mpi,
        "mpi_version": version,
    }
    return [Cost(**common, **json.loads(line)) for line in lines if line.startswith("{")]


def run(mpi: Mpi, ranks: int) -> list[Cost]:
    command = mpi.command(ranks, launch.with_hocket([str(costs_program(mpi.family))]))
    done = processes.run_captured(command, launch.environment(mpi), _bound_seconds)
    if done.status != 0:
        last = (done.errors + done.output).strip().splitlines()[-1:]
        raise CommandError(f"the costs under '{mpi.name}' could not be measured: {' '.join(last)}", 1)
    return of_lines(mpi.name, mpi.version(), done.output.splitlines())


def _number(cost: Cost) -> str:
    digits = 2 if cost.median < 100 else 0
    return f"{cost.median:.{digits}f} ({cost.p10:.{digits}f}-{cost.p90:.{digits}f})"


def rows(costs: Sequence[Cost]) -> list[list[str]]:
    """One row per cost: what, MPI, ranks, unit, without (or the floor), with, and the difference."""
    pairs: dict[tuple[str, str, int], dict[str, Cost]] = {}
    for cost in costs:
        side = "with" if cost.side == "with" else "without"
        pairs.setdefault((cost.what, cost.mpi, cost.ranks), {})[side] = cost
    order = list(_meanings)
    return [
        [
            *(_meanings[what], mpi, str(ranks), pair["with"].unit),
            *(_number(pair["without"]), _number(pair["with"])),
            f"{pair['with'].median - pair['without'].median:+.2f}",
        ]
        for (what, mpi, ranks), pair in sorted(pairs.items(), key=lambda item: order.index(item[0][0]))
        if len(pair) == 2
    ]
