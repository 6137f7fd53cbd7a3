"""Records put side by side: one cell of one MPI, its ratios, and the means over many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hocket.bench.records import Record


@dataclass(frozen=True)
class Cell:
    """Ratios above 1: Hocket is faster."""

    mpi: str
    ranks: int
    collective: str
    bytes: int
    hocket: Record | None
    native: Record | None  # same process, Hocket switched off
    untouched: Record | None  # run of its own
    fastest: Record | None  # the fastest untouched MPI of all that were measured

    def to_below(self) -> float | None:
        return self.native.median_us / self.hocket.median_us if self.native and self.hocket else None

    def to_fastest(self) -> float | None:
        return self.fastest.median_us / self.hocket.median_us if self.fastest and self.hocket else None

    def valid(self) -> bool:
        return all(record.valid for record in (self.hocket, self.native, self.untouched) if record)


_Key = tuple[str, int, str, int]


def _latest(records: Iterable[Record]) -> dict[tuple[_Key, str], Record]:
    """Of several measurements of one cell the last one counts."""
    return {((r.mpi, r.ranks, r.collective, r.bytes), r.side): r for r in records}


def cells(records: Sequence[Record]) -> list[Cell]:
    """In the order in which the cells first appear."""
    latest = _latest(records)
    fastest: dict[tuple[int, str, int], Record] = {}
    for (key, side), record in latest.items():
        best = fastest.get(key[1:])
        if side == "untouched" and (not best or record.median_us < best.median_us):
            fastest[key[1:]] = record
    return [
        Cell(
            *key,
            hocket=latest.get((key, "hocket")),
            native=latest.get((key, "native")),
            untouched=latest.get((key, "untouched")),
            fastest=fastest.get(key[1:]),
        )
        for key in dict.fromkeys(key for key, _ in latest)
    ]


def geometric_mean(ratios: Iterable[float]) -> float | None:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


Ratio = Callable[[Cell], float | None]


def mean(found: Iterable[Cell], ratio: Ratio) -> float | None:
    return geometric_mean(value for value in map(ratio, found) if value is not None)


def worst(found: Iterable[Cell], ratio: Ratio) -> Cell | None:
    measured = [cell for cell in found if ratio(cell) is not None]
    return min(measured, key=lambda cell: ratio(cell) or 0.0, default=None)


def lost(found: Iterable[Cell], ratio: Ratio, bound: float = 0.95) -> list[Cell]:
    """Cells in which Hocket is slower than `bound` times the rival."""
    return [cell for cell in found if (value := ratio(cell)) is not None and value < bound]


def groups(found: Iterable[Cell]) -> dict[tuple[str, int], list[Cell]]:
    """By MPI and number of ranks."""
    result: dict[tuple[str, int], list[Cell]] = {}
    for cell in found:
        result.setdefault((cell.mpi, cell.ranks), []).append(cell)
    return result


def by_collective(found: Iterable[Cell]) -> dict[str, list[Cell]]:
    result: dict[str, list[Cell]] = {}
    for cell in found:
        result.setdefault(cell.collective, []).append(cell)
    return result
