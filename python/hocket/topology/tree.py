"""A machine's tree, as the compiled part reads it."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hocket.core import core
from hocket.errors import CommandError
from hocket.topology import hwloc

_SYSTEM = "/sys/devices/system"


@dataclass
class Vertex:
    kind: str  # network, node, package, numa, l3 or core
    name: str
    children: list[Vertex] = field(default_factory=list)

    def below(self) -> Iterator[Vertex]:
        """Itself and all inside it, outermost first."""
        yield self
        for child in self.children:
            yield from child.below()

    def depth(self) -> int:
        return 1 + max((child.depth() for child in self.children), default=0)


def from_vertices(vertices: list[tuple[str, str, int]]) -> Vertex:
    made: list[Vertex] = []
    for kind, name, parent in vertices:
        made.append(Vertex(kind, name))
        if parent >= 0:
            made[parent].children.append(made[-1])
    return made[0]


def to_vertices(tree: Vertex) -> list[tuple[str, str, int]]:
    vertices: list[tuple[str, str, int]] = []

    def add(vertex: Vertex, parent: int) -> None:
        vertices.append((vertex.kind, vertex.name, parent))
        own = len(vertices) - 1
        for child in vertex.children:
            add(child, own)

    add(tree, -1)
    return vertices


@contextmanager
def told() -> Iterator[None]:
    """What the compiled part says of a text is for whoever has named it."""
    try:
        yield
    except RuntimeError as problem:
        raise CommandError(str(problem)) from problem


class Opened(NamedTuple):
    """What a tree is made of."""

    format: str
    text: bytes
    origin: str


def opened(source: str, format: str = "") -> Opened:
    """A file, or a description such as "leaf:4 node:4"."""
    with told():
        return Opened(*core().open_topology(source, format))


def of(source: Opened) -> Vertex:
    with told():
        if source.format == "hwloc":
            return from_vertices(hwloc.read_xml(source.text, source.origin))
        return from_vertices(core().read_topology(*source))


def read(source: str, format: str = "") -> Vertex:
    return of(opened(source, format))


def this_machine(format: str = "") -> Vertex:
    """Its inside, by hwloc if that is there."""
    if format not in ("", "sys", "hwloc"):
        raise CommandError(f"'{format}' needs a file; of this machine tell sys and hwloc")
    node = socket.gethostname()
    module = hwloc.needed() if format == "hwloc" else None if format == "sys" else hwloc.found()
    with told():
        return from_vertices(module.read_machine(node) if module else core().read_sysfs(_SYSTEM, node))


def save(tree: Vertex, path: Path) -> None:
    with told():
        text: str = core().write_topology(to_vertices(tree))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CommandError(f"'{path}' cannot be written: {problem.strerror}", 1) from problem


def numbers_of(tree: Vertex, hosts: list[str]) -> list[int | None]:
    """Of nodes by name, with or without domain: their places among all vertices, outermost first."""
    with told():
        found: list[int | None] = core().find_nodes(to_vertices(tree), hosts)
    return found


def find_nodes(tree: Vertex, hosts: list[str]) -> list[Vertex | None]:
    vertices = list(tree.below())
    return [None if number is None else vertices[number] for number in numbers_of(tree, hosts)]


def counts(tree: Vertex) -> Counter[str]:
    return Counter(vertex.kind for vertex in tree.below())
