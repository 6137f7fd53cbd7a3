"""A machine's tree as text: nodes of a switch in one line where nothing is known of their inside."""

from __future__ import annotations

from hocket import branches
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


_Entry = tuple[str, Vertex | None]  # its line; none of several nodes together


def _entries(vertex: Vertex | None, placement: Placement) -> list[_Entry]:
    """What stands below a vertex: vertices, and then the bare nodes together."""
    children = vertex.children if vertex else []
    bare = [child for child in children if _is_bare(child, placement)]
    if len(bare) < 2:
        return [(_label(child, placement), child) for child in children]
    shown = [child for child in children if not _is_bare(child, placement)]
    return [*((_label(child, placement), child) for child in shown), (_together(bare), None)]


def lines(tree: Vertex, placement: Placement) -> list[str]:
    def label(entry: _Entry) -> str:
        return entry[0]

    def below(entry: _Entry) -> list[_Entry]:
        return _entries(entry[1], placement)

    return [_label(tree, placement), *branches.lines(_entries(tree, placement), label, below)]
