"""Is scatter cheaper than gather? T_gather / T_scatter of what was measured of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.bench.topology_cells import Cell, Group


@dataclass(frozen=True)
class Pair:
    """A recipe, or an algorithm of the MPI, that does both."""

    gather: Group
    side: str
    bytes: int
    gather_us: float
    scatter_us: float

    @property
    def ratio(self) -> float:
        return self.gather_us / self.scatter_us


def pairs(found: Sequence[Cell]) -> list[Pair]:
    scatters = {(cell.group, cell.bytes): cell for cell in found if cell.group.collective == "scatter"}
    return [pair for cell in found if cell.group.collective == "gather" for pair in _of(cell, scatters)]


def _of(gather: Cell, scatters: dict[tuple[Group, int], Cell]) -> Iterable[Pair]:
    scatter = scatters.get((dataclasses.replace(gather.group, collective="scatter"), gather.bytes))
    for side in gather.sides if scatter else ():
        other = scatter.named(side.name) if scatter else None
        if other and side.valid and other.valid:
            yield Pair(gather.group, side.name, gather.bytes, side.median_us, other.median_us)
