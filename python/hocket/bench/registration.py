"""What a registration cache saves: hocket_registration, its records, and their place on the page.

It runs no MPI and needs no network card: io_uring pins what is registered, as a card's driver would.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from hocket import processes
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.program import registration_program
from hocket.errors import CommandError
from hocket.quantities import format_bytes

SIZES = tuple(4096 << step for step in range(0, 13, 2))
LARGE_BYTES = 1 << 20
LEAST_LARGE = 3.0
PICTURE = "performance-registration.png"
_bound_seconds = 300.0
_cannot_run = 77


@dataclass(frozen=True)
class Operation:
    """One side of a lane in one run of the program. Times are of a registration, a write and its end."""

    date: str
    cpu: str
    cores: int
    load: float
    run: int
    buffers: str  # same: one all the time; fresh: each is mapped anew, and its end counts
    to: str  # nothing: /dev/null, all but the registration is next to nothing; memory: each byte is copied
    bytes: int
    side: str  # cache, without
    operations: int
    median_us: float
    p10_us: float
    p90_us: float
    valid: bool
    schema: str = "hocket-registration-1"


OPERATIONS = Kind(Operation)


def run(number: int, sizes: Sequence[int], seconds: float) -> list[Operation]:
    common: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": machine.cpu_model(),
        "cores": machine.cores(),
        "load": machine.load(),
        "run": number,
    }
    program = [str(registration_program()), "--sizes", ",".join(map(str, sizes)), "--seconds", str(seconds)]
    done = processes.run_captured(program, dict(os.environ), _bound_seconds)
    if done.status == _cannot_run:
        raise CommandError(f"nothing can be registered here: {done.errors.strip()}", 1)
    found = [Operation(**common, **line) for line in runner.lines_of(done.output)]
    if done.status != 0 or not found or not all(one.valid for one in found):
        raise CommandError("the registration cache could not be measured, or is wrong", 1)
    return found


@dataclass(frozen=True)
class Lane:
    """All runs of one: medians of each run, side by side."""

    buffers: str
    to: str
    bytes: int
    without_us: Sequence[float]
    cache_us: Sequence[float]

    def times(self) -> list[float]:
        return [a / b for a, b in zip(self.without_us, self.cache_us, strict=True)]

    def is_met(self) -> bool:
        has_target = self.bytes >= LARGE_BYTES and (self.buffers, self.to) == ("same", "nothing")
        return not has_target or median(self.times()) >= LEAST_LARGE


def lanes(found: Sequence[Operation]) -> list[Lane]:
    sides: dict[tuple[str, str, int], dict[str, list[float]]] = {}
    for one in found:
        lane = sides.setdefault((one.buffers, one.to, one.bytes), {"without": [], "cache": []})
        lane[one.side].append(one.median_us)
    return [Lane(*place, lane["without"], lane["cache"]) for place, lane in sides.items()]


HEADER = ("buffers", "written to", "bytes", "runs", "without, us", "with the cache, us", "times as fast")


def _spread(values: Sequence[float], digits: int) -> str:
    low, high = min(values), max(values)
    return f"{median(values):.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def rows(found: Sequence[Operation]) -> list[list[str]]:
    order = sorted(lanes(found), key=lambda one: (one.buffers == "fresh", one.to == "memory", one.bytes))
    return [
        [
            *(one.buffers, one.to, format_bytes(one.bytes), str(len(one.cache_us))),
            *(_spread(one.without_us, 1), _spread(one.cache_us, 1)),
            _spread(one.times(), 2) if one.is_met() else f"**{_spread(one.times(), 2)}, missed**",
        ]
        for one in order
    ]


TEXT = f"""\
An operation on a buffer that has to be registered: with the [registration
cache](design/0020-registration-cache.md), and registered and forgotten each time; in turns in one process,
medians of separate runs (least-greatest). There is no InfiniBand here: io_uring's registered buffers stand in
for a card's, since the kernel pins them in the same way; a card would have to be told besides. *Written to
nothing* (/dev/null) is the registration and two system calls; target {LEAST_LARGE:g} from
{format_bytes(LARGE_BYTES)} on. *To memory* copies each byte by the processor, beside which registering is
little. *Fresh* buffers are mapped for each operation and unmapped after it, and the unmapping counts: nothing
is ever found, and a thread has to get a core to hear of each. That is what the cache costs where it is of no
use. Without targets."""


def section(found: Sequence[Operation], folder: Path) -> list[str]:
    """`folder`: of the page, and perhaps of the picture."""
    from hocket.bench.markdown import table

    if not found:
        return []
    days = sorted({one.date[:10] for one in found})
    machines = sorted({f"{one.cpu}, {one.cores} cores, load {_loads(found)}" for one in found})
    measured = f"Measured {days[0]}: {'; '.join(machines)}."
    picture = ["![latency by size](" + PICTURE + ")", ""] if (folder / PICTURE).exists() else []
    return ["## Registration cache", "", TEXT, "", measured, "", *picture, *table(HEADER, rows(found))]


def _loads(found: Sequence[Operation]) -> str:
    loads = [one.load for one in found]
    return f"{min(loads):.1f}-{max(loads):.1f}"


def draw(found: Sequence[Operation], path: Path) -> None:
    """Medians of the runs, with a band from the least to the greatest."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as problem:
        raise CommandError("plots need matplotlib: pip install 'hocket[bench]'", 1) from problem
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
    panels = {"same": {"nothing": 0, "memory": 1}, "fresh": {"nothing": 2}}
    titles = ("same buffer, to nothing", "same buffer, to memory", "fresh buffers, to nothing")
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=9)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.grid(True, alpha=0.3)
    for buffers, targets in panels.items():
        for to, place in targets.items():
            some = sorted(
                (one for one in lanes(found) if (one.buffers, one.to) == (buffers, to)),
                key=lambda one: one.bytes,
            )
            _draw_sides(axes[place], some)
    axes[0].legend(fontsize=8)
    figure.supxlabel("bytes", fontsize=9)
    figure.supylabel("microseconds", fontsize=9)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _draw_sides(axis: Any, some: Sequence[Lane]) -> None:
    sizes = [one.bytes for one in some]
    for label, color, times in (
        ("registered each time", "0.4", [one.without_us for one in some]),
        ("with the cache", "C0", [one.cache_us for one in some]),
    ):
        axis.plot(
            sizes,
            [median(runs) for runs in times],
            "o-",
            label=label,
            color=color,
            markersize=3,
            linewidth=1.2,
        )
        axis.fill_between(
            sizes, [min(runs) for runs in times], [max(runs) for runs in times], color=color, alpha=0.15
        )
