"""hocket bench --topology: collectives that follow the machine, in the lab."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from hocket import mpis
from hocket.bench import topology, topology_cells, topology_experiments, topology_plan, topology_uplinks
from hocket.bench import topology_page as pages
from hocket.bench.jsonl import schema_of
from hocket.bench.topology import Job, Run
from hocket.bench.topology_experiments import Experiment
from hocket.console import console
from hocket.errors import CommandError

DEFAULT_MPI = "openmpi"


@dataclass(frozen=True)
class Options:
    """Those of `hocket bench` that go with --topology."""

    only: str = ""  # names, with commas between them
    runs: int = 5
    seconds: float = 1.0
    quick: bool = False
    collectives: Sequence[str] = ()  # of the experiments; empty: all
    sizes: Sequence[int] = ()

    def experiments(self) -> list[Experiment]:
        named = topology_experiments.chosen(self.only)
        found = [topology_experiments.narrowed(one, self.collectives, self.sizes) for one in named]
        if not any(one.cases for one in found):
            raise CommandError("no experiment has these collectives and sizes")
        return [topology_experiments.in_small(one) for one in found] if self.quick else found


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        found = Table(*header)
        for row in rows:
            found.add_row(*row)
        console.print(found)


def _show(runs: Sequence[Run]) -> None:
    for name in dict.fromkeys(run.experiment for run in runs):
        some = [run for run in runs if run.experiment == name]
        for group, cells in topology_cells.by_group(topology_cells.cells(some)).items():
            console.print(f"{group.collective}, {group.mpi}: {pages.situation_text(group.situation)}")
            _table(pages.CELLS_HEADER, [pages.cell_row(name, cell) for cell in cells])
    _table(pages.UPLINKS_HEADER, pages.uplink_rows(runs))
    wrong = [run for run in runs if not run.valid]
    if wrong:
        raise CommandError(f"wrong results: {wrong[0].collective}, {wrong[0].side}", 1)


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    if schema_of(path) != topology.RUNS.schema:
        return False
    _show(topology.RUNS.read(path))
    return True


class _Measuring:
    """What was measured before a failure is kept, and the rest goes on."""

    def __init__(self, out: Path | None) -> None:
        self._out = out
        self._fits: dict[tuple[str, object, str, str], bool] = {}
        self.runs: list[Run] = []
        self.failed = 0

    def _tried(self, work: Callable[[], Sequence[Run]]) -> bool:
        try:
            fresh = work()
        except CommandError as problem:
            console.print(f"[red]{problem}[/]")
            self.failed += 1
            return False
        self.runs += fresh
        if self._out:
            topology.RUNS.append(self._out, fresh)
        return True

    def _check(self, mpi: mpis.Mpi, job: Job) -> Sequence[Run]:
        topology.check_that_it_runs(mpi, job)
        return ()

    def _can(self, mpi: mpis.Mpi, job: Job) -> bool:
        """Asked once: a recipe that does not run is left out of all further jobs."""
        key = (mpi.name, job.situation, job.case.collective, job.recipe)
        if job.recipe and key not in self._fits:
            self._fits[key] = self._tried(lambda: self._check(mpi, job))
        return not job.recipe or self._fits[key]

    def do(self, mpi: mpis.Mpi, job: Job, seconds: float) -> None:
        if not self._can(mpi, job):
            return
        if job.experiment.counts_bytes:
            self._tried(lambda: topology_uplinks.count(mpi, job))
        else:
            self._tried(lambda: topology.measure(mpi, job, seconds))


def _plan(mpi: mpis.Mpi, options: Options) -> Iterator[Job]:
    runs = 1 if options.quick else options.runs
    for experiment in options.experiments():
        if experiment.counts_bytes:
            yield from topology_uplinks.plan(experiment, mpi)
        else:
            yield from topology_plan.plan(experiment, mpi, runs)


def run(chosen: Sequence[mpis.Mpi], options: Options, out: Path | None) -> None:
    jobs = [(mpi, job) for mpi in chosen for job in _plan(mpi, options)]
    measuring = _Measuring(out)
    for number, (mpi, job) in enumerate(jobs, 1):
        sizes = ",".join(map(str, job.case.sizes))
        console.print(f"[dim]{number} of {len(jobs)}: {mpi.name}, run {job.run}: {job}, {sizes} bytes[/]")
        measuring.do(mpi, job, 0.01 if options.quick else options.seconds)
    _show(measuring.runs)
    if measuring.failed:
        raise CommandError(f"{measuring.failed} jobs failed", 1)
