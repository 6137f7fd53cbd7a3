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
    "allreduce_8_bytes": "allreduce of 8 bytes",
    "ialltoall_4_KiB": "Ialltoall of 4 KiB a block, and MPI_Wait",
    "ialltoall_64_KiB": "Ialltoall of 64 KiB a block, and MPI_Wait",
    "ialltoall_512_KiB": "Ialltoall of 512 KiB a block, and MPI_Wait",
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


def _meaning(other: Cost) -> str:
    floor = f", and the {other.side}" if other.side != "without" else ""
    return _meanings[other.what] + floor


def rows(costs: Sequence[Cost]) -> list[list[str]]:
    """What, MPI, ranks, unit, without (or a floor, which has a row of its own), with, and the difference."""
    mine = {(cost.what, cost.mpi, cost.ranks): cost for cost in costs if cost.side == "with"}
    others = {(cost.what, cost.mpi, cost.ranks, cost.side): cost for cost in costs if cost.side != "with"}
    order = list(_meanings)
    pairs = [(other, mine.get(key[:3])) for key, other in others.items()]
    return [
        [
            *(_meaning(other), other.mpi, str(other.ranks), other.unit, _number(other), _number(own)),
            f"{own.median - other.median:+.2f}",
        ]
        for other, own in sorted(pairs, key=lambda pair: order.index(pair[0].what))
        if own
    ]
