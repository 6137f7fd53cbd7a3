"""A measured cell as a value and as a line of JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hocket.errors import CommandError

SCHEMA = "hocket-bench-1"

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
    schema: str = SCHEMA

    def line(self) -> str:
        return json.dumps(dataclasses.asdict(self))


_kinds: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}

R = TypeVar("R")


def checked(kind: type[R], schema: str, data: dict[str, Any]) -> R:
    """A record of this class; throws ValueError naming the field that is wrong."""
    fields = {field.name: str(field.type) for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if data.get("schema") != schema:
        raise ValueError(f"schema is {data.get('schema')!r}, not {schema!r}")
    for name, value in data.items():
        if name not in fields:
            raise ValueError(f"unknown field '{name}'")
        if not isinstance(value, _kinds[fields[name]]):
            raise ValueError(f"field '{name}' is {value!r}")
    try:
        return kind(**data)
    except TypeError as problem:
        raise ValueError(str(problem)) from problem


def from_dict(data: dict[str, Any]) -> Record:
    record = checked(Record, SCHEMA, data)
    if record.side not in SIDES or record.collective not in COLLECTIVES:
        raise ValueError(f"no such cell: {record.collective}, {record.side}")
    return record


def read_lines(path: Path, parse: Callable[[dict[str, Any]], R]) -> list[R]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandError(f"cannot read '{path}': {problem}") from problem
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(parse(json.loads(line)))
        except (ValueError, AttributeError) as problem:
            raise CommandError(f"'{path}' line {number}: {problem}") from problem
    return found


def schema_of(path: Path) -> str:
    """Of the first record; an empty file has none."""
    schemas = read_lines(path, lambda data: str(data.get("schema")))
    return schemas[0] if schemas else ""


def read(path: Path) -> list[Record]:
    return read_lines(path, from_dict)


def append_lines(path: Path, lines: Iterable[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.writelines(line + "\n" for line in lines)
    except OSError as problem:
        raise CommandError(f"cannot write '{path}': {problem.strerror}") from problem


def append(path: Path, records: Iterable[Record]) -> None:
    append_lines(path, (record.line() for record in records))
