"""Trees of hocket-switch that follow a machine: which host runs which switch, who is above it, and which of
them the hosts are told.

A group of switches of the machine is one hocket-switch, on a host below it, so that what it combines stays
inside of the group. A group with one of them, or one host, below it adds nothing, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hocket.errors import CommandError
from hocket.topology.tree import Vertex, find_nodes

MOST_CHILDREN = 252  # of a switch: hocket-switch's --radix


@dataclass
class Switch:
    below: list[str | Switch]  # hosts, and other switches

    def hosts(self) -> Iterator[str]:
        """All below it."""
        for each in self.below:
            if isinstance(each, Switch):
                yield from each.hosts()
            else:
                yield each


@dataclass(frozen=True)
class Placed:
    """One that runs; `parent` is where the one above listens."""

    host: str
    port: int
    parent: str
    tree: int

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Plan:
    switches: list[Placed]  # parents first
    place_of: dict[str, str]  # of each host: its switch in each tree, with commas


def _joined(below: list[str | Switch], radix: int) -> str | Switch:
    """One switch above all of them, with others between where they are too many; of one alone, itself."""
    while len(below) > radix:
        count = -(-len(below) // radix)
        groups = [below[i * len(below) // count : (i + 1) * len(below) // count] for i in range(count)]
        below = [_joined(group, radix) for group in groups]
    return below[0] if len(below) == 1 else Switch(below)


def shaped(vertex: Vertex, wanted: set[str], radix: int) -> str | Switch | None:
    """What is below of the hosts that are wanted; nothing, where there are none."""
    if vertex.kind == "node":
        return vertex.name if vertex.name in wanted else None
    below = [each for child in vertex.children if (each := shaped(child, wanted, radix)) is not None]
    return _joined(below, radix) if below else None


def _checked(machine: Vertex, hosts: Sequence[str]) -> set[str]:
    """Of the machine's names; all, where none is named."""
    if not hosts:
        return {vertex.name for vertex in machine.below() if vertex.kind == "node"}
    found = find_nodes(machine, list(hosts))
    for host, vertex in zip(hosts, found, strict=True):
        if vertex is None:
            raise CommandError(f"'{host}' is not in this machine")
    return {vertex.name for vertex in found if vertex}


def plan(machine: Vertex, hosts: Sequence[str], radix: int, trees: int, port: int) -> Plan:
    """Each tree has the same shape, and runs on other hosts as far as there are others. Ports count up on
    each host."""
    found = shaped(machine, _checked(machine, hosts), radix)
    if found is None:
        raise CommandError("there are no nodes in this machine")
    root = found if isinstance(found, Switch) else Switch([found])
    used: dict[str, int] = {}
    switches: list[Placed] = []
    places: dict[str, list[str]] = {host: [] for host in root.hosts()}

    def run(switch: Switch, parent: str, tree: int) -> None:
        host = min(switch.hosts(), key=lambda one: used.get(one, 0))  # the first of those with the fewest
        used[host] = used.get(host, 0) + 1
        placed = Placed(host, port + used[host] - 1, parent, tree)
        switches.append(placed)
        for below in switch.below:
            if isinstance(below, Switch):
                run(below, placed.place, tree)
            else:
                places[below].append(placed.place)

    for tree in range(trees):
        run(root, "", tree)
    last = max(one.port for one in switches)
    if last > 65535:
        raise CommandError(f"ports from {port} on do not suffice: the last would be {last}")
    return Plan(switches, {host: ",".join(some) for host, some in places.items()})
