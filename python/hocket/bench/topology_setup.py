"""What comes before any job: making a lab, and reading the description of a large machine."""

from __future__ import annotations

import lzma
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hocket.bench import machine
from hocket.bench.jsonl import Kind
from hocket.bench.markdown import marked, table
from hocket.bench.topology_experiments import Situation
from hocket.core import core
from hocket.errors import CommandError
from hocket.lab import lab

ENDING = "-setup"  # of the file for its records
FABRIC = Path("tests/data/topology/three-levels-1024-hosts.txt.xz")


@dataclass(frozen=True)
class Setup:
    date: str
    cpu: str
    cores: int
    load: float
    what: str
    run: int
    seconds: float
    schema: str = "hocket-topology-setup-1"


def lab_seconds() -> float:
    """Of the switches, nodes and links; to end it is not counted."""
    begin = time.perf_counter()
    with lab.temporary(lambda: lab.start("bench", Situation().shape())):
        return time.perf_counter() - begin


def fabric_seconds(file: Path = FABRIC) -> float:
    """Of the text that ibnetdiscover printed, unpacked, to its tree."""
    try:
        text = lzma.decompress(file.read_bytes())
    except OSError as problem:
        raise CommandError(
            f"'{file}' is read in the root of the source tree: {problem.strerror}"
        ) from problem
    begin = time.perf_counter()
    core().read_topology("ibnetdiscover", text, str(file))
    return time.perf_counter() - begin


@dataclass(frozen=True)
class _Part:
    words: str
    target_s: float
    seconds: Callable[[], float]


_PARTS = {
    "lab": _Part("making a lab of 16 nodes under 4 switches", 1.0, lab_seconds),
    "fabric": _Part(
        "reading what ibnetdiscover prints of 1024 hosts under three levels", 0.2, fabric_seconds
    ),
}


def _refusal(setup: Setup) -> str:
    return "" if setup.what in _PARTS else f"no such thing to set up: {setup.what!r}"


SETUPS = Kind(Setup, _refusal)


def measure(what: str, run: int) -> Setup:
    now, load = datetime.now(UTC).isoformat(timespec="seconds"), machine.load()
    took = round(_PARTS[what].seconds(), 6)
    return Setup(now, machine.cpu_model(), machine.cores(), load, what, run, took)


def names() -> list[str]:
    return list(_PARTS)


HEADER = ("what", "seconds", "runs", "load", "target")


def _row(part: _Part, some: Sequence[Setup]) -> list[str]:
    seconds = [one.seconds for one in some]
    middle = statistics.median(seconds)
    return [
        *(part.words, f"{middle:.3f} ({min(seconds):.3f}-{max(seconds):.3f})", str(len(some))),
        f"{statistics.median(one.load for one in some):.1f}",
        marked(f"less than {part.target_s:g} s", middle < part.target_s),
    ]


def rows(found: Sequence[Setup]) -> list[list[str]]:
    by_name = {name: [one for one in found if one.what == name] for name in _PARTS}
    return [_row(_PARTS[name], some) for name, some in by_name.items() if some]


def section(found: Sequence[Setup]) -> list[str]:
    text = "Medians, with the least and the greatest; on a quiet machine, the target says."
    return ["## Before a job starts", "", text, "", *table(HEADER, rows(found))] if found else []
