"""Non-blocking collectives carried out by worker processes: one job in a lab, and what it said.

Each job has a lab of its own, of nodes with so many ranks each and links of one rate, and a worker beside
each node's ranks. Hocket's side and the MPI's own take turns in one process, and compute for the same time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import applications as built
from hocket import launch, reports
from hocket.bench import applications, machine, runner
from hocket.bench.applications import Timed
from hocket.bench.jsonl import Kind
from hocket.bench.nonblocking import Lane, Request, Settings
from hocket.bench.program import handover_program, nonblocking_program
from hocket.bench.records import Origin
from hocket.errors import CommandError
from hocket.lab import jobs, lab
from hocket.lab import machine as lab_machine
from hocket.lab.quantities import format_rate
from hocket.lab.shape import Shape
from hocket.mpis import Mpi

WITH_WORKERS = Settings(workers=1)
WITH_SHARED_HEAP = Settings(workers=1, shared_heap=1)
WITHOUT = Settings()
_start_seconds = 60.0
_bound_seconds = 300.0


@dataclass(frozen=True)
class Place:
    """Where a job runs. rate: of a node's link, bits per second; card_cores: that each node's card has, on
    which its worker runs (0: it is on the node)."""

    nodes: int
    ppn: int
    rate: int
    card_cores: float = 0.0

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    def shape(self) -> Shape:
        return Shape(leaves=self.nodes, nodes=1, rate=self.rate, uplink=self.rate, card_cores=self.card_cores)

    def __str__(self) -> str:
        nodes = f"{self.nodes} nodes" if self.nodes > 1 else "1 node"
        cards = f", cards of {self.card_cores:g} cores" if self.card_cores else ""
        return f"{nodes} of {self.ppn}, {format_rate(self.rate)}{cards}"


@dataclass(frozen=True)
class WorkerLane(Lane):
    """As the benchmark of non-blocking collectives measures them, in one job of several."""

    nodes: int = 0
    ppn: int = 0
    rate: int = 0
    card_cores: float = 0.0
    run: int = 0
    force: str = ""  # HOCKET_FORCE of the job
    schema: str = "hocket-workers-1"

    def place(self) -> Place:
        return Place(self.nodes, self.ppn, self.rate, self.card_cores)


LANES = Kind(WorkerLane)


@dataclass(frozen=True)
class Metadata(Origin):
    """What rank 0 told its worker of one kind of call, in bytes, and what that cost, in microseconds of the
    slowest rank: with buffers that the worker knows, with new ones, and by a persistent request."""

    ranks: int
    bytes: int  # of a block
    calls: int
    call_bytes: float  # of a call whose buffers are known
    buffers_bytes: float  # of new buffers, besides
    known_start_us: float
    known_us: float
    new_start_us: float
    new_us: float
    persistent_start_us: float
    persistent_us: float
    nodes: int
    ppn: int
    rate: int
    run: int
    card_cores: float = 0.0
    link: str = ""  # machine.link()
    start_clock: str = "wall"  # of starts; core: what the rank's thread runs for
    schema: str = "hocket-worker-metadata-1"


METADATA = Kind(Metadata)


def _captured(mpi: Mpi, place: Place, program: Sequence[str], bound: float, **variables: str) -> str:
    """What a job with Hocket in front printed, in a lab of its own. Wrong results are no failure of it."""
    referee = {"BENCH_REFEREE": str(lab_machine.FOLDER / "referee")}
    wanted = jobs.Wanted(place.ranks, place.ppn)
    with lab.temporary(lambda: lab.start("bench", place.shape())) as where:
        cards = {"BENCH_CARDS": str(where.card_groups())} if place.card_cores else {}
        done = jobs.run_captured(where, mpi, wanted, program, bound, **referee, **cards, **variables)
    if done.status != 0 and "wrong results" not in done.errors:
        raise runner.failure(mpi, done)
    return done.output


def _where(mpi: Mpi, load: float, place: Place, run: int) -> dict[str, Any]:
    return {**runner.where_and_when(mpi, load), **vars(place), "run": run}


def lanes(mpi: Mpi, place: Place, request: Request, run: int, force: str = "") -> list[WorkerLane]:
    """`force`: as HOCKET_FORCE."""
    load = machine.load()
    variables = request.settings.variables() | ({"HOCKET_FORCE": force} if force else {})
    program = launch.with_hocket([str(nonblocking_program(mpi.family)), *request.arguments()])
    output = _captured(mpi, place, program, request.bound(), **variables)
    common = {**_where(mpi, load, place, run), **vars(request.settings), "force": force}
    return [WorkerLane(**common, **line) for line in runner.lines_of(output)]


def _handed(file: Path) -> reports.HandedCounts:
    handed = reports.read(file).handed if file.exists() else None
    if not handed or not handed.buffers:
        raise CommandError("nothing was handed over to a worker", 1)
    return handed


def metadata(mpi: Mpi, place: Place, size: int, calls: int, run: int) -> Metadata:
    """Times by one job, and the bytes by another: a report takes times."""
    load = machine.load()
    program = [str(handover_program(mpi.family)), "--bytes", str(size), "--calls", str(calls)]
    settings = {"HOCKET_FORCE": "alltoall:linear", **WITH_WORKERS.variables()}
    command = launch.with_hocket(program)
    (line,) = runner.lines_of(_captured(mpi, place, command, _bound_seconds, **settings))
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        file = Path(folder) / "report.jsonl"
        _captured(mpi, place, command, _bound_seconds, HOCKET_REPORT=str(file), **settings)
        handed = _handed(file)
    told: dict[str, Any] = {
        "call_bytes": handed.start_bytes / handed.starts,
        "buffers_bytes": handed.buffer_bytes / handed.buffers,
    }
    return Metadata(**_where(mpi, load, place, run), **line, **told)


@dataclass(frozen=True)
class Application:
    name: str
    problem: str
    launches: Sequence[str]  # words for one launch each
    repeat: int


def _application_lines(
    mpi: Mpi, place: Place, one: Application, words: str, side: str
) -> list[dict[str, Any]]:
    program = [str(built.built_for(mpi, one.name)), *one.problem.split(), *words.split()]
    program += ["--repeat", str(one.repeat)]
    ours = side == "hocket"
    command = launch.with_hocket(program) if ours else program
    variables = WITH_WORKERS.variables() if ours else {}
    output = _captured(mpi, place, command, _bound_seconds, **variables)
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"app"')]


def application(mpi: Mpi, place: Place, one: Application, rounds: int) -> list[Timed]:
    """The same program on the MPI alone and with workers, in turns."""
    load = machine.load()
    results = [
        (side, result)
        for side in applications.turns(rounds)
        for words in one.launches
        for result in _application_lines(mpi, place, one, words, side)
    ]
    common = {**runner.where_and_when(mpi, load), "link": str(place), "ranks": place.ranks}
    common |= {"application": one.name, "problem": one.problem}
    ours = {"hocket": vars(WITH_WORKERS), "untouched": {}}
    return [Timed(**common, **ours[found["side"]], **found) for found in applications.summaries(results)]
