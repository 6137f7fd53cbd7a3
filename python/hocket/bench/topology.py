"""Collectives that follow the machine, on the switched cluster of the lab: one MPI job, and what it said.

A job has a lab of its own, so that nothing of the last one is on its links, and measures one of Hocket's
recipes, or what its rules take by themselves, in turns with the MPI's own choice or one of its algorithms.
Which of them meet changes from run to run, so that each side is measured with all others around it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hocket import launch, reports
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.program import bench_program
from hocket.bench.records import COLLECTIVES, Origin
from hocket.bench.topology_algorithms import forced
from hocket.bench.topology_experiments import BY_RULES, Case, Experiment, Situation
from hocket.errors import CommandError
from hocket.lab import jobs, lab, statistics, traffic
from hocket.lab import machine as lab_machine
from hocket.lab.lab import Lab
from hocket.mpis import Mpi

_start_seconds = 180.0
_bound_per_size = 180.0
_bound_per_mib = 20.0
_traffic_bytes = 64 << 10
NOT_COUNTED = -1.0


@dataclass(frozen=True)
class Run(Origin):
    """One side of one job. Times are microseconds per call, of the slowest rank."""

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
    side: str  # native: the MPI's choice; native:NAME: forced; hocket:RECIPE: forced; hocket: by its rules
    run: int
    median_us: float  # 0: not timed
    p10_us: float
    p90_us: float
    batches: int
    valid: bool
    uplink_bytes: float = NOT_COUNTED  # of one call, on the busiest uplink, without headers
    link: str = ""  # machine.link()
    algorithm: str = ""  # of the side hocket: what the rules took; native: left to the MPI
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


def hocket_side(recipe: str) -> str:
    return "hocket" if recipe == BY_RULES else f"hocket:{recipe}"


@dataclass(frozen=True)
class Job:
    experiment: Experiment
    situation: Situation
    case: Case
    native: str  # "": the MPI's choice
    recipe: str  # "": without Hocket; BY_RULES
    run: int = 0

    def sides(self) -> list[str]:
        """That it makes records of: the links cannot tell two of them apart."""
        ours = [hocket_side(self.recipe)] if self.recipe else []
        return ours if ours and self.experiment.counts_bytes else [native_side(self.native), *ours]

    def __str__(self) -> str:
        words = [self.case.collective, self.situation.placement, f"{self.situation.ranks} ranks"]
        words += ["traffic"] if self.situation.traffic else []
        words += [native_side(self.native), *([hocket_side(self.recipe)] if self.recipe else [])]
        return ", ".join(words)


def _disturbed(where: Lab, situation: Situation) -> contextlib.AbstractContextManager[object]:
    nodes = situation.with_traffic()
    return traffic.running(where, nodes, _traffic_bytes) if nodes else contextlib.nullcontext()


def _request(job: Job, seconds: float, sizes: Sequence[int]) -> runner.Request:
    return runner.Request(
        [job.case.collective], [max(size, 8) for size in sizes], job.situation.ranks, seconds
    )


def _program(mpi: Mpi, job: Job, seconds: float, sizes: Sequence[int], more: Sequence[str]) -> list[str]:
    program = [str(bench_program(mpi.family)), *_request(job, seconds, sizes).arguments(), *more]
    return launch.with_hocket(program) if job.recipe else [*program, "--untouched"]


def _variables(mpi: Mpi, job: Job) -> dict[str, str]:
    is_forced = job.recipe not in ("", BY_RULES)
    ours = {"HOCKET_FORCE": f"{job.case.collective}:{job.recipe}"} if is_forced else {}
    return {**forced(mpi.family, job.case.collective, job.native), **ours}


def _bound(sizes: Sequence[int], seconds: float) -> float:
    """Far more than any job takes: what runs longer hangs. Of 16 MiB one call may take 20 s."""
    mib = sum(sizes) / (1 << 20)
    return _start_seconds + len(sizes) * (_bound_per_size + 4 * seconds) + mib * _bound_per_mib


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
    bound = _bound(sizes, seconds)
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


def measure(mpi: Mpi, job: Job, seconds: float, taken: Mapping[int, str] = MappingProxyType({})) -> list[Run]:
    """`taken`: what the rules take, by size."""
    load = machine.load()
    done = launch_in_lab(mpi, job, seconds, job.case.sizes)
    native, ours = native_side(job.native), hocket_side(job.recipe)
    sides = {"native": native, "untouched": native, "hocket": ours}
    return [
        record(
            *(mpi, load, job, sides[line["side"]]),
            **{key: line[key] for key in _told},
            algorithm=taken.get(line["bytes"], "") if line["side"] == "hocket" else "",
        )
        for line in runner.lines_of(done.output)
    ]


def _report(mpi: Mpi, job: Job, sizes: Sequence[int]) -> reports.Report:
    """Of a job of its own: a report takes times."""
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        file = Path(folder) / "report.jsonl"
        launch_in_lab(mpi, job, 0, sizes, "--validate-only", HOCKET_REPORT=str(file))
        return reports.read(file) if file.exists() else reports.Report()


def check_that_it_runs(mpi: Mpi, job: Job) -> None:
    """A recipe that does not fit would be the MPI beside itself."""
    rows = [
        row for row in _report(mpi, job, job.case.sizes[:1]).rows if row.collective == job.case.collective
    ]
    if all(row.algorithm == "native" for row in rows):
        why = next((row.why for row in rows), "no call of it")
        raise CommandError(f"'{job.case.collective}:{job.recipe}' is not what runs there: {why}", 1)


def _reported_together(job: Job) -> list[tuple[int, ...]]:
    """Sizes that one report can tell apart."""
    is_told = all(
        runner.agreed_bytes(job.case.collective, size, job.situation.ranks) for size in job.case.sizes
    )
    return [job.case.sizes] if is_told else [(size,) for size in job.case.sizes]


def taken_by_rules(mpi: Mpi, job: Job) -> dict[int, str]:
    """What runs of each size when nothing is forced; native: it is left to the MPI."""
    found: dict[int, str] = {}
    for sizes in _reported_together(job):
        ran = runner.algorithms_of(_report(mpi, job, sizes), _request(job, 0, sizes))
        found |= {size: name for (_, size), name in ran.items()}
    return found
