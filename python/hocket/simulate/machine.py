"""A machine in a file of JSON: its topology, LogGP parameters per level, and the links that ranks share.

It is the file that `hocket loggp --out` writes, with a topology and links. docs/simulation.md describes it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from hocket.errors import CommandError, why
from hocket.loggp import parameters
from hocket.loggp.parameters import Level, Protocol
from hocket.simulate import shape
from hocket.simulate.shape import Shape
from hocket.topology import tree

FARTHEST = "all"  # the level that holds everything
_rate_units = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
_most_ns = 1e15  # more than ten days is no latency


@dataclass(frozen=True)
class Link:
    """What all ranks of a group share on the way out, and once more on the way in."""

    rate: float  # bits per second
    efficiency: float = 1.0  # the part of it that is not headers
    gap_ns: float = 0.0  # between two messages

    def per_byte(self) -> float:
        """Nanoseconds."""
        return 8e9 / (self.rate * self.efficiency)


@dataclass(frozen=True)
class Switches:
    """That reduce: one in each group of the levels that hold nodes."""

    latency_ns: float  # of each, whenever data pass it: up, down, and once at the top
    rate: float = math.inf  # bits per second that each adds; infinite: as fast as they come

    def per_byte(self) -> float:
        """Nanoseconds."""
        return 8e9 / self.rate


# Of no measurement: it is to be of the order of a switch's own latency, beside which adding takes little.
ASSUMED_SWITCHES = Switches(200.0)


@dataclass(frozen=True)
class Machine:
    shape: Shape
    levels: tuple[Level, ...]  # innermost first; the last is FARTHEST
    links: dict[str, Link]
    copy: float
    reduce: float
    origin: str = ""
    switches: Switches | None = None

    def level(self, name: str) -> Level:
        return next(level for level in self.levels if level.name == name)


def _number(value: object, what: str, most: float = _most_ns) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} is {value!r}, and no number")
    if not (math.isfinite(value) and 0 <= value <= most):
        raise ValueError(f"{what} is {value!r}, and must be from 0 to {most:g}")
    return float(value)


def _whole(value: object, what: str) -> int:
    number = _number(value, what, 2**53)
    if not isinstance(value, int):
        raise ValueError(f"{what} is {value!r}, and no whole number")
    return int(number)


def _dict(value: object, what: str, needed: set[str], allowed: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object, and is {type(value).__name__}")
    for name in needed - value.keys():
        raise ValueError(f"{what} lacks '{name}'")
    for name in value.keys() - needed - allowed:
        raise ValueError(f"{what} has '{name}'; there are {', '.join(sorted(needed | allowed))}")
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{what} must be a list that is not empty")
    return value


def parse_rate(text: object) -> float:
    """Bits per second of 100gbit or 2.5 Gbit."""
    matched = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*([kmgt]?bit)(?:/s)?", str(text).strip().lower())
    rate = float(matched[1]) * _rate_units[matched[2]] if matched else 0.0
    if not rate:
        raise ValueError(f"'{text}' is not a rate such as 100mbit or 25gbit")
    return rate


def _link(value: object, name: str) -> Link:
    d = _dict(value, f"link {name}", {"rate"}, {"efficiency", "gap_ns"})
    efficiency = _number(d.get("efficiency", 1.0), f"efficiency of link {name}", 1)
    if not efficiency:
        raise ValueError(f"efficiency of link {name} is 0")
    return Link(parse_rate(d["rate"]), efficiency, _number(d.get("gap_ns", 0.0), f"gap_ns of link {name}"))


def _links(value: object) -> dict[str, Link]:
    if not isinstance(value, dict):
        raise ValueError(f"links must be an object, and is {type(value).__name__}")
    return {name: _link(each, str(name)) for name, each in value.items()}


def _switches(value: object) -> Switches | None:
    if value is None:
        return None
    d = _dict(value, "switches", {"latency_ns"}, {"rate"})
    rate = parse_rate(d["rate"]) if "rate" in d else math.inf
    return Switches(_number(d["latency_ns"], "latency_ns of switches"), rate)


def _protocol(value: object, level: str) -> Protocol:
    what = f"a protocol of level {level}"
    d = _dict(value, what, {"from_bytes", "L", "o", "g", "G"}, {"O"})
    times = {
        name: _number(d.get(name, 0.0), f"{name} of level {level}") for name in ("L", "o", "g", "G", "O")
    }
    return Protocol(from_bytes=_whole(d["from_bytes"], f"from_bytes of level {level}"), **times)


def _level(value: object) -> Level:
    d = _dict(value, "a level", {"name", "protocols"}, {"ranks", "shared_memory", "both_ways"})
    name = d["name"]
    if not isinstance(name, str) or not re.fullmatch(r"[a-z]\w{0,40}", name):
        raise ValueError(f"{name!r} is no name of a level")
    found = tuple(_protocol(each, name) for each in _list(d["protocols"], f"protocols of level {name}"))
    sizes = [protocol.from_bytes for protocol in found]
    if sizes[0] != 0 or sorted(set(sizes)) != sizes:
        raise ValueError(f"protocols of level {name} must begin with from_bytes 0, and grow")
    shared = d.get("shared_memory", name == "node")
    if not isinstance(shared, bool):
        raise ValueError(f"shared_memory of level {name} is {shared!r}, and neither true nor false")
    return Level(name, _whole(d.get("ranks", 0), f"ranks of level {name}"), shared, found)


def _named(levels: list[Level]) -> dict[str, Level]:
    named = {level.name: level for level in levels}
    if len(named) != len(levels):
        raise ValueError("two levels have the same name")
    return named


def _with_groups_of_slots(found: Shape, levels: list[Level]) -> Shape:
    """What `hocket loggp` knows of the inside of nodes: caches of so many consecutive ranks."""
    inside = dict(found.inside)
    for level in levels:
        if level.name not in found.levels and level.ranks > 1 and level is not levels[-1]:
            inside[level.name] = level.ranks
    sizes = sorted(inside.items(), key=lambda item: item[1])
    for (inner, small), (outer, large) in pairwise(sizes):
        if large % small:
            raise ValueError(f"groups of {outer} ({large} ranks) do not hold whole ones of {inner} ({small})")
    return dataclasses.replace(found, inside=dict(sizes))


def _in_order(found: Shape, levels: list[Level], links: dict[str, Link]) -> tuple[Level, ...]:
    """The level that no group of the topology stands for is the farthest. Nodes and switches of which nothing
    is said are as near as the next level outside."""
    named = _named(levels)
    others = [name for name in named if name not in found.levels]
    if len(others) != 1:
        raise ValueError(
            f"levels must be of the topology ({', '.join(found.levels)}) and one more, '{FARTHEST}'; "
            f"beside them there are: {', '.join(others) or 'none'}"
        )
    for name in links.keys() - set(found.levels):
        raise ValueError(f"link {name} is of no level of the topology ({', '.join(found.levels)})")
    ordered = [dataclasses.replace(named[others[0]], name=FARTHEST, ranks=0)]
    for name in reversed(found.levels):
        if name in named or name in links or name not in found.inside:
            ordered.append(dataclasses.replace(named.get(name, ordered[-1]), name=name))
    return tuple(reversed(ordered))


def _shape(topology: object, folder: Path) -> Shape:
    if not isinstance(topology, str) or not topology.strip():
        raise ValueError("'topology' must be words such as 'leaf:4 node:4 core:2', or the name of a file")
    file = folder / topology
    try:
        return shape.of(tree.read(str(file) if ":" not in topology and file.is_file() else topology))
    except OSError as problem:
        raise ValueError(f"topology: {problem}") from problem


_told = {field.name for field in dataclasses.fields(parameters.Parameters)} | {"switches"}


def from_dict(data: object, folder: Path = Path(), origin: str = "") -> Machine:
    """Throws ValueError, or CommandError for the topology, naming what is wrong."""
    d = _dict(data, "a machine", {"schema", "topology", "levels"}, _told)
    if d["schema"] != parameters.SCHEMA:
        raise ValueError(f"schema is {d['schema']!r}, not {parameters.SCHEMA!r}")
    links = _links(d.get("links", {}))
    levels = [_level(each) for each in _list(d["levels"], "levels")]
    found = _with_groups_of_slots(_shape(d["topology"], folder), levels)
    if not found.nodes:
        raise ValueError("the topology has no node")
    copy, reduce = (_number(d.get(name, 0.0), name) for name in ("copy", "reduce"))
    switches = _switches(d.get("switches"))
    return Machine(found, _in_order(found, levels, links), links, copy, reduce, origin, switches)


def read(path: Path) -> Machine:
    try:
        return from_dict(json.loads(path.read_text()), path.parent, str(path))
    except (OSError, ValueError, RecursionError, CommandError) as problem:
        raise CommandError(f"cannot read the machine '{path}': {why(problem)}") from problem


def of_words(words: str) -> Machine:
    """With the parameters that are assumed where nothing is measured, and one card of 100 Gbit/s per node."""
    assumed = {level.name: level for level in parameters.DEFAULTS.levels}
    d = {
        "schema": parameters.SCHEMA,
        "topology": words,
        "levels": [_as_dict(assumed["node"], "node"), _as_dict(assumed["network"], FARTHEST)],
        "links": {"node": {"rate": "100gbit"}},
        "copy": parameters.DEFAULTS.copy,
        "reduce": parameters.DEFAULTS.reduce,
    }
    try:
        return from_dict(d, origin=f"{words}, parameters assumed and not measured")
    except ValueError as problem:
        raise CommandError(f"'{words}': {problem}") from problem


def of_parameters(topology: str, measured: parameters.Parameters) -> Machine:
    """A machine of which something else tells the tree, as LogGP parameters see it: what is between nodes is
    their last level, the inside of nodes the last one that shares memory."""
    between = measured.levels[-1]
    if between.shared_memory:
        raise CommandError("these parameters say nothing of what is between nodes")
    inside = [level for level in measured.levels[:-1] if level.shared_memory]
    levels = [
        *(_as_dict(level, level.name) for level in inside[:-1]),
        *(_as_dict(level, "node") for level in inside[-1:]),
        *(_as_dict(level, level.name) for level in measured.levels[:-1] if level not in inside),
        _as_dict(between, FARTHEST),
    ]
    d = {
        **{"schema": parameters.SCHEMA, "topology": topology, "levels": levels},
        **{"copy": measured.copy, "reduce": measured.reduce},
    }
    try:
        return from_dict(d, origin=measured.origin())
    except ValueError as problem:
        raise CommandError(f"'{topology}': {problem}") from problem


def with_switches(machine: Machine) -> Machine:
    """Assumed ones, where nothing is said of any."""
    if machine.switches:
        return machine
    origin = f"{machine.origin}; switches that reduce assumed"
    return dataclasses.replace(machine, switches=ASSUMED_SWITCHES, origin=origin)


def _as_dict(level: Level, name: str) -> dict[str, Any]:
    protocols = [dataclasses.asdict(each) for each in level.protocols]
    return {
        "name": name,
        "ranks": level.ranks,
        "protocols": protocols,
        "shared_memory": level.shared_memory,
    }


def named(source: str) -> Machine:
    """Of a file, or of words."""
    return of_words(source) if ":" in source and not Path(source).is_file() else read(Path(source))
