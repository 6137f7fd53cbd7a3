"""What Hocket's selection expects of each recipe, beside what it took: on links without other traffic."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.bench.topology import Run
from hocket.bench.topology_cells import Cell, Side, cells
from hocket.bench.topology_prediction import predicted_us

TARGET = 0.15  # of the median error, from here on:
LEAST_BYTES = 64 << 10


@dataclass(frozen=True)
class Expectation:
    cell: Cell
    side: Side
    predicted_us: float

    @property
    def error(self) -> float:
        """Above 0: less time was needed than expected."""
        return self.predicted_us / self.side.median_us - 1

    @property
    def counts(self) -> bool:
        return self.cell.bytes >= LEAST_BYTES


def expectations(runs: Iterable[Run]) -> list[Expectation]:
    found = []
    for cell in cells(runs):
        if cell.group.situation.traffic:
            continue
        for side in cell.sides:
            expected = None if side.is_native or not side.valid else predicted_us(cell, side.words)
            if expected is not None:
                found.append(Expectation(cell, side, expected))
    return found


def median_error(found: Sequence[Expectation]) -> float | None:
    """Of those that count for the target."""
    errors = [abs(one.error) for one in found if one.counts]
    return statistics.median(errors) if errors else None
