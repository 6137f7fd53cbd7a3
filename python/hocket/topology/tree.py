"""A machine's tree, as the compiled part reads it."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

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
def _told() -> Iterator[None]:
    """What the compiled part says of a text is for whoever has named it."""
    try:
        yield
    except RuntimeError as problem:
        raise CommandError(str(problem)) from problem


def read(source: str, format: str = "") -> Vertex:
    """A file's, or that of a description such as "leaf:4 node:4"."""
    with _told():
        format, text, origin = core().open_topology(source, format)
        if format == "hwloc":
            return from_vertices(hwloc.needed().read_xml(text, origin))
        return from_vertices(core().read_topology(format, text, origin))


def this_machine(format: str = "") -> Vertex:
    """Its inside, by hwloc if that is there."""
    if format not in ("", "sys", "hwloc"):
        raise CommandError(f"'{format}' needs a file; of this machine tell sys and hwloc")
    node = socket.gethostname()
    module = hwloc.needed() if format == "hwloc" else None if format == "sys" else hwloc.found()
    with _told():
        return from_vertices(module.read_machine(node) if module else core().read_sysfs(_SYSTEM, node))


def save(tree: Vertex, path: Path) -> None:
    with _told():
        text: str = core().write_topology(to_vertices(tree))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CommandError(f"'{path}' cannot be written: {problem.strerror}", 1) from problem


def find_nodes(tree: Vertex, hosts: list[str]) -> list[Vertex | None]:
    """By name, with or without domain."""
    vertices = list(tree.below())
    with _told():
        found: list[int | None] = core().find_nodes(to_vertices(tree), hosts)
    return [None if number is None else vertices[number] for number in found]


def counts(tree: Vertex) -> Counter[str]:
    return Counter(vertex.kind for vertex in tree.below())
