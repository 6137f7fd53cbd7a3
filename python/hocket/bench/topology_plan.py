"""Which jobs an experiment needs, in which order; and which of them are still to be run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hocket.bench.topology import Job, Run
from hocket.bench.topology_algorithms import ALGORITHMS
from hocket.bench.topology_experiments import ASKED_RUNS, BY_RULES, Case, Experiment, Situation
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


def _sides(natives: Sequence[str], recipes: Sequence[str], run: int) -> list[tuple[str, str]]:
    """Beside the rules the MPI chooses, too: what they leave to it must not run as it is forced to."""
    return [*pairs(natives, recipes, run), ("", BY_RULES)]


def plan(experiment: Experiment, mpi: Mpi, runs: int) -> Iterator[Job]:
    """Runs outermost: what gets slower with time does so for all sides, and what is cut off is a run. Cases
    that take long come last, for the same reason."""
    for is_long in (False, True):
        cases = [case for case in experiment.cases if (case.asked_runs < ASKED_RUNS) == is_long]
        for run in range(runs):
            for situation in experiment.situations:
                for case in cases:
                    if run < case.most_runs:
                        for native, recipe in _sides(natives(mpi, case), case.recipes, run):
                            yield Job(experiment, situation, case, native, recipe, run)


_Counted = tuple[str, str, Situation, str, int, str]


def _keys(mpi: str, job: Job, size: int) -> list[_Counted]:
    place = (mpi, job.experiment.name, job.situation, job.case.collective, size)
    return [(*place, side) for side in job.sides()]


def lacking(jobs: Iterable[tuple[Mpi, Job]], known: Iterable[Run], runs: int) -> Iterator[tuple[Mpi, Job]]:
    """Those that bring a side of which there are fewer than `runs`, with these sizes alone."""
    have = Counter(
        (run.mpi, run.experiment, run.situation(), run.collective, run.bytes, run.side) for run in known
    )
    for mpi, job in jobs:
        asked = 1 if job.experiment.counts_bytes else min(runs, job.case.most_runs)
        keys = {size: _keys(mpi.name, job, size) for size in job.case.sizes}
        sizes = [size for size, some in keys.items() if any(have[key] < asked for key in some)]
        have.update(key for size in sizes for key in keys[size])
        if sizes:
            yield mpi, replace(job, case=replace(job.case, sizes=tuple(sizes)))
