"""A measured cell as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hocket.bench.jsonl import Kind

COLLECTIVES = (
    "barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv",
    "allgather", "allgatherv", "alltoall", "alltoallv",
    "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
)  # fmt: skip
SIDES = ("untouched", "native", "hocket")


class Measured(Protocol):
    """What records of every kind have: where and when."""

    @property
    def date(self) -> str: ...
    @property
    def cpu(self) -> str: ...
    @property
    def cores(self) -> int: ...
    @property
    def mpi(self) -> str: ...
    @property
    def mpi_version(self) -> str: ...


@dataclass(frozen=True)
class Origin:
    """What records begin with. load: of the machine before it was measured (machine.load())."""

    date: str
    cpu: str
    cores: int
    load: float
    mpi: str
    mpi_version: str


@dataclass(frozen=True)
class Record:
    """One side of one cell. Times are microseconds per call, of the slowest rank."""

    date: str
    cpu: str
    cores: int
    mpi: str  # openmpi, mpich, intel, debian or a path
    mpi_version: str
    ranks: int
    collective: str
    bytes: int
    type: str
    root: int
    side: str  # untouched: run without Hocket; native: Hocket loaded but switched off; hocket
    median_us: float
    p10_us: float
    p90_us: float
    batches: int
    k: int  # calls per batch
    valid: bool
    load: float = 0.0  # of the machine when the run began: a busy machine explains odd numbers
    algorithm: str = ""  # hocket side: what ran, "native" when left to the MPI
    link: str = ""  # machine.link()
    schema: str = "hocket-bench-1"


def _refusal(record: Record) -> str:
    known = record.side in SIDES and record.collective in COLLECTIVES
    return "" if known else f"no such cell: {record.collective}, {record.side}"


CELLS = Kind(Record, _refusal)
