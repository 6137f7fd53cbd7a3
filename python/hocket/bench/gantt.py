"""A timeline as a picture: one panel per scene, one row per rank, time to the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hocket.bench.timeline import Span, scenes
from hocket.bench.trace import title
from hocket.errors import CommandError

_colors = {
    "late": "#555555",
    "call": "#c0392b",
    "start": "#2060c0",
    "compute": "#9fd49f",
    "detour": "#111111",
    "test": "#8e44ad",
    "wait": "#e67e22",
}
_labels = {"late": "late", "call": "blocking call", "start": "start", "compute": "computation"}


def first_operations(spans: Iterable[Span], count: int) -> list[Span]:
    return [span for span in spans if span.operation < count]


def _same_scale(panels: Iterable[tuple[Any, tuple[str, str, int, str, str]]]) -> None:
    """Both forms on one side can be compared; another MPI may be slower by orders of magnitude."""
    sides: dict[tuple[str, str, int, str], list[Any]] = {}
    for axis, scene in panels:
        sides.setdefault(scene[:4], []).append(axis)
    for axes in sides.values():
        right = max(axis.get_xlim()[1] for axis in axes)
        for axis in axes:
            axis.set_xlim(0, right)


def _panel(axis: Any, name: str, spans: Sequence[Span]) -> None:
    ranks = sorted({span.rank for span in spans})
    begin = min(span.begin_us for span in spans)
    for kind, color in _colors.items():
        for rank in ranks:
            some = [span for span in spans if span.rank == rank and span.kind == kind]
            bars = [(span.begin_us - begin, span.us()) for span in some]
            axis.broken_barh(bars, (rank - 0.4, 0.8), facecolors=color, linewidth=0)
    axis.set_title(name, fontsize=9, loc="left")
    axis.set_yticks(ranks, [f"rank {rank}" for rank in ranks], fontsize=8)
    axis.invert_yaxis()
    axis.grid(True, axis="x", alpha=0.3)


def draw(spans: Sequence[Span], path: Path, operations: int = 6) -> None:
    """The first operations only: a picture of all of them would show none."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import patches, pyplot
    except ImportError as problem:
        raise CommandError("pictures need matplotlib: pip install 'hocket[bench]'", 1) from problem
    found = scenes(first_operations(spans, operations))
    if not found:
        raise CommandError("nothing to draw: no operation was recorded", 1)
    rows = max(len({span.rank for span in some}) for some in found.values())
    figure, axes = pyplot.subplots(
        *(len(found), 1), figsize=(11, (0.8 + 0.3 * rows) * len(found) + 1.2), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis, (scene, some) in zip(axes.flat, found.items(), strict=True):
        _panel(axis, title(scene), some)
    _same_scale(zip(axes.flat, found, strict=True))
    kinds = [kind for kind in _colors if any(span.kind == kind for span in spans)]
    handles = [patches.Patch(color=_colors[kind], label=_labels.get(kind, kind)) for kind in kinds]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), fontsize=8)
    figure.supxlabel("microseconds", fontsize=9)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
