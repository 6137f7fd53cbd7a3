"""A machine's nodes and which of them are under the same switches, from its tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from hocket.topology.tree import Vertex

_inside = ("package", "numa", "l3", "core")


@dataclass(frozen=True)
class Shape:
    """Levels by name, innermost first. A slot is where a rank may be on a node."""

    nodes: tuple[str, ...]
    slots: int  # of each node; 0: nothing is known of their inside
    inside: dict[str, int]  # level in nodes -> slots of each of its groups
    above: dict[str, tuple[int, ...]]  # level of switches -> the group of each node

    @property
    def levels(self) -> tuple[str, ...]:
        return (*self.inside, "node", *self.above)


def _label(vertices: list[Vertex], height: int) -> str:
    """Words name their vertices leaf0, leaf1, ...; the names in files say nothing about levels."""
    labels = {re.sub(r"\d+$", "", vertex.name) for vertex in vertices}
    label = labels.pop() if len(labels) == 1 else ""
    return label if re.fullmatch(r"[a-z]+", label) else "leaf" if height == 1 else f"switch{height}"


def _paths(tree: Vertex) -> list[tuple[Vertex, list[Vertex]]]:
    """Each node with the switches below the root that it is under, from the outside to the inside."""
    found: list[tuple[Vertex, list[Vertex]]] = []
    waiting: list[tuple[Vertex, list[Vertex]]] = [(tree, [])]
    while waiting:
        vertex, above = waiting.pop()
        if vertex.kind == "node":
            found.append((vertex, above))
            continue
        path = above if vertex is tree else [*above, vertex]
        waiting.extend((child, path) for child in reversed(vertex.children))
    return found


def _numbered(groups: list[Vertex]) -> dict[int, int]:
    numbers: dict[int, int] = {}
    for group in groups:
        numbers.setdefault(id(group), len(numbers))
    return numbers


def _above(tree: Vertex, paths: list[tuple[Vertex, list[Vertex]]]) -> dict[str, tuple[int, ...]]:
    depth = max((len(path) for _, path in paths), default=0)
    levels: dict[str, tuple[int, ...]] = {}
    for height in range(1, depth + 1):
        # a node that hangs higher than others is alone with those that hang there
        groups = [path[: depth - height + 1][-1] if path else tree for _, path in paths]
        numbers = _numbered(groups)
        name = _label(groups, height)
        levels[name if name not in levels else f"switch{height}"] = tuple(
            numbers[id(group)] for group in groups
        )
    return levels


def _within(node: Vertex) -> tuple[int, dict[str, int]]:
    """Of a node whose parts are all alike; otherwise only its cores are known."""
    counts = {kind: sum(vertex.kind == kind for vertex in node.below()) for kind in _inside}
    present = [kind for kind in _inside if counts[kind]]
    slots = counts[present[-1]] if present else 0
    even = all(counts[inner] % counts[outer] == 0 for outer, inner in pairwise(present))
    sizes = {kind: slots // counts[kind] for kind in reversed(present)} if even else {}
    return slots, {kind: size for kind, size in sizes.items() if 1 < size < slots}


def of(tree: Vertex) -> Shape:
    paths = _paths(tree)
    within = [_within(node) for node, _ in paths]
    alike = within[0] if within and all(each == within[0] for each in within) else None
    slots, inside = alike or (min((each[0] for each in within), default=0), {})
    return Shape(tuple(node.name for node, _ in paths), slots, inside, _above(tree, paths))
