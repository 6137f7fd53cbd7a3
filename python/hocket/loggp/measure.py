"""Measures the MPI below: runs the program of round trips under it and fits LogGP parameters per level."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hocket import launch, processes
from hocket.bench import machine
from hocket.bench.program import loggp_program
from hocket.errors import CommandError
from hocket.loggp import fit
from hocket.loggp.fit import RoundTrips
from hocket.loggp.parameters import Level, Parameters
from hocket.mpis import Mpi

_bound_seconds = 300.0
most_bytes = 1 << 20


@dataclass(frozen=True)
class Measured:
    parameters: Parameters
    errors: dict[str, float]  # level -> usual relative deviation of the model


def _levels(about: dict[str, Any], points: dict[str, list[RoundTrips]]) -> tuple[Level, ...]:
    """The farthest that was measured stands for all ranks. A node holds whole groups: where the groups of a
    node differ in size, smaller ones are told."""
    ranks = {"cache": math.gcd(about["cache_ranks"], about["node_ranks"]), "node": about["node_ranks"]}
    last = list(points)[-1]
    return tuple(
        Level(
            name,
            0 if name == last else ranks[name],
            name != "network",
            fit.protocols(some),
            round(fit.both_ways(some), 3),
        )
        for name, some in points.items()
    )


def of_lines(mpi: str, version: str, lines: Iterable[str]) -> Measured:
    """What the program printed, fitted."""
    read = [json.loads(line) for line in lines if line.startswith("{")]
    points: dict[str, list[RoundTrips]] = {}
    for line in read[1:]:
        points.setdefault(line.pop("level"), []).append(RoundTrips(**line))
    if not points:
        raise CommandError("nothing was measured: that takes two ranks", 1)
    about, levels = read[0], _levels(read[0], points)
    parameters = Parameters(
        levels=levels,
        copy=about["copy"],
        reduce=about["reduce"],
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        cpu=machine.cpu_model(),
        cores=machine.cores(),
        mpi=mpi,
        mpi_version=version,
        pretended_node_size=about["pretended_node_size"],
        link=machine.link(),
    )
    return Measured(
        parameters, {level.name: fit.error(points[level.name], level.protocols) for level in levels}
    )


def run(mpi: Mpi, ranks: int, most_bytes: int = most_bytes) -> Measured:
    """The MPI alone, without Hocket."""
    command = mpi.command(ranks, [str(loggp_program(mpi.family)), str(most_bytes)])
    done = processes.run_captured(command, launch.environment(mpi), _bound_seconds)
    if done.status != 0:
        last = (done.errors + done.output).strip().splitlines()[-1:]
        raise CommandError(f"LogGP under '{mpi.name}' could not be measured: {' '.join(last)}", 1)
    return of_lines(mpi.name, mpi.version(), done.output.splitlines())
