"""What `hocket bench --workers` runs: jobs, one after the other, each of which brings records of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hocket.bench import machine, runner, workers
from hocket.bench.applications import RUNS
from hocket.bench.jsonl import Kind
from hocket.bench.nonblocking import Request, Settings
from hocket.bench.workers import Application, Place
from hocket.errors import unknown
from hocket.mpis import Mpi

PARTS = ("overlap", "heap", "remote", "spare", "applications", "metadata", "core")
COLLECTIVES = ("alltoall", "allgather", "bcast")
_KIB, _MIB = 1 << 10, 1 << 20
_mega = 10**6
# The link bounds, not the cores: 4 MiB at 100 Mbit would take a third of a second per operation.
_places = {
    Place(2, 1, 100 * _mega): (64 * _KIB, 256 * _KIB, _MIB),
    Place(2, 1, 500 * _mega): (64 * _KIB, 256 * _KIB, _MIB, 4 * _MIB),
}
_card_cores = 0.5
_fast = Place(2, 1, 500 * _mega)
_faster = Place(2, 1, 2000 * _mega)
_unshaped = 1000 * _mega  # nothing goes over the link of a single node
_to_workers = "alltoall:linear,allgather:ring,bcast:knomial"
_spare_sizes = (64 * _KIB, 256 * _KIB, _MIB, 4 * _MIB)
_metadata_sizes = (_KIB, 64 * _KIB)
_metadata_calls = 200
_launches = ("", "--tile 4 --window 6", "--tile 16 --window 3")  # its presets, and what suits the MPI best
_applications = (
    Application("fft3d", "--nx 64 --ny 64 --nz 64", _launches, 10),
    Application("fft3d", "--nx 64 --ny 64 --nz 64 --fields 3", _launches, 10),
    Application("fft3d", "--nx 128 --ny 128 --nz 128", _launches, 5),
    Application("fft3d", "--nx 128 --ny 128 --nz 128 --fields 3", _launches, 3),
)


@dataclass(frozen=True)
class Job:
    words: str
    kind: Kind[Any]
    ending: str  # of the file for its records, behind the name that the user gave: a file holds one kind
    run: Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Wanted:
    parts: Sequence[str] = PARTS
    collectives: Sequence[str] = COLLECTIVES
    sizes: Sequence[int] = ()  # empty: those of each place
    runs: int = 5
    seconds: float = 1.0

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in PARTS:
                raise unknown("part", part, PARTS)

    def request(self, place: Place, sizes: Sequence[int], settings: Settings) -> Request:
        cells = runner.Request(self.collectives, self.sizes or sizes, place.ranks, self.seconds)
        between = place.nodes == place.ranks == 2 and not place.card_cores
        return Request(cells, tests=[0], compute_native=True, sockets=between, settings=settings)


def _lanes(mpi: Mpi, place: Place, request: Request, run: int, force: str = "") -> Job:
    count = request.settings.workers
    wish = f", workers {count}" if count else ", no workers wanted"
    wish += ", shared heap" if request.settings.shared_heap else ""
    return Job(f"{place}{wish}", workers.LANES, "", lambda: workers.lanes(mpi, place, request, run, force))


def _overlap(mpi: Mpi, wanted: Wanted, run: int, settings: Settings) -> Iterator[Job]:
    for place, sizes in _places.items():
        yield _lanes(mpi, place, wanted.request(place, sizes, settings), run)


def _remote(mpi: Mpi, wanted: Wanted, run: int) -> Iterator[Job]:
    """As _overlap, with the workers on cards."""
    for place, sizes in _places.items():
        there = replace(place, card_cores=_card_cores)
        yield _lanes(mpi, there, wanted.request(there, sizes, workers.WITH_WORKERS), run)


def _spare(mpi: Mpi, wanted: Wanted, run: int) -> Iterator[Job]:
    """One node whose ranks leave half of its cores free or more, with all calls forced to workers and with
    none: of 16 cores 2, 4 and 8 ranks with a worker, 8 with 2 and 4. None on a machine of less than 4 cores.
    """
    half = machine.cores() // 2
    for ranks in sorted({2, half // 2, half} - {0, 1} if half > 1 else ()):
        place = Place(1, ranks, _unshaped)
        counts = sorted({1, half // 4, half // 2} - {0} if ranks == half else {1})
        several = [
            replace(each, workers=count)
            for count in counts
            for each in (workers.WITH_WORKERS, workers.WITH_SHARED_HEAP)
        ]
        for settings in (workers.WITHOUT, *several):
            force = _to_workers if settings.workers else ""
            yield _lanes(mpi, place, wanted.request(place, _spare_sizes, settings), run, force)


def _core(mpi: Mpi, wanted: Wanted, run: int) -> Iterator[Job]:
    full = Place(1, machine.cores(), _unshaped)
    both = (workers.WITHOUT, workers.WITH_WORKERS)
    for settings in both if run % 2 == 0 else reversed(both):
        yield _lanes(mpi, full, wanted.request(full, (64 * _KIB, _MIB), settings), run)


def _metadata(mpi: Mpi, size: int, run: int) -> Job:
    return Job(
        f"metadata, {_fast}, {size} bytes", workers.METADATA, "-metadata",
        lambda: [workers.metadata(mpi, _fast, size, _metadata_calls, run)],
    )  # fmt: skip


def _application(mpi: Mpi, one: Application, place: Place, rounds: int) -> Job:
    return Job(
        f"{one.name} {one.problem}, {place}", RUNS, "-applications",
        lambda: workers.application(mpi, place, one, rounds),
    )  # fmt: skip


def _application_places() -> list[Place]:
    """Where cores are to spare, also over links that take about as long as the computation does: most is
    gained there."""
    return [_fast] if machine.cores() < 4 else [_fast, _faster]


def jobs(mpi: Mpi, wanted: Wanted) -> Iterator[Job]:
    """Runs outermost: what gets slower with time does so for all."""
    for run in range(wanted.runs):
        if "overlap" in wanted.parts:
            yield from _overlap(mpi, wanted, run, workers.WITH_WORKERS)
        if "heap" in wanted.parts:
            yield from _overlap(mpi, wanted, run, workers.WITH_SHARED_HEAP)
        if "remote" in wanted.parts:
            yield from _remote(mpi, wanted, run)
        if "spare" in wanted.parts:
            yield from _spare(mpi, wanted, run)
        if "metadata" in wanted.parts:
            yield from (_metadata(mpi, size, run) for size in _metadata_sizes)
        if "core" in wanted.parts:
            yield from _core(mpi, wanted, run)
    if "applications" in wanted.parts:
        for place in _application_places():
            yield from (_application(mpi, one, place, wanted.runs) for one in _applications)
