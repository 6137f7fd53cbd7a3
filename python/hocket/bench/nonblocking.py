"""Non-blocking and persistent collectives: what is measured, and under which settings of Hocket."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket import launch
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.program import nonblocking_program
from hocket.bench.records import COLLECTIVES, SIDES, Origin
from hocket.errors import CommandError, unknown
from hocket.mpis import Mpi

SOCKETS = "sockets"  # no call of MPI, but a thread that moves the same bytes over TCP
FORMS = ("blocking", "nonblocking", "persistent", SOCKETS)
LOOPS = ("none", "time", "work", "alone")
PROGRESS = ("calls", "thread", "auto")
_most_tests = 8
_start_seconds = 60.0
_bound_per_cell = 60.0  # far more than any takes: what runs longer hangs


@dataclass(frozen=True)
class Lane(Origin):
    """One way to run one cell, on one side. Microseconds per operation, of the slowest rank: the median with
    its spread, and the medians of its parts."""

    ranks: int
    collective: str
    bytes: int
    type: str
    root: int
    side: str  # as in records.Record
    form: str
    loop: str  # computation: none, as long as the clock says, a fixed work, that work without an operation
    tests: int
    apart: bool  # ranks started every operation together; else operations ran back to back
    batches: int  # 0: not timed, because results were wrong
    k: int
    valid: bool
    make_us: float  # MPI_X_init, once
    median_us: float = 0.0
    p10_us: float = 0.0
    p90_us: float = 0.0
    start_us: float = 0.0  # the parts are 0 where operations ran back to back
    compute_us: float = 0.0
    test_us: float = 0.0
    wait_us: float = 0.0
    # That calls of MPI took of the thread's core, that the node's worker ran, and its card's processes; 0:
    # not read, since operations are short, or not there.
    cpu_us: float = 0.0
    worker_us: float = 0.0
    card_us: float = 0.0
    progress: str = ""  # HOCKET_PROGRESS and HOCKET_NODE_SIZE of the run, if set; never when untouched
    node_size: int = 0
    workers: int = 0  # HOCKET_WORKERS and HOCKET_SHARED_HEAP likewise
    shared_heap: int = 0
    link: str = ""  # machine.link()
    schema: str = "hocket-nonblocking-1"


def _refusal(lane: Lane) -> str:
    known = (
        lane.collective in COLLECTIVES and lane.side in SIDES and lane.form in FORMS and lane.loop in LOOPS
    )
    return "" if known else f"no such lane: {lane.collective}, {lane.side}, {lane.form}, {lane.loop}"


LANES = Kind(Lane, _refusal)


@dataclass(frozen=True)
class Settings:
    """Options of Hocket that change how operations go on while the program computes."""

    progress: str = ""
    node_size: int = 0
    workers: int = 0
    shared_heap: int = 0

    def __post_init__(self) -> None:
        if self.progress and self.progress not in PROGRESS:
            raise unknown("progress", self.progress, PROGRESS)

    def variables(self) -> dict[str, str]:
        found = {
            "HOCKET_PROGRESS": self.progress,
            "HOCKET_NODE_SIZE": str(self.node_size or ""),
            "HOCKET_WORKERS": str(self.workers or ""),
            "HOCKET_SHARED_HEAP": str(self.shared_heap or ""),
        }
        return {name: value for name, value in found.items() if value}


PRESET = Settings()


def parse_settings(progress: str, node_size: int) -> list[Settings]:
    """One for each of the words in `progress`: calls,thread,auto."""
    return [Settings(word.strip(), node_size) for word in progress.split(",")]


@dataclass(frozen=True)
class Request:
    cells: runner.Request
    tests: Sequence[int] = (0, 1, 16)
    compute_us: float = 0.0  # 0: as long as the operation takes
    compute_native: bool = False  # as long as it takes without Hocket, on both sides
    sockets: bool = False  # that form, too: of two ranks
    settings: Settings = PRESET

    def arguments(self) -> list[str]:
        tests = ("--tests", ",".join(map(str, self.tests)))
        compute = "native" if self.compute_native else str(self.compute_us)
        beside = ("--beside", SOCKETS) if self.sockets else ()
        return [*self.cells.arguments(), *tests, "--compute", compute, *beside]

    def of(self, collective: str) -> Request:
        return dataclasses.replace(self, cells=dataclasses.replace(self.cells, collectives=[collective]))

    def bound(self) -> float:
        return _start_seconds + self.cells.cells() * (_bound_per_cell + 4 * self.cells.seconds)


def parse_tests(text: str) -> list[int]:
    words = text.split(",")
    if not all(word.strip().isdigit() and int(word) <= 10**6 for word in words) or len(words) > _most_tests:
        raise CommandError(
            f"'{text}' is not a list of at most {_most_tests} numbers of tests; write for example 0,1,16"
        )
    return sorted({int(word) for word in words})


Keep = Callable[[list[Lane]], None]


def run(mpi: Mpi, request: Request, with_hocket: bool, keep: Keep) -> None:
    """Hands over what was measured even when the run fails or is ended half-way."""
    settings = request.settings if with_hocket else PRESET
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        out, load = Path(folder) / "lanes", machine.load()
        program = [str(nonblocking_program(mpi.family)), *request.arguments(), "--out", str(out)]
        command = launch.with_hocket(program) if with_hocket else [*program, "--untouched"]
        try:
            runner.run_program(mpi, request.cells.ranks, command, request.bound(), **settings.variables())
        finally:
            common = {**runner.where_and_when(mpi, load), **dataclasses.asdict(settings)}
            keep([Lane(**common, **line) for line in runner.printed(out)])
