"""hocket bench --net: reduction in the network, in a lab whose switches aggregate, and what registered memory
has to do with it."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import mpis
from hocket.bench import net, net_cells, net_experiments, net_plan, net_stages, net_traffic
from hocket.bench import net_page as pages
from hocket.bench.jsonl import beside, schema_of
from hocket.bench.net_experiments import Experiment
from hocket.bench.net_page import Found
from hocket.bench.net_plan import Known, Work
from hocket.bench.net_stages import LeftOutError
from hocket.commands import bench_choices, bench_registration
from hocket.console import console, show_table
from hocket.errors import CommandError, unknown

DEFAULT_MPI = "openmpi"
SECONDS = 0.2  # per cell and side
KINDS = (net.RUNS, net_traffic.TRAFFIC, net_stages.SPANS)
_most_failures = 2  # of one job, in whatever run: after that it is left out


@dataclass(frozen=True)
class Options:
    """Those of `hocket bench` that go with --net."""

    only: str = ""  # names, with commas between them
    runs: int = 5
    seconds: float | None = None  # per cell and side; what each experiment takes by itself
    quick: bool = False
    collectives: Sequence[str] = ()  # of the experiments; empty: all
    sizes: Sequence[int] = ()
    where: str = ""  # nodes=8,rate=100mbit: situations
    lacking: Path | None = None  # folder or file of records: only what has too few runs there

    def _names(self) -> list[str]:
        known = [*(one.name for one in net_experiments.EXPERIMENTS), bench_registration.NAME]
        names = self.only.split(",") if self.only else known
        for name in names:
            if name not in known:
                raise unknown("experiment", name, known)
        return names

    def has_registration(self) -> bool:
        """Without --only not where something is asked for that it does not have."""
        is_narrowed = bool(self.collectives or self.where or self.lacking or (self.sizes and not self.only))
        return bench_registration.NAME in self._names() and not is_narrowed

    def experiments(self) -> list[Experiment]:
        """In the lab."""
        named = [net_experiments.named(name) for name in self._names() if name != bench_registration.NAME]
        where = net_experiments.where(self.where)
        found = [net_experiments.narrowed(one, self.collectives, self.sizes, where) for one in named]
        found = [one for one in found if one.cases]
        if not found and not self.has_registration():
            raise CommandError("no experiment has these collectives, sizes and situations")
        return [net_experiments.in_small(one) for one in found] if self.quick else found


def files(path: Path) -> list[Path]:
    return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def read(paths: Sequence[Path]) -> Found:
    return Found(
        net.RUNS.read_all(paths), net_traffic.TRAFFIC.read_all(paths), net_stages.SPANS.read_all(paths)
    )


def _show(found: Found) -> None:
    cells = found.cells()
    for group, some in net_cells.by_group(cells).items():
        console.print(str(group))
        show_table(pages.CELLS_HEADER, [pages.cell_row(cell) for cell in some])
        header, rows = pages.one_by_one(some)
        show_table(header, rows)
    show_table(pages.STAGES_HEADER, pages.stage_rows(cells, cells))
    show_table(pages.BYTES_HEADER, pages.bytes_rows(found.traffic))
    show_table(pages.TRACED_HEADER, pages.traced_rows(found.calls()))
    show_table(pages.VERDICTS_HEADER, pages.verdict_rows(found.verdicts()))
    wrong = [run for run in found.runs if not run.valid]
    if wrong:
        raise CommandError(f"wrong results: {wrong[0].collective}, {wrong[0].side}", 1)


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    if schema_of(path) not in [kind.schema for kind in KINDS]:
        return False
    _show(read([path]))
    return True


class _Measuring:
    """What was measured before a failure is kept, and the rest goes on."""

    def __init__(self, known: Known, out: Path | None) -> None:
        self._known = known
        self._out = out
        self._failures: Counter[tuple[str, net.Job]] = Counter()
        self.fresh: list[Any] = []

    @property
    def failed(self) -> int:
        return self._failures.total()

    def _keep(self, work: Work, records: Sequence[Any]) -> None:
        self._known.add(records)
        self.fresh += records
        if self._out:
            work.kind.append(beside(self._out, work.ending), records)

    def do(self, mpi: mpis.Mpi, work: Work) -> None:
        key = (mpi.name, work.job.anytime())
        if self._failures[key] >= _most_failures:
            console.print("[yellow]left out: it failed before[/]")
            return
        try:
            work.run(lambda records: self._keep(work, records))
        except LeftOutError as problem:
            console.print(f"[yellow]left out: {problem}[/]")
        except (CommandError, subprocess.TimeoutExpired) as problem:
            console.print(f"[red]{problem}[/]")
            self._failures[key] += 1


def _known(options: Options) -> Known:
    return Known(read(files(options.lacking)).all() if options.lacking else ())


def _registration(options: Options, out: Path | None) -> bool:
    """Whether it could be measured."""
    runs, seconds = (1, 0.002) if options.quick else (options.runs, options.seconds)
    try:
        bench_registration.run(runs, options.sizes, seconds or bench_registration.SECONDS, out)
    except CommandError as problem:
        console.print(f"[red]{problem}[/]")
        return False
    return True


def _in_labs(experiments: Sequence[Experiment], options: Options, against: str, out: Path | None) -> int:
    """How many jobs failed."""
    known = _known(options)
    measuring = _Measuring(known, out)
    runs, seconds = (1, 0.01) if options.quick else (options.runs, options.seconds or SECONDS)
    for mpi in bench_choices.chosen_mpis(against or DEFAULT_MPI):
        for work in net_plan.plan(known, experiments, mpi, runs, seconds):
            job = work.job
            console.print(f"[dim]{job.experiment}, {mpi.name}, run {job.run}: {job}[/]")
            measuring.do(mpi, work)
    _show(Found.among(measuring.fresh))
    return measuring.failed


def run(options: Options, against: str, out: Path | None) -> None:
    """`against`: MPIs; "": Open MPI."""
    experiments = options.experiments()
    failed = 0
    if options.has_registration():
        failed += not _registration(options, out)
    if experiments:
        failed += _in_labs(experiments, options, against, out)
    if failed:
        raise CommandError(f"{failed} jobs failed", 1)
