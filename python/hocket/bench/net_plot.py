"""Reduction in the network as pictures: latency by size, bytes on a node's link, and the three stages of a
call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hocket.bench.net_cells import CHOICE, Cell, Group, Side
from hocket.bench.net_stages import STAGES, Call
from hocket.bench.net_traffic import Traffic, is_judged, ring
from hocket.errors import CommandError
from hocket.quantities import format_bytes

_columns = 2
_least_sizes = 3  # that a line is drawn of


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as problem:
        raise CommandError("plots need matplotlib: pip install 'hocket[bench]'", 1) from problem
    return pyplot


def _saved(pyplot: Any, figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


# Latency by size

_Pick = Callable[[Cell], Side | None]
_lines: tuple[tuple[str, _Pick, dict[str, Any]], ...] = (
    (
        "in the network",
        lambda cell: cell.best(lambda side: side.aggregates and side.streaming),
        {"color": "C0", "marker": "s", "linestyle": "-"},
    ),
    (
        "in the network, small mode",
        lambda cell: cell.best(lambda side: side.aggregates and not side.streaming),
        {"color": "C2", "marker": "^", "linestyle": "-"},
    ),
    ("the MPI, its best", Cell.best_native, {"color": "0.5", "marker": "o", "linestyle": "--"}),
    ("the MPI, its choice", lambda cell: cell.named(CHOICE),
     {"color": "black", "marker": "v", "linestyle": ":"}),
)  # fmt: skip
_bounds: tuple[tuple[str, Callable[[Cell], float], dict[str, Any]], ...] = (
    ("bound of a ring", Cell.ring_us, {"color": "0.5", "linestyle": "-."}),
    ("line rate", Cell.line_us, {"color": "C0", "linestyle": "-."}),
)


def _draw_line(axis: Any, cells: Sequence[Cell], pick: _Pick, **look: Any) -> None:
    found = [(cell.bytes, side) for cell in cells if (side := pick(cell)) and side.valid]
    if not found:
        return
    sizes = [size for size, _ in found]
    axis.plot(sizes, [side.median_us for _, side in found], markersize=3, linewidth=1.2, **look)
    low, high = [side.least_us for _, side in found], [side.most_us for _, side in found]
    axis.fill_between(sizes, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _draw_latency(axis: Any, group: Group, cells: Sequence[Cell]) -> None:
    for label, pick, look in _lines:
        _draw_line(axis, cells, pick, label=label, **look)
    for label, bound, look in _bounds:
        points = [(cell.bytes, bound(cell)) for cell in cells if cell.bytes >= 1 << 10]
        if points:
            axis.plot(*zip(*points, strict=True), label=label, linewidth=0.8, **look)
    axis.set_title(str(group), fontsize=8)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.grid(True, alpha=0.3)


def latencies(groups: dict[Group, list[Cell]]) -> dict[Group, list[Cell]]:
    """Those that make a picture."""
    return {group: cells for group, cells in groups.items() if len(cells) >= _least_sizes and cells[-1].bytes}


def draw_latencies(groups: dict[Group, list[Cell]], path: Path) -> None:
    """Medians of the runs, with a band from the least to the greatest."""
    pyplot = _pyplot()
    columns = min(_columns, len(groups))
    rows = -(-len(groups) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(5 * columns + 2.4, 3.2 * rows), squeeze=False, layout="constrained"
    )
    legend: dict[str, Any] = {}
    for axis in list(axes.flat)[len(groups) :]:
        axis.set_visible(False)
    for axis, (group, cells) in zip(axes.flat, groups.items(), strict=False):
        _draw_latency(axis, group, cells)
        handles, labels = axis.get_legend_handles_labels()
        legend |= dict(zip(labels, handles, strict=True))
    figure.legend(list(legend.values()), list(legend), fontsize=8, loc="outside right upper")
    figure.supxlabel("bytes")
    figure.supylabel("microseconds per call, slowest rank")
    _saved(pyplot, figure, path)


# Bytes on a node's link


def _bar_label(one: Traffic) -> str:
    side = one.side.partition(":")[2] or "choice"
    who = "" if is_judged(one) else "the MPI: "
    ranks = f", {one.ppn} a node" if one.ppn > 1 else ""
    return f"{one.nodes} nodes{ranks}\n{who}{side}"


def draw_bytes(found: Sequence[Traffic], path: Path) -> None:
    """In vectors: 1 is each byte once."""
    pyplot = _pyplot()
    some = sorted(found, key=lambda one: (one.nodes, one.ppn, not is_judged(one), one.side))
    figure, axis = pyplot.subplots(figsize=(9, 0.5 * len(some) + 1.6), layout="constrained")
    for place, one in enumerate(some):
        up = axis.barh(place - 0.2, one.up_bytes / one.bytes, 0.36, color="C0")
        down = axis.barh(place + 0.2, one.down_bytes / one.bytes, 0.36, color="C1")
        (mark,) = axis.plot([ring(one) / one.bytes] * 2, [place - 0.42, place + 0.42], color="black")
    axis.set_yticks(range(len(some)), [_bar_label(one) for one in some], fontsize=8)
    axis.invert_yaxis()
    axis.axvline(1, color="0.5", linestyle=":", linewidth=1)
    axis.set_xlabel("times the vector, without headers")
    names = ["away from the node", "to the node", "a ring, either way"]
    figure.legend([up, down, mark], names, fontsize=8, loc="outside upper right", ncols=3)
    _saved(pyplot, figure, path)


# The three stages

_colors = {"reduce": "#2060c0", "network": "#e67e22", "broadcast": "#2e8b57"}


def _title(call: Call) -> str:
    one = call.placed
    recipe = one.side.partition(":")[2]
    return f"{recipe}, {format_bytes(one.bytes)}: {one.situation()}"


def _draw_call(axis: Any, call: Call) -> None:
    """Segments in turns dark and pale, so that they can be told apart."""
    begin = min(span.begin_us for span in call.spans)
    for row, stage in enumerate(STAGES):
        for span in call.of(stage):
            bar = (span.begin_us - begin, span.end_us - span.begin_us)
            lane = row + (0.2 if span.segment % 2 else -0.2)
            axis.broken_barh([bar], (lane - 0.18, 0.36), facecolors=_colors[stage],
                             alpha=0.55 if span.segment % 2 else 1.0, linewidth=0)  # fmt: skip
    axis.set_title(_title(call), fontsize=9, loc="left")
    axis.set_yticks(range(len(STAGES)), STAGES, fontsize=8)
    axis.invert_yaxis()
    axis.grid(True, axis="x", alpha=0.3)


def draw_stages(calls: Sequence[Call], path: Path) -> None:
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(
        len(calls), 1, figsize=(10, 1.9 * len(calls) + 0.6), squeeze=False, layout="constrained"
    )
    for axis, call in zip(axes.flat, calls, strict=True):
        _draw_call(axis, call)
    figure.supxlabel("microseconds since the call began", fontsize=9)
    _saved(pyplot, figure, path)
