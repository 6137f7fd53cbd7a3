"""A tree as text: a line for each vertex, with branches before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Vertex = TypeVar("Vertex")


def lines(
    vertices: Sequence[Vertex],
    label: Callable[[Vertex], str],
    below: Callable[[Vertex], Sequence[Vertex]],
    indent: str = "",
) -> Iterator[str]:
    """Of vertices that hang below the same one, and all below them."""
    for i, vertex in enumerate(vertices):
        is_last = i == len(vertices) - 1
        yield f"{indent}{'└─ ' if is_last else '├─ '}{label(vertex)}"
        yield from lines(below(vertex), label, below, indent + ("   " if is_last else "│  "))
