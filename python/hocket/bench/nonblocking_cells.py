"""Lanes of one cell and side put together: what the forms cost beside the blocking call, what overlaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hocket.bench import overlap
from hocket.bench.nonblocking import FORMS, Lane

_Way = tuple[str, str, int, bool]  # form, loop, tests, apart


@dataclass(frozen=True)
class Overlap:
    """With one kind of loop and one number of tests; percent, uncut (overlap.py)."""

    lane: Lane
    osu: float
    imb: float
    imb_low: float  # at the 90th and the 10th percentile of the overall time
    imb_high: float
    of_sum: float  # what both take one after the other, in percent of what they took together
    stolen: float | None  # work loops only

    def hidden(self) -> float:
        """By the formula that says less."""
        return min(self.osu, self.imb)


@dataclass(frozen=True)
class Cell:
    """One collective and size, on one side of one run."""

    mpi: str
    ranks: int
    progress: str
    node_size: int
    workers: int
    link: str  # machine.link()
    collective: str
    bytes: int
    side: str
    lanes: dict[_Way, Lane] = field(hash=False)

    def place(self) -> tuple[str, int, str, str, int]:
        """What a run of the MPI alone has in common with it."""
        return (self.mpi, self.ranks, self.link, self.collective, self.bytes)

    def lane(self, form: str, loop: str = "none", tests: int = 0, apart: bool = False) -> Lane | None:
        return self.lanes.get((form, loop, tests, apart))

    def is_wrong(self, form: str) -> bool:
        lane = self.lane(form)
        return lane is not None and not lane.valid

    def median(self, form: str) -> float | None:
        lane = self.lane(form)
        return lane.median_us if lane and lane.valid else None

    def start(self, form: str) -> float | None:
        lane = self.lane(form, apart=True)
        return lane.start_us if lane else None

    def overhead(self, form: str = "nonblocking") -> float | None:
        """Percent over the blocking call."""
        mine, blocking = self.median(form), self.median("blocking")
        return overlap.overhead(mine, blocking) if mine and blocking else None

    def beyond(self, form: str = "nonblocking") -> float | None:
        """Microseconds more than the blocking call."""
        mine, blocking = self.median(form), self.median("blocking")
        return mine - blocking if mine is not None and blocking is not None else None

    def settings_text(self) -> str:
        words = [f"progress {self.progress}" if self.progress else ""]
        words.append(f"nodes of {self.node_size}" if self.node_size else "")
        words.append(f"workers {self.workers}" if self.workers else "")
        words.append(self.link)
        return ", ".join(filter(None, words))

    def overlaps(self, form: str = "nonblocking") -> list[Overlap]:
        pure = self.lane(form, apart=True)
        found = []
        for lane in self.lanes.values():
            alone = self.lane(form, "alone", lane.tests, apart=True)
            if pure and alone and lane.form == form and lane.loop in ("time", "work"):
                found.append(_overlap(lane, pure, alone))
        return found

    def overlap(self, loop: str, tests: int, form: str = "nonblocking") -> Overlap | None:
        found = (one for one in self.overlaps(form) if (one.lane.loop, one.lane.tests) == (loop, tests))
        return next(found, None)


def _overlap(lane: Lane, pure: Lane, alone: Lane) -> Overlap:
    is_work = lane.loop == "work"
    clock = alone.median_us - alone.compute_us  # reading it at every step is no part of the operation
    cpu = (alone.compute_us if is_work else lane.compute_us) + clock
    return Overlap(
        lane,
        osu=overlap.osu(lane.median_us, lane.compute_us + lane.test_us, lane.test_us, pure.median_us),
        imb=overlap.imb(pure.median_us, cpu, lane.median_us),
        of_sum=100 * (pure.median_us + cpu) / lane.median_us,
        imb_low=overlap.imb(pure.median_us, cpu, lane.p90_us),
        imb_high=overlap.imb(pure.median_us, cpu, lane.p10_us),
        stolen=overlap.stolen(lane.compute_us, alone.compute_us) if is_work else None,
    )


def cells(lanes: Iterable[Lane]) -> list[Cell]:
    """In the order in which they first appear; of several measurements of one lane the last one counts."""
    found: dict[tuple[str, int, str, int, int, str, str, int, str], dict[_Way, Lane]] = {}
    for lane in lanes:
        where = (lane.mpi, lane.ranks, lane.progress, lane.node_size, lane.workers, lane.link)
        key = (*where, lane.collective, lane.bytes, lane.side)
        found.setdefault(key, {})[lane.form, lane.loop, lane.tests, lane.apart] = lane
    return [Cell(*key, lanes=ways) for key, ways in found.items()]


@dataclass(frozen=True)
class Pair:
    """A cell with Hocket, and the same cell of the MPI untouched."""

    hocket: Cell
    alone: Cell | None


def pairs(found: Iterable[Cell]) -> list[Pair]:
    some = list(found)
    alone = {cell.place(): cell for cell in some if cell.side == "untouched"}
    return [Pair(cell, alone.get(cell.place())) for cell in some if cell.side == "hocket"]


def groups(found: Sequence[Cell]) -> dict[tuple[str, int], list[Cell]]:
    """By MPI and number of ranks; within them cell by cell, the sides beside each other."""
    result: dict[tuple[str, int], dict[tuple[str, int], list[Cell]]] = {}
    for cell in found:
        some = result.setdefault((cell.mpi, cell.ranks), {})
        some.setdefault((cell.collective, cell.bytes), []).append(cell)
    return {group: [cell for sides in some.values() for cell in sides] for group, some in result.items()}


def wrong_where_right_without(found: Iterable[Cell]) -> list[tuple[Cell, str]]:
    """The forms that Hocket spoils: wrong with it, right by the MPI below in the same run."""
    by_place = {(cell.place(), cell.settings_text(), cell.side): cell for cell in found}
    spoiled = []
    for (place, settings, side), cell in by_place.items():
        native = by_place.get((place, settings, "native"))
        for form in FORMS:
            if side == "hocket" and cell.is_wrong(form) and not (native and native.is_wrong(form)):
                spoiled.append((cell, form))
    return spoiled
