"""Which jobs `hocket bench --net` runs, one after the other, given what has been measured so far.

In the first run each algorithm of the MPI is measured, and each recipe of a sweep; in further ones only what
was near the best there, size by size. So the best of all has as many runs as Hocket's side, and no time goes
into what cannot be it.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hocket.bench import net, net_stages, net_traffic
from hocket.bench.jsonl import Kind
from hocket.bench.net import Job, Keep, Placed, Run
from hocket.bench.net_experiments import Case, Experiment, Situation
from hocket.bench.topology import hocket_side, native_side
from hocket.bench.topology_algorithms import ALGORITHMS
from hocket.mpis import Mpi

NEAR = 1.1  # times the best


@dataclass(frozen=True)
class Work:
    """A job, and how records of one kind are made of it."""

    job: Job
    kind: Kind[Any]
    ending: str  # of the file for its records, behind the name that the user gave: a file holds one kind
    run: Callable[[Keep], None]


class Known:
    """The records so far, of all kinds."""

    def __init__(self, records: Iterable[Placed] = ()) -> None:
        self.records: list[Placed] = list(records)

    def add(self, records: Iterable[Placed]) -> None:
        self.records += records

    def runs(self) -> list[Run]:
        return [one for one in self.records if isinstance(one, Run)]

    def count(self, kind: Kind[Any], mpi: str, job: Job, side: str) -> Counter[int]:
        """Of that side, by size."""
        return Counter(
            one.bytes
            for one in self.records
            if isinstance(one, kind.type)
            and (one.mpi, one.situation(), one.collective) == (mpi, job.situation, job.collective)
            and (one.side, one.streaming) == (side, job.streams(side))
        )


def has(mpi: Mpi, collective: str, name: str) -> bool:
    """An algorithm, or its own choice."""
    return not name or name in ALGORITHMS[mpi.family][collective]


def _medians(runs: Iterable[Run], mpi: str, at: Situation, case: Case, size: int) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for run in runs:
        where = (run.mpi, run.situation(), run.collective, run.bytes)
        if run.valid and where == (mpi, at, case.collective, size):
            found.setdefault(run.side, []).append(run.median_us)
    return {side: statistics.median(times) for side, times in found.items()}


def near_best(times: dict[str, float], sides: Sequence[str]) -> set[str]:
    """Of these sides, where they were measured."""
    known = {side: times[side] for side in sides if side in times}
    return {side for side, time in known.items() if time <= NEAR * min(known.values())}


def _jobs(experiment: Experiment, at: Situation, case: Case, mpi: Mpi, run: int) -> Iterator[Job]:
    """Of one run, if nothing were known."""
    beside = case.beside if has(mpi, case.collective, case.beside) else ""
    recipes = case.recipes_in(at)
    for recipe in recipes:
        yield Job(experiment.name, at, case.collective, case.sizes, beside, recipe, case.streaming, run)
    for rival in case.rivals if recipes else ():
        if rival != beside and has(mpi, case.collective, rival):
            yield Job(experiment.name, at, case.collective, case.sizes, rival, run=run)


def _compared(case: Case, at: Situation, job: Job) -> tuple[str, list[str]]:
    """A side that has to be near the best, and those it is one of; empty: it need not be."""
    if not job.recipe:
        return native_side(job.native), [native_side(name) for name in ("", case.beside, *case.rivals)]
    if case.is_swept:
        return hocket_side(job.recipe), [hocket_side(recipe) for recipe in case.recipes_in(at)]
    return "", []


def _is_near(known: Known, mpi: Mpi, case: Case, job: Job, size: int) -> bool:
    side, others = _compared(case, job.situation, job)
    times = _medians(known.runs(), mpi.name, job.situation, case, size)
    return not side or side in near_best(times, others)


def _lacking(known: Known, kind: Kind[Any], mpi: Mpi, job: Job, sides: Sequence[str]) -> list[int]:
    """Sizes of which there are not as many records as there should be after this run."""
    counts = [known.count(kind, mpi.name, job, side) for side in sides]
    return [size for size in job.sizes if any(count[size] <= job.run for count in counts)]


def _timed(known: Known, mpi: Mpi, case: Case, job: Job, seconds: float) -> Iterator[Work]:
    ours = job.sides()[-1:]  # beside it the MPI's is measured anyway
    sizes = _lacking(known, net.RUNS, mpi, job, ours)
    if job.run:
        sizes = [size for size in sizes if _is_near(known, mpi, case, job, size)]
    if sizes:
        one = job.with_sizes(*sizes)
        yield Work(one, net.RUNS, "", lambda keep: net.measure(mpi, one, seconds, keep))


def _counted(known: Known, mpi: Mpi, job: Job) -> Iterator[Work]:
    """Each side alone."""
    alone = [Job(job.experiment, job.situation, job.collective, job.sizes, job.native, run=job.run)]
    for one in [job, *alone] if job.recipe else [job]:
        sizes = _lacking(known, net_traffic.TRAFFIC, mpi, one, one.sides()[-1:])
        if sizes:
            yield _counting(mpi, one.with_sizes(*sizes))


def _counting(mpi: Mpi, job: Job) -> Work:
    kind, ending = net_traffic.TRAFFIC, net_traffic.ENDING
    return Work(job, kind, ending, lambda keep: net_traffic.count(mpi, job, keep))


def _traced(known: Known, mpi: Mpi, job: Job) -> Iterator[Work]:
    sizes = _lacking(known, net_stages.SPANS, mpi, job, job.sides()[-1:])
    if sizes:
        one = job.with_sizes(*sizes)
        kind, ending = net_stages.SPANS, net_stages.ENDING
        yield Work(one, kind, ending, lambda keep: net_stages.trace(mpi, one, keep))


def _works(known: Known, experiment: Experiment, mpi: Mpi, run: int, seconds: float) -> Iterator[Work]:
    for at in experiment.situations:
        for case in experiment.cases:
            for job in _jobs(experiment, at, case, mpi, run):
                if experiment.traces:
                    yield from _traced(known, mpi, job)
                elif experiment.counts_bytes:
                    yield from _counted(known, mpi, job)
                else:
                    yield from _timed(known, mpi, case, job, seconds)


def plan(
    known: Known, experiments: Sequence[Experiment], mpi: Mpi, runs: int, seconds: float
) -> Iterator[Work]:
    """Runs before situations: what gets slower with time does so for all, and what is cut off is a run.
    Whoever takes a work adds its records to `known` before taking the next."""
    for experiment in experiments:
        is_once = experiment.counts_bytes or experiment.traces
        for run in range(1 if is_once else runs):
            yield from _works(known, experiment, mpi, run, seconds)
