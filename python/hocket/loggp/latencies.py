"""Latencies between all nodes of a job, as the matrix of which `hocket topo` makes a tree."""

from __future__ import annotations

from pathlib import Path

from hocket import launch, processes
from hocket.bench.program import latencies_program
from hocket.errors import CommandError
from hocket.lab import state
from hocket.loggp import lab_levels
from hocket.mpis import Mpi

_bound_seconds = 600.0


def _checked(done: processes.Finished, mpi: Mpi) -> str:
    lines = done.output.splitlines()
    if done.status != 0 or not lines:
        last = (done.errors + done.output).strip().splitlines()[-1:]
        raise CommandError(f"latencies under '{mpi.name}' could not be measured: {' '.join(last)}", 1)
    if len(lines) < 3:
        raise CommandError("all ranks are on one node: between nodes there is nothing to measure", 1)
    return "\n".join(lines) + "\n"


def measure(mpi: Mpi, ranks: int, lab: str) -> str:
    """The text of the matrix: of so many ranks under the MPI alone, or of all nodes of a lab."""
    program = str(latencies_program(mpi.family))
    if lab:
        return _checked(lab_levels.job(state.get(lab), mpi, (), program), mpi)
    command = mpi.command(ranks, [program])
    return _checked(processes.run_captured(command, launch.environment(mpi), _bound_seconds), mpi)


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as problem:
        raise CommandError(f"cannot write '{path}': {problem.strerror}", 1) from problem
