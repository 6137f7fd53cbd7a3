"""A machine's tree, as the compiled part reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hocket.core import core
from hocket.errors import CommandError

FORMATS = ("ibnetdiscover", "slurm", "racks", "tree", "synthetic")


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


def format_of(text: str) -> str:
    """By what a file looks like."""
    if re.search(r"^Switch\s+\d+\s+\"", text, re.MULTILINE):
        return "ibnetdiscover"
    if re.search(r"^\s*SwitchName\s*=", text, re.MULTILINE | re.IGNORECASE):
        return "slurm"
    if re.match(r"(network|node) ", text):
        return "tree"
    return "racks"


def read(source: str, format: str = "") -> Vertex:
    """A file's, or that of a description such as "leaf:4 node:4"."""
    if format and format not in FORMATS:
        raise CommandError(f"unknown format '{format}'; there are {', '.join(FORMATS)}")
    path = Path(source)
    if format == "synthetic" or (not format and not path.is_file()):
        if ":" not in source:
            raise CommandError(f"'{source}' is no file, and no machine such as 'leaf:4 node:4'")
        return _parsed("synthetic", source, "")
    try:
        text = path.read_text(errors="replace")
    except OSError as problem:
        raise CommandError(f"'{source}' cannot be read: {problem.strerror}") from problem
    return _parsed(format or format_of(text), text, source)


def _parsed(format: str, text: str, origin: str) -> Vertex:
    try:
        return from_vertices(core().read_topology(format, text, origin))
    except RuntimeError as problem:
        raise CommandError(str(problem)) from problem


def counts(tree: Vertex) -> Counter[str]:
    return Counter(vertex.kind for vertex in tree.below())
