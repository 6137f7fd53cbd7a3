"""What runs with worker processes come to: what hides, what it gains, and what it costs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hocket.bench import nonblocking_cells
from hocket.bench.nonblocking import SOCKETS, Lane
from hocket.bench.nonblocking_cells import Cell
from hocket.bench.workers import Place, WorkerLane

LARGE_BYTES = 64 << 10
LATENCY_BYTES = 256 << 10
LEAST_HIDDEN = 95.0  # percent
MOST_IN_MPI = 5.0  # percent of the operation's time
LEAST_TOTAL = 1.4  # times as fast as the MPI's own, computation included
MOST_LATENCY = 1.3  # times as long as the blocking call
LEAST_WITHOUT_CORE = 0.95
LEAST_APPLICATION = 1.2
LEAST_METADATA = 10.0  # times as much for the first call as for the second
LEAST_MISS = 3.0  # times as long for new buffers as for known ones


@dataclass(frozen=True)
class Spread:
    """Of the runs."""

    median: float
    least: float
    most: float
    runs: int

    def text(self, digits: int) -> str:
        median = f"{self.median:.{digits}f}"
        return median if self.runs == 1 else f"{median} ({self.least:.{digits}f}-{self.most:.{digits}f})"


def spread(values: Iterable[float | None]) -> Spread | None:
    some = [value for value in values if value is not None]
    return Spread(statistics.median(some), min(some), max(some), len(some)) if some else None


def _hidden(cell: Cell, form: str = "nonblocking") -> float | None:
    found = cell.overlap("time", 0, form)
    return found.hidden() if found else None


def _hidden_of_work(cell: Cell, form: str = "nonblocking") -> float | None:
    found = cell.overlap("work", 0, form)
    return found.imb if found else None


def _beside_work(cell: Cell, form: str = "nonblocking") -> Lane | None:
    return cell.lane(form, "work", apart=True)


def _core_of_helper(cell: Cell, form: str = "nonblocking") -> float | None:
    beside, pure = _beside_work(cell, form), cell.lane(form, apart=True)
    return 100 * beside.worker_us / pure.median_us if beside and beside.worker_us and pure else None


@dataclass(frozen=True)
class Run:
    """One cell of one job: Hocket's side and the MPI's own."""

    hocket: Cell
    native: Cell

    def hidden(self) -> float | None:
        """Percent, by the formula that says less, without any test."""
        return _hidden(self.hocket)

    def hidden_natively(self) -> float | None:
        return _hidden(self.native)

    def hidden_by_sockets(self) -> float | None:
        return _hidden(self.native, SOCKETS)

    def hidden_of_work(self) -> float | None:
        """By IMB's formula with a fixed amount of work: what the worker takes from the rank's core counts."""
        return _hidden_of_work(self.hocket)

    def hidden_of_work_by_sockets(self) -> float | None:
        return _hidden_of_work(self.native, SOCKETS)

    def in_mpi(self) -> float | None:
        """What calls of MPI took of the rank's core, in percent of the operation's time."""
        beside, pure = _beside_work(self.hocket), self._pure()
        return 100 * beside.cpu_us / pure if beside and beside.cpu_us and pure else None

    def by_worker(self) -> float | None:
        """For how much of the operation's time the worker ran, in percent."""
        return _core_of_helper(self.hocket)

    def by_sockets(self) -> float | None:
        """The same of the thread that has nothing but sockets."""
        return _core_of_helper(self.native, SOCKETS)

    def by_card(self) -> float | None:
        """The same of all processes of the node's card."""
        beside, pure = _beside_work(self.hocket), self._pure()
        return 100 * beside.card_us / pure if beside and beside.card_us and pure else None

    def total(self) -> float | None:
        """How many times as long the MPI's own takes beside the same work."""
        return self._native_over(_beside_work(self.hocket))

    def total_by_sockets(self) -> float | None:
        return self._native_over(_beside_work(self.native, SOCKETS))

    def _native_over(self, mine: Lane | None) -> float | None:
        others = _beside_work(self.native)
        return others.median_us / mine.median_us if mine and others else None

    def latency(self) -> float | None:
        """Start and wait over the quicker one of the blocking calls."""
        blocking = [lane.median_us for side in (self.hocket, self.native)
                    if (lane := side.lane("blocking", apart=True))]  # fmt: skip
        pure = self._pure()
        return pure / min(blocking) if pure and blocking else None

    def _pure(self) -> float | None:
        lane = self.hocket.lane("nonblocking", apart=True)
        return lane.median_us if lane else None


@dataclass(frozen=True)
class Figures:
    """All runs of one cell."""

    cores: int  # of the machine
    mpi: str
    place: Place
    workers: int
    shared_heap: int
    collective: str
    bytes: int
    runs: Sequence[Run]

    def of(self, figure: Callable[[Run], float | None]) -> Spread | None:
        return spread(map(figure, self.runs))

    def cell(self) -> tuple[int, str, Place, str, int]:
        """Whatever the workers."""
        return (self.cores, self.mpi, self.place, self.collective, self.bytes)

    def is_full(self) -> bool:
        """Its ranks leave no core for a worker."""
        return self.place.nodes == 1 and self.place.ppn >= self.cores

    def is_one_node(self) -> bool:
        return self.place.nodes == 1 and not self.is_full()

    def is_right(self) -> bool:
        return not any(run.hocket.is_wrong(form) for run in self.runs for form in ("blocking", "nonblocking"))


_Where = tuple[int, str, Place, int, int]  # cores, MPI, place, workers, shared heap


def _runs(lanes: Sequence[WorkerLane]) -> Iterable[list[WorkerLane]]:
    for number in sorted({lane.run for lane in lanes}):
        yield [lane for lane in lanes if lane.run == number]


def _pairs(lanes: Sequence[WorkerLane]) -> Iterable[Run]:
    found = nonblocking_cells.cells(lanes)
    native = {(cell.collective, cell.bytes): cell for cell in found if cell.side == "native"}
    for cell in found:
        if cell.side == "hocket" and (other := native.get((cell.collective, cell.bytes))):
            yield Run(cell, other)


def figures(lanes: Sequence[WorkerLane]) -> list[Figures]:
    """In the order in which they first appear."""
    jobs: dict[_Where, list[WorkerLane]] = {}
    for lane in lanes:
        where = (lane.cores, lane.mpi, lane.place(), lane.workers, lane.shared_heap)
        jobs.setdefault(where, []).append(lane)
    found: dict[tuple[_Where, str, int], list[Run]] = {}
    for where, some in jobs.items():
        for job in _runs(some):
            for run in _pairs(job):
                found.setdefault((where, run.hocket.collective, run.hocket.bytes), []).append(run)
    return [Figures(*where, collective, size, runs) for (where, collective, size), runs in found.items()]


def without_core(found: Sequence[Figures]) -> list[tuple[Figures, Spread]]:
    """Where workers were asked for and not: how many times as long an operation takes without the wish, run
    by run."""

    def medians(one: Figures) -> list[float]:
        return [lane.median_us for run in one.runs if (lane := run.hocket.lane("nonblocking", apart=True))]

    full = [one for one in found if one.is_full()]
    plain = {one.cell(): one for one in full if not one.workers}
    pairs = []
    for one in full:
        other = plain.get(one.cell())
        if one.workers and other:
            ratio = spread(b / a for a, b in zip(medians(one), medians(other), strict=False))
            pairs += [(one, ratio)] if ratio else []
    return pairs
