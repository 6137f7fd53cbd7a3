"""A machine's tree as text: nodes of a switch in one line where nothing is known of their inside."""

from __future__ import annotations

from collections.abc import Iterator

from hocket.topology.placement import Placement, ranges
from hocket.topology.tree import Vertex

_most_named = 8  # nodes in one line


def _label(vertex: Vertex, placement: Placement) -> str:
    kind = "" if vertex.kind in ("network", "node") else f"{vertex.kind} "
    ranks = placement.get(vertex.name, []) if vertex.kind == "node" else []
    return f"{kind}{vertex.name}" + (f"  rank {ranges(ranks)}" if ranks else "")


def _is_bare(vertex: Vertex, placement: Placement) -> bool:
    return vertex.kind == "node" and not vertex.children and vertex.name not in placement


def _together(nodes: list[Vertex]) -> str:
    names = [node.name for node in nodes]
    if len(names) > _most_named:
        names = [*names[: _most_named - 2], "...", names[-1]]
    return f"{len(nodes)} nodes: {' '.join(names)}"


def _entries(vertex: Vertex, placement: Placement) -> list[tuple[str, Vertex | None]]:
    """What stands below a vertex: vertices, and then the bare nodes together."""
    bare = [child for child in vertex.children if _is_bare(child, placement)]
    if len(bare) < 2:
        return [(_label(child, placement), child) for child in vertex.children]
    shown = [child for child in vertex.children if not _is_bare(child, placement)]
    return [*((_label(child, placement), child) for child in shown), (_together(bare), None)]


def _below(vertex: Vertex, placement: Placement, indent: str) -> Iterator[str]:
    entries = _entries(vertex, placement)
    for i, (label, child) in enumerate(entries):
        is_last = i == len(entries) - 1
        yield f"{indent}{'└─ ' if is_last else '├─ '}{label}"
        if child:
            yield from _below(child, placement, indent + ("   " if is_last else "│  "))


def lines(tree: Vertex, placement: Placement) -> list[str]:
    return [_label(tree, placement), *_below(tree, placement, "")]
