"""hocket bench --topology: collectives that follow the machine, in the lab."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket import mpis
from hocket.bench import (
    topology,
    topology_cells,
    topology_experiments,
    topology_plan,
    topology_setup,
    topology_traffic,
    topology_uplinks,
)
from hocket.bench import topology_page as pages
from hocket.bench.jsonl import beside, schema_of
from hocket.bench.topology import Job, Run
from hocket.bench.topology_experiments import BY_RULES, Experiment, Situation
from hocket.bench.topology_setup import Setup
from hocket.console import console, show_table
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
    where: str = ""  # ppn=2,latency_us=500: situations
    lacking: Path | None = None  # folder or file of records: only what has too few runs there

    def experiments(self) -> list[Experiment]:
        named, where = topology_experiments.chosen(self.only), topology_experiments.where(self.where)
        found = [topology_experiments.narrowed(one, self.collectives, self.sizes, where) for one in named]
        if not any(one.cases or one.is_setup for one in found):
            raise CommandError("no experiment has these collectives, sizes and situations")
        return [topology_experiments.in_small(one) for one in found] if self.quick else found


def _show(runs: Sequence[Run]) -> None:
    left = topology_traffic.left(runs)
    for name in dict.fromkeys(run.experiment for run in runs):
        some = [run for run in runs if run.experiment == name]
        found = topology_traffic.bounded(topology_cells.cells(some), left)
        for group, cells in topology_cells.by_group(found).items():
            console.print(f"{group.collective}, {group.mpi}: {pages.situation_text(group.situation)}")
            show_table(pages.CELLS_HEADER, [pages.cell_row(name, cell) for cell in cells])
            show_table(pages.RULES_HEADER, pages.rules_rows(name, cells))
    show_table(pages.UPLINKS_HEADER, pages.uplink_rows(runs))
    wrong = [run for run in runs if not run.valid]
    if wrong:
        raise CommandError(f"wrong results: {wrong[0].collective}, {wrong[0].side}", 1)


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    schema = schema_of(path)
    if schema == topology_setup.SETUPS.schema:
        show_table(topology_setup.HEADER, topology_setup.rows(topology_setup.SETUPS.read(path)))
        return True
    if schema != topology.RUNS.schema:
        return False
    _show(topology.RUNS.read(path))
    return True


_Place = tuple[str, Situation, str, str]


class _Measuring:
    """What was measured before a failure is kept, and the rest goes on."""

    def __init__(self, out: Path | None) -> None:
        self._out = out
        self._fits: dict[_Place, bool] = {}
        self._taken: dict[_Place, dict[int, str]] = {}  # by the rules
        self.runs: list[Run] = []
        self.setups: list[Setup] = []
        self.failed = 0

    def _tried(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except CommandError as problem:
            console.print(f"[red]{problem}[/]")
            self.failed += 1
            return False
        return True

    def _keep(self, fresh: Sequence[Run]) -> None:
        self.runs += fresh
        if self._out:
            topology.RUNS.append(self._out, fresh)

    def _look(self, mpi: mpis.Mpi, job: Job, place: _Place) -> None:
        if job.recipe == BY_RULES:
            self._taken.setdefault(place, {}).update(topology.taken_by_rules(mpi, job))
        else:
            topology.check_that_it_runs(mpi, job)

    def _can(self, mpi: mpis.Mpi, job: Job, place: _Place) -> bool:
        """Asked once: a recipe that does not run is left out of all further jobs."""
        is_known = set(job.case.sizes) <= set(self._taken.get(place, {})) if job.recipe == BY_RULES else True
        if job.recipe and not (place in self._fits and is_known):
            self._fits[place] = self._tried(lambda: self._look(mpi, job, place))
        return not job.recipe or self._fits[place]

    def do(self, mpi: mpis.Mpi, job: Job, seconds: float) -> None:
        place = (mpi.name, job.situation, job.case.collective, job.recipe)
        if not self._can(mpi, job, place):
            return
        if job.experiment.counts_bytes:
            self._tried(lambda: self._keep(topology_uplinks.count(mpi, job)))
        else:
            taken = self._taken.get(place, {})
            self._tried(lambda: self._keep(topology.measure(mpi, job, seconds, taken)))

    def set_up(self, what: str, run: int) -> None:
        def work() -> None:
            self.setups.append(topology_setup.measure(what, run))
            if self._out:
                topology_setup.SETUPS.append(beside(self._out, topology_setup.ENDING), self.setups[-1:])

        self._tried(work)


def _runs(options: Options) -> int:
    return 1 if options.quick else options.runs


def _plan(mpi: mpis.Mpi, options: Options) -> Iterator[Job]:
    for experiment in options.experiments():
        if experiment.counts_bytes:
            yield from topology_uplinks.plan(experiment, mpi)
        else:
            yield from topology_plan.plan(experiment, mpi, _runs(options))


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def _jobs(chosen: Sequence[mpis.Mpi], options: Options) -> list[tuple[mpis.Mpi, Job]]:
    jobs = [(mpi, job) for mpi in chosen for job in _plan(mpi, options)]
    if not options.lacking:
        return jobs
    known = topology.RUNS.read_all(_files(options.lacking))
    return list(topology_plan.lacking(jobs, known, _runs(options)))


def _set_up(measuring: _Measuring, options: Options) -> None:
    if options.lacking or not any(one.is_setup for one in options.experiments()):
        return
    for run in range(_runs(options)):
        for what in topology_setup.names():
            measuring.set_up(what, run)


def run(chosen: Sequence[mpis.Mpi], options: Options, out: Path | None) -> None:
    jobs, measuring = _jobs(chosen, options), _Measuring(out)
    _set_up(measuring, options)
    for number, (mpi, job) in enumerate(jobs, 1):
        sizes = ",".join(map(str, job.case.sizes))
        console.print(f"[dim]{number} of {len(jobs)}: {mpi.name}, run {job.run}: {job}, {sizes} bytes[/]")
        measuring.do(mpi, job, 0.01 if options.quick else options.seconds)
    show_table(topology_setup.HEADER, topology_setup.rows(measuring.setups))
    _show(measuring.runs)
    if measuring.failed:
        raise CommandError(f"{measuring.failed} jobs failed", 1)
