"""What Hocket's selection expects of each recipe, and of the MPI's algorithms that send the same messages,
beside what they took: on links without other traffic."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.bench.topology import Run
from hocket.bench.topology_cells import RULES, Cell, Side, cells
from hocket.bench.topology_prediction import predicted_us

TARGET = 0.15  # of the median error, from here on:
LEAST_BYTES = 64 << 10


# The MPI's algorithms whose messages are those of a row of the catalog.
_LIKE = {
    **{("gather", "linear"): "linear", ("gather", "binomial"): "knomial"},
    **{("scatter", "linear"): "linear", ("scatter", "binomial"): "knomial"},
    **{("bcast", "binomial"): "knomial(segments=1)", ("bcast", "scatter_allgather"): "scatter_allgather"},
    **{("allreduce", "ring"): "ring", ("allreduce", "recursive_doubling"): "recursive_doubling"},
    ("allreduce", "rabenseifner"): "recursive_halving_doubling",
    **{("allgather", "ring"): "ring", ("allgather", "bruck"): "bruck"},
    ("allgather", "recursive_doubling"): "recursive_doubling",
    **{
        ("alltoall", "linear"): "linear",
        ("alltoall", "pairwise"): "pairwise",
        ("alltoall", "bruck"): "bruck",
    },
    **{("alltoallv", "linear"): "linear", ("alltoallv", "pairwise"): "pairwise"},
}


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


def _recipe(cell: Cell, side: Side) -> str | None:
    """Not of what the rules take: that is one of the recipes, or an algorithm of the MPI."""
    if side.is_native:
        return _LIKE.get((cell.group.collective, side.words))
    return None if side.name == RULES else side.words


def expectations(runs: Iterable[Run]) -> list[Expectation]:
    """Of what was measured often enough."""
    found = []
    for cell in cells(runs):
        if cell.group.situation.traffic:
            continue
        for side in cell.sides:
            recipe = _recipe(cell, side) if side.valid and not side.has_few_runs else None
            expected = predicted_us(cell, recipe) if recipe else None
            if expected is not None:
                found.append(Expectation(cell, side, expected))
    return found


def median_error(found: Sequence[Expectation]) -> float | None:
    """Of those that count for the target."""
    errors = [abs(one.error) for one in found if one.counts]
    return statistics.median(errors) if errors else None
