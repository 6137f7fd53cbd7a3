"""A group of cells as a panel: time against size, one line for each side, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.bench.topology_cells import Cell, Group
from hocket.errors import CommandError

_columns = 2


@dataclass(frozen=True)
class Panel:
    title: str
    cells: Sequence[Cell]


def _sides(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(side.name for cell in cells for side in cell.sides))


def _line(axis: Any, cells: Sequence[Cell], name: str, **look: Any) -> None:
    found = [(cell.bytes, side) for cell in cells if (side := cell.named(name)) and side.valid]
    sizes = [size for size, _ in found]
    axis.plot(sizes, [side.median_us for _, side in found], markersize=3, linewidth=1.2, **look)
    low, high = [side.least_us for _, side in found], [side.most_us for _, side in found]
    axis.fill_between(sizes, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _look(name: str, ours: Sequence[str], natives: Sequence[str]) -> dict[str, Any]:
    """Hocket in colours, the MPI's choice in black, what it is forced to in greys."""
    if name in ours:
        return {"color": f"C{ours.index(name)}", "marker": "s", "linestyle": "-"}
    if name == "native":
        return {"color": "black", "marker": "o", "linestyle": "--"}
    marker = "ov^<>xdP*"[natives.index(name) % 9]
    return {"color": "0.6", "marker": marker, "linestyle": ":"}


def _draw_panel(axis: Any, panel: Panel, names: Sequence[str]) -> None:
    ours = [name for name in names if name.startswith("hocket")]
    natives = [name for name in names if name not in ours]
    for name in names:
        if any(cell.named(name) for cell in panel.cells):
            _line(axis, panel.cells, name, label=name, **_look(name, ours, natives))
    bounds = [(cell.bytes, bound) for cell in panel.cells if (bound := cell.bound_us())]
    if bounds:
        axis.plot(*zip(*bounds, strict=True), color="black", linestyle="-.", linewidth=0.8, label="bound")
    axis.set_title(panel.title, fontsize=9)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.grid(True, alpha=0.3)


def panels(groups: dict[Group, list[Cell]], title: Any) -> list[Panel]:
    return [Panel(title(group), cells) for group, cells in groups.items() if cells[-1].bytes]


def draw(found: Sequence[Panel], path: Path) -> None:
    """Medians of the runs, with a band from the least to the greatest."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as problem:
        raise CommandError("plots need matplotlib: pip install 'hocket[bench]'", 1) from problem
    columns = min(_columns, len(found))
    rows = -(-len(found) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4.6 * columns + 2.4, 3 * rows), squeeze=False, layout="constrained"
    )
    for axis in list(axes.flat)[len(found) :]:
        axis.set_visible(False)
    names = _sides([cell for panel in found for cell in panel.cells])
    legend: dict[str, Any] = {}
    for axis, panel in zip(axes.flat, found, strict=False):
        _draw_panel(axis, panel, names)
        handles, labels = axis.get_legend_handles_labels()
        legend |= dict(zip(labels, handles, strict=True))
    figure.legend(list(legend.values()), list(legend), fontsize=8, loc="outside right upper")
    figure.supxlabel("bytes")
    figure.supylabel("microseconds per call, slowest rank")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
