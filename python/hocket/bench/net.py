"""Reduction in the network, in the lab: one MPI job among nodes whose switches aggregate, and what it said.

A job has a lab of its own. It measures one of Hocket's recipes in turns with one algorithm of the MPI, or an
algorithm of the MPI alone, without Hocket. Hocket's report has to say that the recipe ran, in the network and
to the end: else the job has failed, since it would have measured something else.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hocket import launch, reports
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.net_experiments import Situation, is_aggregated
from hocket.bench.program import bench_program
from hocket.bench.records import COLLECTIVES, Origin
from hocket.bench.topology import hocket_side, native_side
from hocket.bench.topology_algorithms import forced
from hocket.errors import CommandError
from hocket.lab import jobs, lab, statistics
from hocket.lab import machine as lab_machine
from hocket.mpis import Mpi

STREAMING = "SHARP_COLL_ENABLE_SAT"
VALIDATE_ONLY = "--validate-only"  # as many calls in each job, and no times
_start_seconds = 60.0
_bound_per_size = 20.0
_bound_per_mib = 15.0  # at 100 Mbit; more than twenty calls of what is slowest there
_slow_rate = 10**8


@dataclass(frozen=True)
class Placed(Origin):
    """What all records of this family begin with."""

    experiment: str
    collective: str
    bytes: int
    leaves: int
    nodes: int  # all of them
    ppn: int
    ranks: int
    rate: int  # of every link, bits per second
    latency_us: int
    side: str  # native: the MPI's choice; native:NAME: forced; hocket:RECIPE: forced
    streaming: bool  # of what aggregates

    def situation(self) -> Situation:
        return Situation(self.leaves, self.nodes, self.ppn, self.rate, self.latency_us)


@dataclass(frozen=True)
class Run(Placed):
    """One side of one job. Times are microseconds per call, of the slowest rank."""

    run: int
    median_us: float
    p10_us: float
    p90_us: float
    batches: int
    valid: bool
    link: str = ""  # machine.link()
    schema: str = "hocket-net-1"


def refusal(record: Placed) -> str:
    known = record.side.partition(":")[0] in ("native", "hocket") and record.collective in COLLECTIVES
    return "" if known else f"no such run: {record.collective}, {record.side}"


RUNS = Kind(Run, refusal)


@dataclass(frozen=True)
class Job:
    experiment: str
    situation: Situation
    collective: str
    sizes: tuple[int, ...]
    native: str = ""  # "": the MPI's choice
    recipe: str = ""  # "": without Hocket
    streaming: bool = True
    run: int = 0

    @property
    def aggregates(self) -> bool:
        return is_aggregated(self.recipe)

    def sides(self) -> list[str]:
        return [native_side(self.native), *([hocket_side(self.recipe)] if self.recipe else [])]

    def streams(self, side: str) -> bool:
        return self.streaming and self.aggregates and side.startswith("hocket")

    def with_sizes(self, *sizes: int) -> Job:
        return replace(self, sizes=sizes)

    def anytime(self) -> Job:
        """The same in whatever run and of whatever sizes."""
        return replace(self, sizes=(), run=0)

    def __str__(self) -> str:
        words = [self.collective, str(self.situation), *self.sides()]
        words += ["not streaming"] if self.aggregates and not self.streaming else []
        return ", ".join([*words, f"{','.join(map(str, self.sizes))} bytes"])


@dataclass(frozen=True)
class Finished:
    output: str
    links: Sequence[statistics.Link] = ()
    problem: CommandError | None = None


def request(job: Job, seconds: float) -> runner.Request:
    return runner.Request(
        [job.collective], [max(size, 8) for size in job.sizes], job.situation.ranks, seconds
    )


def _program(mpi: Mpi, job: Job, seconds: float, more: Sequence[str]) -> list[str]:
    program = [str(bench_program(mpi.family)), *request(job, seconds).arguments(), *more]
    return launch.with_hocket(program) if job.recipe else [*program, "--untouched"]


def variables(mpi: Mpi, job: Job) -> dict[str, str]:
    ours = {"HOCKET_FORCE": f"{job.collective}:{job.recipe}"} if job.recipe else {}
    mode = {STREAMING: "1" if job.streaming else "0"} if job.aggregates else {}
    referee = {"BENCH_REFEREE": str(lab_machine.FOLDER / "referee")}
    return {**forced(mpi.family, job.collective, job.native), **ours, **mode, **referee}


def bound(job: Job, seconds: float) -> float:
    """Far more than the job takes: what runs longer hangs."""
    mib = sum(job.sizes) / (1 << 20) * max(1.0, _slow_rate / job.situation.rate)
    return _start_seconds + len(job.sizes) * (_bound_per_size + 4 * seconds) + mib * _bound_per_mib


def launch_in_lab(mpi: Mpi, job: Job, seconds: float, *more: str, **further: str) -> Finished:
    """What it printed until it failed, if it did. Wrong results are no failure of it: the records tell."""
    situation = job.situation
    wanted = jobs.Wanted(situation.ranks, situation.ppn)
    program = _program(mpi, job, seconds, more)
    settings = {**variables(mpi, job), **further}
    with lab.temporary(lambda: lab.start("bench", situation.shape())) as where:
        done = jobs.run_captured(where, mpi, wanted, program, bound(job, seconds), **settings)
        if done.timed_out or (done.status != 0 and "wrong results" not in done.errors):
            return Finished(done.output, problem=runner.failure(mpi, done))
        return Finished(done.output, statistics.read(where) if VALIDATE_ONLY in more else ())


def check_that_it_ran(job: Job, seconds: float, report: reports.Report) -> None:
    """The recipe, and in the network: its messages would be another measurement."""
    what = f"'{job.collective}:{job.recipe}' is not what was measured"
    for (_, size), ran in runner.algorithms_of(report, request(job, seconds)).items():
        if ran.split()[:1] != job.recipe.split()[:1]:
            why = next((row.why for row in report.rows if row.algorithm == ran), "no call of it")
            raise CommandError(f"{what}: of {size} bytes {ran or 'nothing'} ran ({why})", 1)
    if not job.aggregates:
        return
    told = report.aggregated
    if not told or not told.calls:
        raise CommandError(f"{what}: no call went through the network", 1)
    if told.repaired:
        raise CommandError(f"{what}: messages finished {told.repaired} of {told.calls} calls", 1)


def reported(mpi: Mpi, job: Job, seconds: float, *more: str) -> Finished:
    """With the report, if Hocket is in it: what that costs, two readings of a clock, is nothing here."""
    if not job.recipe:
        return launch_in_lab(mpi, job, seconds, *more)
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        file = Path(folder) / "report.jsonl"
        done = launch_in_lab(mpi, job, seconds, *more, HOCKET_REPORT=str(file))
        if done.problem:
            return done
        try:
            check_that_it_ran(job, seconds, reports.read(file) if file.exists() else reports.Report())
        except CommandError as problem:
            return replace(done, problem=problem)
    return done


def where_and_what(mpi: Mpi, load: float, job: Job, side: str) -> dict[str, Any]:
    """The fields of `Placed`, but for the bytes."""
    found = {**runner.where_and_when(mpi, load), **vars(job.situation)}
    found |= {"experiment": job.experiment, "collective": job.collective, "ranks": job.situation.ranks}
    return {**found, "side": side, "streaming": job.streams(side)}


_told = ("bytes", "median_us", "p10_us", "p90_us", "batches", "valid")


def _lines(text: str) -> list[dict[str, Any]]:
    """A job that was ended may leave anything."""
    try:
        return runner.lines_of(text)
    except json.JSONDecodeError:
        return []


Keep = Callable[[Sequence[Any]], None]


def measure(mpi: Mpi, job: Job, seconds: float, keep: Keep) -> None:
    """Of a job that failed what the MPI took is kept, and of Hocket nothing: who knows what ran."""
    load = machine.load()
    done = reported(mpi, job, seconds)
    sides = {"native": native_side(job.native), "untouched": native_side(job.native)}
    sides |= {} if done.problem else {"hocket": hocket_side(job.recipe)}
    found = [
        Run(
            **where_and_what(mpi, load, job, sides[line["side"]]),
            **{key: line[key] for key in _told},
            run=job.run,
        )
        for line in _lines(done.output)
        if line["side"] in sides
    ]
    keep(found)
    if done.problem:
        raise done.problem
    if not found:
        raise CommandError(f"the benchmark under '{mpi.name}' printed nothing", 1)
