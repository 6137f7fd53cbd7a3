"""LogGP parameters per pair of levels as a value and as a file of JSON. Times are nanoseconds."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hocket.errors import CommandError, why

SCHEMA = "hocket-loggp-1"


@dataclass(frozen=True)
class Protocol:
    """Of messages from `from_bytes` on; an MPI changes its protocol with the size."""

    from_bytes: int
    L: float  # latency of the network
    o: float  # CPU time of a sender, and of a receiver
    g: float  # between the starts of two messages of one byte
    G: float  # per further byte
    O: float = 0.0  # noqa: E741 - CPU time per further byte


@dataclass(frozen=True)
class Level:
    name: str
    ranks: int  # consecutive ranks that are this near to each other; 0: all
    shared_memory: bool
    protocols: tuple[Protocol, ...]
    both_ways: float = (
        1.0  # time per byte of large messages while as much comes as goes, over that of one way
    )


@dataclass(frozen=True)
class Parameters:
    levels: tuple[Level, ...]  # from the nearest to the farthest
    copy: float  # per byte
    reduce: float  # per byte and pair of operands
    date: str = ""
    cpu: str = ""
    cores: int = 0
    mpi: str = ""
    mpi_version: str = ""
    pretended_node_size: int = 0  # ranks that were taken for a node; 0: real nodes
    link: str = ""  # bench.machine.link()
    topology: str = ""  # of a whole machine: hocket.simulate.machine reads these two
    links: dict[str, Any] = field(default_factory=dict)
    schema: str = SCHEMA

    def network(self) -> dict[str, Any]:
        """What the compiled part takes."""
        return dataclasses.asdict(self)

    def across_nodes(self, ranks: int) -> bool:
        """Whether that many ranks do not all share memory."""
        return not any(level.shared_memory and (level.ranks or ranks) >= ranks for level in self.levels)

    def with_nodes_of(self, ranks: int) -> Parameters:
        """The same machine with that many ranks on a node."""
        near = [level for level in self.levels if level.shared_memory]
        far = [level for level in self.levels if not level.shared_memory]
        if not near or not far:
            raise CommandError("these parameters do not hold both a node and what is between nodes")
        groups = [dataclasses.replace(level, ranks=math.gcd(level.ranks, ranks)) for level in near[:-1]]
        node = dataclasses.replace(near[-1], ranks=ranks)
        return dataclasses.replace(self, levels=(*groups, node, *far))

    def origin(self) -> str:
        if not self.mpi:
            return "default parameters, assumed and not measured"
        told = f"{self.mpi} {self.mpi_version} on {self.cpu}, {self.date[:10]}"
        if self.pretended_node_size:
            told += f", {self.pretended_node_size} ranks taken for a node"
        if self.link:
            told += f", over a loopback device of {self.link}"
        if self.levels[-1].shared_memory:
            told += ", nothing was measured between nodes"
        return told


def _level(name: str, ranks: int, shared_memory: bool, protocol: Protocol) -> Level:
    return Level(name, ranks, shared_memory, (protocol,))


# Round numbers of a cluster with 100 Gbit/s between nodes, for `explain` where nothing has been measured.
DEFAULTS = Parameters(
    levels=(
        _level("cache", 8, True, Protocol(0, L=200, o=100, g=120, G=0.1)),
        _level("node", 32, True, Protocol(0, L=400, o=120, g=150, G=0.12)),
        _level("network", 0, False, Protocol(0, L=1200, o=300, g=350, G=0.08)),
    ),
    copy=0.1,
    reduce=0.15,
)


def from_dict(data: dict[str, Any]) -> Parameters:
    """Throws ValueError naming what is wrong."""
    if data.get("schema") != SCHEMA:
        raise ValueError(f"schema is {data.get('schema')!r}, not {SCHEMA!r}")
    try:
        levels = tuple(
            Level(**{**level, "protocols": tuple(Protocol(**each) for each in level["protocols"])})
            for level in data["levels"]
        )
        return Parameters(**{**data, "levels": levels})
    except (KeyError, TypeError) as problem:
        raise ValueError(f"not LogGP parameters: {problem}") from problem


def read(path: Path) -> Parameters:
    try:
        return from_dict(json.loads(path.read_text()))
    except (OSError, ValueError, AttributeError) as problem:
        raise CommandError(f"cannot read '{path}': {why(problem)}") from problem


def write(path: Path, parameters: Parameters) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dataclasses.asdict(parameters), indent=2) + "\n")
    except OSError as problem:
        raise CommandError(f"cannot write '{path}': {problem.strerror}") from problem
