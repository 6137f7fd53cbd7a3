"""The comparison as a figure: one panel per collective, time against size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket.bench import comparison
from hocket.bench.comparison import Cell
from hocket.bench.records import Record
from hocket.errors import CommandError

_columns = 4


def _line(axis: object, records: Sequence[Record | None], label: str, style: str) -> None:
    points = [(r.bytes, r.median_us, r.p10_us, r.p90_us) for r in records if r]
    if not points:
        return
    sizes, medians, low, high = zip(*points, strict=True)
    drawn = axis.plot(sizes, medians, style, label=label, markersize=3)  # type: ignore[attr-defined]
    axis.fill_between(sizes, low, high, color=drawn[0].get_color(), alpha=0.2, linewidth=0)  # type: ignore[attr-defined]


def _panel(axis: object, name: str, found: Sequence[Cell]) -> None:
    for (mpi, _), some in comparison.groups(found).items():
        _line(axis, [cell.untouched or cell.native for cell in some], mpi, "o--")
        _line(axis, [cell.hocket for cell in some], f"{mpi} + Hocket", "s-")
    axis.set_title(name, fontsize=9)  # type: ignore[attr-defined]
    axis.loglog(base=2)  # type: ignore[attr-defined]
    axis.grid(True, alpha=0.3)  # type: ignore[attr-defined]


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
    figure, axes = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_visible(False)
    for axis, (name, some) in zip(axes.flat, panels.items(), strict=False):
        _panel(axis, name, some)
    axes[0][0].legend(fontsize=7)
    figure.supxlabel("bytes")
    figure.supylabel("microseconds per call, slowest rank")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
