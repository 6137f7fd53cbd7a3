"""What traffic of others leaves of the links to a gather or a scatter: what as many bytes take there as one
message from, or to, each other leaf."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from hocket.bench import topology_cells
from hocket.bench.topology import Run
from hocket.bench.topology_cells import Cell, Group
from hocket.bench.topology_experiments import LEFT_BY_TRAFFIC

Left = dict[tuple[Group, int], float]


def left(runs: Iterable[Run]) -> Left:
    """Microseconds, by group and the bytes of a leaf: of the side that needed the least, in runs enough."""
    found = {}
    for cell in topology_cells.cells(run for run in runs if run.experiment == LEFT_BY_TRAFFIC):
        if times := [side.median_us for side in cell.sides if side.valid and not side.has_few_runs]:
            found[cell.group, cell.bytes] = min(times)
    return found


def bounded(cells: Sequence[Cell], by: Left) -> list[Cell]:
    return [dataclasses.replace(cell, left_us=by.get(_of_a_leaf(cell), 0.0)) for cell in cells]


def _of_a_leaf(cell: Cell) -> tuple[Group, int]:
    at = cell.group.situation
    one_each = dataclasses.replace(at, nodes=1, ppn=1)
    return dataclasses.replace(cell.group, situation=one_each), cell.bytes * at.nodes * at.ppn
