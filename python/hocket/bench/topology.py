"""Collectives that follow the machine, on the switched cluster of the lab: one MPI job, and what it said.

A job has a lab of its own, so that nothing of the last one is on its links, and measures one of Hocket's
recipes in turns with the MPI's own choice or one of its algorithms. Which of them meet changes from run to
run, so that each side is measured with all others around it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import launch, reports
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.program import bench_program
from hocket.bench.records import COLLECTIVES
from hocket.bench.topology_algorithms import forced
from hocket.bench.topology_experiments import Case, Experiment, Situation
from hocket.errors import CommandError
from hocket.lab import jobs, lab, statistics, traffic
from hocket.lab import machine as lab_machine
from hocket.lab.lab import Lab
from hocket.mpis import Mpi

_start_seconds = 180.0
_bound_per_size = 180.0
_traffic_bytes = 64 << 10
NOT_COUNTED = -1.0


@dataclass(frozen=True)
class Run:
    """One side of one job. Times are microseconds per call, of the slowest rank."""

    date: str
    cpu: str
    cores: int
    load: float
    mpi: str
    mpi_version: str
    experiment: str
    collective: str
    bytes: int
    leaves: int
    nodes: int  # with ranks, under each leaf
    ppn: int
    ranks: int
    rate: int  # of a node's link, bits per second
    uplink: int
    latency_us: int
    placement: str
    traffic: int  # further nodes under each leaf, which send to each other meanwhile
    side: str  # native: the MPI's choice; native:NAME: an algorithm of it; hocket:RECIPE
    run: int
    median_us: float  # 0: not timed
    p10_us: float
    p90_us: float
    batches: int
    valid: bool
    uplink_bytes: float = NOT_COUNTED  # of one call, on the busiest uplink, without headers
    link: str = ""  # machine.link()
    schema: str = "hocket-topology-1"

    def situation(self) -> Situation:
        return Situation(
            *(self.leaves, self.nodes, self.ppn, self.rate, self.uplink, self.latency_us),
            *(self.placement, self.traffic),
        )


def _refusal(run: Run) -> str:
    known = run.side.partition(":")[0] in ("native", "hocket") and run.collective in COLLECTIVES
    known = known and run.placement in jobs.PLACEMENTS
    return "" if known else f"no such run: {run.collective}, {run.placement}, {run.side}"


RUNS = Kind(Run, _refusal)


def native_side(name: str) -> str:
    return f"native:{name}" if name else "native"


@dataclass(frozen=True)
class Job:
    experiment: Experiment
    situation: Situation
    case: Case
    native: str  # "": the MPI's choice
    recipe: str  # "": without Hocket
    run: int = 0

    def __str__(self) -> str:
        words = [self.case.collective, self.situation.placement, f"{self.situation.ranks} ranks"]
        words += ["traffic"] if self.situation.traffic else []
        words += [native_side(self.native), *([f"hocket:{self.recipe}"] if self.recipe else [])]
        return ", ".join(words)


def _disturbed(where: Lab, situation: Situation) -> contextlib.AbstractContextManager[object]:
    nodes = situation.with_traffic()
    return traffic.running(where, nodes, _traffic_bytes) if nodes else contextlib.nullcontext()


def _program(mpi: Mpi, job: Job, seconds: float, sizes: Sequence[int], more: Sequence[str]) -> list[str]:
    request = runner.Request(
        [job.case.collective], [max(size, 8) for size in sizes], job.situation.ranks, seconds
    )
    program = [str(bench_program(mpi.family)), *request.arguments(), *more]
    return launch.with_hocket(program) if job.recipe else [*program, "--untouched"]


def _variables(mpi: Mpi, job: Job) -> dict[str, str]:
    ours = {"HOCKET_FORCE": f"{job.case.collective}:{job.recipe}"} if job.recipe else {}
    return {**forced(mpi.family, job.case.collective, job.native), **ours}


@dataclass(frozen=True)
class Finished:
    output: str
    links: list[statistics.Link]


def launch_in_lab(
    mpi: Mpi, job: Job, seconds: float, sizes: Sequence[int], *more: str, **variables: str
) -> Finished:
    """Wrong results are no failure of it: the records tell."""
    situation = job.situation
    wanted = jobs.Wanted(situation.ranks, situation.ppn, situation.with_ranks(), situation.placement)
    program = _program(mpi, job, seconds, sizes, more)
    bound = _start_seconds + len(sizes) * (_bound_per_size + 4 * seconds)
    variables.setdefault("BENCH_REFEREE", str(lab_machine.FOLDER / "referee"))
    with lab.temporary(lambda: lab.start("bench", situation.shape())) as where, _disturbed(where, situation):
        done = jobs.run_captured(where, mpi, wanted, program, bound, **_variables(mpi, job), **variables)
        if done.status != 0 and "wrong results" not in done.errors:
            raise runner.failure(mpi, done)
        return Finished(done.output, statistics.read(where))


def record(mpi: Mpi, load: float, job: Job, side: str, **measured: Any) -> Run:
    fields: dict[str, Any] = {
        **{"median_us": 0.0, "p10_us": 0.0, "p90_us": 0.0, "batches": 0, "valid": True},
        **{**runner.where_and_when(mpi, load), **vars(job.situation), **measured},
        **{"experiment": job.experiment.name, "collective": job.case.collective, "side": side},
        **{"ranks": job.situation.ranks, "run": job.run},
    }
    return Run(**fields)


_told = ("bytes", "median_us", "p10_us", "p90_us", "batches", "valid")


def measure(mpi: Mpi, job: Job, seconds: float) -> list[Run]:
    load = machine.load()
    done = launch_in_lab(mpi, job, seconds, job.case.sizes)
    sides = {"native": native_side(job.native), "untouched": native_side(job.native)}
    sides["hocket"] = f"hocket:{job.recipe}"
    lines = runner.lines_of(done.output)
    return [
        record(mpi, load, job, sides[line["side"]], **{key: line[key] for key in _told}) for line in lines
    ]


def check_that_it_runs(mpi: Mpi, job: Job) -> None:
    """A recipe that does not fit would be the MPI beside itself. A job of its own: a report takes times."""
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        file = Path(folder) / "report.jsonl"
        launch_in_lab(mpi, job, 0, job.case.sizes[:1], "--validate-only", HOCKET_REPORT=str(file))
        rows = reports.read(file).rows if file.exists() else []
    ran = [row for row in rows if row.collective == job.case.collective and row.algorithm != "native"]
    if not ran:
        why = next((row.why for row in rows if row.collective == job.case.collective), "no call of it")
        raise CommandError(f"'{job.case.collective}:{job.recipe}' is not what runs there: {why}", 1)
