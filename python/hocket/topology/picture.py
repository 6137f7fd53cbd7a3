"""A machine's tree as a picture: a row of boxes for each level, as wide as what is inside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hocket.errors import CommandError
from hocket.topology.placement import Placement, ranges
from hocket.topology.tree import Vertex

_colors = {
    "network": "#7a9cc6",
    "node": "#bfd7b5",
    "package": "#e8d8a0",
    "numa": "#eac8a0",
    "l3": "#e6b8a2",
    "core": "#dddddd",
}
_with_ranks = "#5b9e4d"
_inches_per_leaf = 0.32
_least_text = 0.9  # inches of a box for its name to be written along it


def _leaves(vertex: Vertex) -> int:
    return sum(_leaves(child) for child in vertex.children) or 1


def _box(axis: Any, vertex: Vertex, place: tuple[int, int, int], scale: float, placement: Placement) -> None:
    left, width, depth = place
    ranks = placement.get(vertex.name, []) if vertex.kind == "node" else []
    color = _with_ranks if ranks else _colors[vertex.kind]
    axis.barh(-depth, width, left=left, height=0.92, color=color, edgecolor="white", linewidth=1)
    text = vertex.name + (f"\n{ranges(ranks)}" if ranks else "")
    along = width * scale >= _least_text
    axis.text(
        left + width / 2,
        -depth,
        text,
        ha="center",
        va="center",
        fontsize=7 if along or width * scale > 0.12 else 3,
        rotation=0 if along else 90,
        clip_on=True,
    )


def _boxes(axis: Any, vertex: Vertex, left: int, depth: int, scale: float, placement: Placement) -> None:
    _box(axis, vertex, (left, _leaves(vertex), depth), scale, placement)
    for child in vertex.children:
        _boxes(axis, child, left, depth + 1, scale, placement)
        left += _leaves(child)


def draw(tree: Vertex, placement: Placement, path: Path) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as problem:
        raise CommandError("pictures need matplotlib: pip install 'hocket[bench]'", 1) from problem
    width = min(max(_leaves(tree) * _inches_per_leaf, 4.0), 60.0)
    figure, axis = pyplot.subplots(figsize=(width, 0.7 * tree.depth() + 0.3), layout="constrained")
    _boxes(axis, tree, 0, 0, width / _leaves(tree), placement)
    axis.set_xlim(0, _leaves(tree))
    axis.set_axis_off()
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as problem:
        raise CommandError(f"the picture cannot be written: {problem}", 1) from problem
    finally:
        pyplot.close(figure)
