"""On which node, and where on it, each rank is."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from hocket.errors import CommandError, unknown
from hocket.lab import jobs
from hocket.simulate import shape as shapes
from hocket.simulate.shape import Shape
from hocket.topology import placement as host_file
from hocket.topology import tree

WORDS = ("block", "cyclic", "scattered", "queue")


@dataclass(frozen=True)
class Placement:
    """Of each rank: the number of its node, and the slot on it."""

    nodes: tuple[int, ...]
    slots: tuple[int, ...]

    @property
    def ranks(self) -> int:
        return len(self.nodes)

    def used(self) -> set[int]:
        return set(self.nodes)


def _on(nodes: list[int], ranks: int, per_node: int) -> Placement:
    """One node after the other."""
    return Placement(
        tuple(nodes[rank // per_node] for rank in range(ranks)),
        tuple(rank % per_node for rank in range(ranks)),
    )


def _cyclic(shape: Shape) -> list[int]:
    """One node of each leaf in turn, as in the lab."""
    if not shape.above:
        return list(range(len(shape.nodes)))
    columns: dict[int, list[int]] = defaultdict(list)
    for node, leaf in enumerate(next(iter(shape.above.values()))):
        columns[leaf].append(node)
    longest = max(map(len, columns.values()))
    return [column[i] for i in range(longest) for column in columns.values() if i < len(column)]


def _scattered(shape: Shape, seed: int) -> list[int]:
    return random.Random(seed).sample(range(len(shape.nodes)), len(shape.nodes))


def ordered(shape: Shape, word: str, seed: int) -> list[int]:
    """All nodes, in the order in which a job of any size gets them."""
    if word == "cyclic":
        return _cyclic(shape)
    return _scattered(shape, seed) if word == "scattered" else list(range(len(shape.nodes)))


def per_node(shape: Shape, ranks: int, wanted: int) -> int:
    """What was asked for; else a rank for each core; else what fits."""
    most = wanted or shape.slots or -(-ranks // len(shape.nodes))
    needed = -(-ranks // most)
    if needed > len(shape.nodes):
        raise CommandError(
            f"{ranks} ranks, {most} on a node, need {needed} nodes, and this machine has {len(shape.nodes)}"
        )
    return most


def on_nodes(nodes: list[int], ranks: int, each: int) -> Placement:
    if len(nodes) * each < ranks:
        raise CommandError(f"{ranks} ranks, {each} on a node, do not fit on {len(nodes)} nodes")
    return _on(nodes, ranks, each)


def groups(shape: Shape, level: str, placed: Placement) -> list[int]:
    """The group of each rank."""
    if level in shape.above:
        of_node = shape.above[level]
        return [of_node[node] for node in placed.nodes]
    if level == "node":
        return list(placed.nodes)
    each = shape.inside[level]
    on_node = -(-max(shape.slots, max(placed.slots) + 1) // each)
    return [node * on_node + slot // each for node, slot in zip(placed.nodes, placed.slots, strict=True)]


Places = list[tuple[str, list[int]]]  # the group of each rank on levels by name, from the inside out


def places(shape: Shape, placed: Placement) -> Places:
    """What recipes follow: packages, nodes, and the switches above them, among others."""
    return [(level, groups(shape, level, placed)) for level in shape.levels]


def in_lab(shape: Shape, word: str, ranks: int, wanted_per_node: int) -> Placement:
    """As the lab places a job."""
    each = per_node(shape, ranks, wanted_per_node)
    return on_nodes(ordered(shape, word, jobs.SCATTER_SEED), ranks, each)


def of_job(topology: str, word: str, ranks: int, wanted_per_node: int) -> Places:
    """places() of a job on a machine as `hocket topo` reads it, placed as in the lab; nothing without one."""
    if word not in jobs.PLACEMENTS:
        raise unknown("placement", word, jobs.PLACEMENTS)
    if not topology:
        return []
    found = shapes.of(tree.read(topology, ""))
    return places(found, in_lab(found, word, ranks, wanted_per_node))


def of_file(shape: Shape, path: Path) -> Placement:
    """A host a line, in the order of ranks."""
    numbers = {name: number for number, name in enumerate(shape.nodes)}
    slots: dict[int, int] = defaultdict(int)
    nodes, on_node = [], []
    for rank, host in enumerate(host_file.read(path)):
        if host not in numbers:
            raise CommandError(f"rank {rank} is on '{host}', which is not in this machine")
        node = numbers[host]
        nodes.append(node)
        on_node.append(slots[node])
        slots[node] += 1
    return Placement(tuple(nodes), tuple(on_node))
