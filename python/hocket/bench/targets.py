"""How fast Hocket should be, and which cells that is said of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hocket.bench.comparison import Cell

_large_bytes = 32 << 10
_small_bytes = 4 << 10
_large_collectives = ("allreduce", "allgather", "reduce_scatter_block", "alltoall")


@dataclass(frozen=True)
class Targets:
    """Geometric means; None: no target."""

    overall: float | None = None
    to_fastest: float | None = None
    large: float | None = None
    small: float | None = None
    no_loss: bool = False  # no cell slower than 0.95x


_two_ranks = Targets(overall=1.3, to_fastest=1.1, no_loss=True)
_more_ranks = {
    "openmpi": Targets(overall=1.3, large=2.0),
    "debian": Targets(overall=1.3, large=2.0),
    "intel": Targets(overall=1.3),
    "mpich": Targets(small=100.0),
}


def of(mpi: str, ranks: int) -> Targets:
    return _two_ranks if ranks == 2 else _more_ranks.get(mpi, Targets())


def large(found: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in found if cell.bytes >= _large_bytes and cell.collective in _large_collectives]


def small(found: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in found if cell.bytes <= _small_bytes]
