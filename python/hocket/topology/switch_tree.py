"""Trees of hocket-switch that follow a machine: which host runs which switch, who is above it, and which of them
the hosts are told.

A group of switches of the machine is one hocket-switch, on a host below it, so that what it combines stays inside
of the group. A group of one inside of another adds nothing, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hocket.errors import CommandError
from hocket.topology.tree import Vertex, find_nodes

MOST_CHILDREN = 252  # of a switch: hocket-switch's --radix


@dataclass
class Switch:
    hosts: list[str] = field(default_factory=list)  # directly below
    below: list[Switch] = field(default_factory=list)

    def all_hosts(self) -> Iterator[str]:
        yield from self.hosts
        for switch in self.below:
            yield from switch.all_hosts()


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


def _groups(items: Sequence[Switch], radix: int) -> list[list[Switch]]:
    """As few as possible, of the same size but for one."""
    count = -(-len(items) // radix)
    return [list(items[i * len(items) // count : (i + 1) * len(items) // count]) for i in range(count)]


def _leaves(hosts: Sequence[str], radix: int) -> list[Switch]:
    count = -(-len(hosts) // radix)
    return [Switch(list(hosts[i * len(hosts) // count : (i + 1) * len(hosts) // count])) for i in range(count)]


def _joined(switches: list[Switch], radix: int) -> Switch:
    """One above all of them, with others between where they are too many."""
    while len(switches) > radix:
        switches = [Switch(below=group) for group in _groups(switches, radix)]
    return switches[0] if len(switches) == 1 else Switch(below=switches)


def shaped(vertex: Vertex, wanted: set[str], radix: int) -> Switch | None:
    """Of the hosts that are wanted; nothing, where there are none below."""
    hosts = [child.name for child in vertex.children if child.kind == "node" and child.name in wanted]
    below = [
        switch
        for child in vertex.children
        if child.kind == "network" and (switch := shaped(child, wanted, radix)) is not None
    ]
    if not hosts:
        return _joined(below, radix) if below else None
    if not below:
        return _joined(_leaves(hosts, radix), radix)
    if len(hosts) + len(below) <= radix:
        return Switch(hosts, below)
    return _joined([*below, *_leaves(hosts, radix)], radix)


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
    """Each tree has the same shape, and runs on other hosts as far as there are others. Ports count up on each
    host."""
    root = shaped(machine, _checked(machine, hosts), radix)
    if root is None:
        raise CommandError("there are no nodes in this machine")
    used: dict[str, int] = {}
    switches: list[Placed] = []
    places: dict[str, list[str]] = {host: [] for host in root.all_hosts()}

    def run(switch: Switch, parent: str, tree: int) -> None:
        host = min(switch.all_hosts(), key=lambda one: used.get(one, 0))  # the first of those with the fewest
        used[host] = used.get(host, 0) + 1
        placed = Placed(host, port + used[host] - 1, parent, tree)
        switches.append(placed)
        for below in switch.below:
            run(below, placed.place, tree)
        for one in switch.hosts:
            places[one].append(placed.place)

    for tree in range(trees):
        run(root, "", tree)
    last = max(one.port for one in switches)
    if last > 65535:
        raise CommandError(f"ports from {port} on do not suffice: the last would be {last}")
    return Plan(switches, {host: ",".join(some) for host, some in places.items()})
