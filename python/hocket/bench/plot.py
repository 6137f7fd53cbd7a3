"""The comparison as a figure: one panel per collective, time against size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hocket.bench import comparison
from hocket.bench.comparison import Cell
from hocket.bench.records import Record
from hocket.errors import CommandError

_columns = 4


def _line(axis: Any, records: Sequence[Record | None], label: str, style: str, color: str) -> None:
    points = [(r.bytes, r.median_us, r.p10_us, r.p90_us) for r in records if r]
    if not points:
        return
    sizes, medians, low, high = zip(*points, strict=True)
    axis.plot(sizes, medians, style, label=label, color=color, markersize=3, linewidth=1.2)
    axis.fill_between(sizes, low, high, color=color, alpha=0.15, linewidth=0)


def _panel(axis: Any, name: str, found: Sequence[Cell], colors: dict[tuple[str, int], str]) -> None:
    """One colour per MPI: dashed alone, solid with Hocket."""
    for (mpi, ranks), some in comparison.groups(found).items():
        color, label = colors[mpi, ranks], f"{mpi}, {ranks} ranks"
        _line(axis, [cell.untouched or cell.native for cell in some], label, "o--", color)
        _line(axis, [cell.hocket for cell in some], f"{label}, Hocket", "s-", color)
    axis.set_title(name, fontsize=9)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.grid(True, alpha=0.3)


def plot(found: Sequence[Cell], path: Path) -> None:
    """Median with the p10-p90 band; barrier has no size and is left to the tables."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as problem:
        raise CommandError("plots need matplotlib: pip install 'hocket[bench]'", 1) from problem
    panels = {name: some for name, some in comparison.by_collective(found).items() if name != "barrier"}
    if not panels:
        raise CommandError("nothing to plot: barrier has no size", 1)
    columns = min(_columns, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4 * columns + 2, 3 * rows), squeeze=False, layout="constrained"
    )
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_visible(False)
    colors = {group: f"C{number}" for number, group in enumerate(comparison.groups(found))}
    for axis, (name, some) in zip(axes.flat, panels.items(), strict=False):
        _panel(axis, name, some, colors)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside right upper")
    figure.supxlabel("bytes")
    figure.supylabel("microseconds per call, slowest rank")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
