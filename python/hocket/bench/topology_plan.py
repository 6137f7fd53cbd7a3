"""Which jobs an experiment needs, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hocket.bench.topology import Job
from hocket.bench.topology_algorithms import ALGORITHMS
from hocket.bench.topology_experiments import Case, Experiment
from hocket.mpis import Mpi


def natives(mpi: Mpi, case: Case) -> list[str]:
    """The MPI's choice, and those of the case's algorithms that it has."""
    return ["", *(name for name in case.natives if name in ALGORITHMS[mpi.family][case.collective])]


def pairs(natives: Sequence[str], recipes: Sequence[str], run: int) -> list[tuple[str, str]]:
    """All of both lists, the shorter one again and again."""
    return [
        (natives[i % len(natives)], recipes[(i + run) % len(recipes)])
        for i in range(max(len(natives), len(recipes)))
    ]


def plan(experiment: Experiment, mpi: Mpi, runs: int) -> Iterator[Job]:
    """Runs outermost: what gets slower with time does so for all sides, and what is cut off is a run."""
    for run in range(runs):
        for situation in experiment.situations:
            for case in experiment.cases:
                if run >= case.most_runs:
                    continue
                for native, recipe in pairs(natives(mpi, case), case.recipes, run):
                    yield Job(experiment, situation, case, native, recipe, run)
