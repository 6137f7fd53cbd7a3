"""A late rank, or noise, and what it does to the others: every rank's spans of time by operation."""

from __future__ import annotations

import dataclasses
import re
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import launch
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.nonblocking import PRESET, Settings
from hocket.bench.program import nonblocking_program
from hocket.bench.records import Origin
from hocket.errors import CommandError
from hocket.mpis import Mpi

KINDS = ("late", "call", "start", "compute", "detour", "test", "wait")
LOST = ("call", "start", "test", "wait")  # what the operation takes from the program
_start_seconds = 60.0
_slack = 50.0  # how much longer than planned a run may take on a crowded machine


@dataclass(frozen=True)
class Skew:
    """How late one rank comes to every operation."""

    late_us: float = 0.0
    rank: int = -1  # -1: drawn for every operation

    def argument(self) -> str:
        return f"{self.late_us:g}:{self.rank}" if self.rank >= 0 else f"{self.late_us:g}"


@dataclass(frozen=True)
class Noise:
    """Detours of every rank, at regular intervals from a moment of its own."""

    hertz: float = 0.0
    detour_us: float = 0.0

    def argument(self) -> str:
        return f"{self.hertz:g}x{self.detour_us:g}"


def _matched(pattern: str, text: str, example: str) -> re.Match[str]:
    matched = re.fullmatch(pattern, text.strip())
    if not matched:
        raise CommandError(f"'{text}' is not {example}")
    return matched


_number = r"(\d+(?:\.\d+)?)"


def parse_skew(text: str, ranks: int) -> Skew:
    """500 or 500:0: microseconds, and the rank."""
    matched = _matched(_number + r"(?::(\d+))?", text, "US or US:RANK; write for example 500 or 500:0")
    rank = int(matched[2]) if matched[2] else -1
    if rank >= ranks:
        raise CommandError(f"there is no rank {rank} among {ranks} that could be late")
    if not 0 < float(matched[1]) <= 1e7:
        raise CommandError(f"'{text}': a rank can be late by more than 0 us and at most 10 s")
    return Skew(float(matched[1]), rank)


def parse_noise(text: str) -> Noise:
    """1000x50: times per second, and microseconds each."""
    matched = _matched(_number + "x" + _number, text, "HZxUS; write for example 1000x50")
    noise = Noise(float(matched[1]), float(matched[2]))
    if not 0 < noise.hertz * noise.detour_us < 1e6:
        raise CommandError(f"'{text}': detours must take some, and less than all of the time")
    return noise


@dataclass(frozen=True)
class Scenario:
    """What is run: one operation after the other, by the blocking call and by the non-blocking one."""

    cells: runner.Request
    skew: Skew = Skew()
    noise: Noise = Noise()
    compute_us: float = 0.0  # per operation; 0: as long as a rank is late, or 1 ms
    tests: int = 16
    operations: int = 20
    seed: int = 1
    settings: Settings = PRESET

    def computes_us(self) -> float:
        return self.compute_us or self.skew.late_us or 1000.0

    def arguments(self) -> list[str]:
        found = [*self.cells.arguments(), "--operations", str(self.operations), "--seed", str(self.seed)]
        found += ["--tests", str(self.tests), "--compute", str(self.computes_us())]
        if self.skew.late_us:
            found += ["--skew", self.skew.argument()]
        if self.noise.hertz:
            found += ["--noise", self.noise.argument()]
        return found

    def bound(self) -> float:
        planned = 4e-6 * self.operations * (self.computes_us() + self.skew.late_us) * self.cells.cells()
        return _start_seconds + _slack * planned


@dataclass(frozen=True)
class Span:
    """What one rank did for a while; microseconds since all of them began."""

    mpi: str
    collective: str
    bytes: int
    side: str
    form: str
    rank: int
    operation: int
    kind: str
    begin_us: float
    end_us: float

    def scene(self) -> tuple[str, str, int, str, str]:
        """Spans of one scene have one beginning and can be drawn side by side."""
        return (self.mpi, self.collective, self.bytes, self.side, self.form)

    def us(self) -> float:
        return self.end_us - self.begin_us


def scenes(spans: Iterable[Span]) -> dict[tuple[str, str, int, str, str], list[Span]]:
    found: dict[tuple[str, str, int, str, str], list[Span]] = {}
    for span in spans:
        found.setdefault(span.scene(), []).append(span)
    return found


@dataclass(frozen=True)
class Waits(Origin):
    """What the operations took from one rank, in microseconds: medians over the operations to which it came
    in time. Of a rank that was late every time: over all."""

    ranks: int
    collective: str
    bytes: int
    side: str
    form: str
    rank: int
    operations: int
    late: int  # times that this rank was the late one
    late_us: float
    noise_hz: float
    detour_us: float
    seed: int
    tests: int
    compute_us: float
    start_us: float  # of a blocking call: 0
    test_us: float
    wait_us: float  # of a blocking call: the call
    lost_us: float  # all three together
    lost_p10_us: float
    lost_p90_us: float
    whole_us: float  # an operation with its computation, detours included, without the lateness
    progress: str = ""
    node_size: int = 0
    workers: int = 0
    shared_heap: int = 0
    link: str = ""  # machine.link()
    schema: str = "hocket-skew-1"


WAITS = Kind(Waits)


def _by_operation(spans: Iterable[Span]) -> dict[int, dict[str, float]]:
    """Microseconds by operation and kind, of one rank."""
    found: dict[int, dict[str, float]] = {}
    for span in spans:
        kinds = found.setdefault(span.operation, dict.fromkeys(KINDS, 0.0))
        kinds[span.kind] += span.us()
    return found


def _quantile(numbers: Sequence[float], share: float) -> float:
    ordered = sorted(numbers)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def summary(spans: Iterable[Span]) -> dict[str, Any]:
    """What `Waits` says of one rank in one scene."""
    operations = list(_by_operation(spans).values())
    in_time = [kinds for kinds in operations if kinds["late"] == 0] or operations
    lost = [sum(kinds[kind] for kind in LOST) for kinds in in_time]
    waited = [kinds["wait"] + kinds["call"] for kinds in in_time]
    return {
        "operations": len(operations),
        "late": sum(kinds["late"] > 0 for kinds in operations),
        "start_us": statistics.median(kinds["start"] for kinds in in_time),
        "test_us": statistics.median(kinds["test"] for kinds in in_time),
        "wait_us": statistics.median(waited),
        "lost_us": statistics.median(lost),
        "lost_p10_us": _quantile(lost, 0.1),
        "lost_p90_us": _quantile(lost, 0.9),
        "whole_us": statistics.median(sum(kinds.values()) - kinds["late"] for kinds in in_time),
    }


def waits(spans: Sequence[Span], scenario: Scenario, common: dict[str, Any]) -> list[Waits]:
    """One per scene and rank; `common` says where and when (runner.where_and_when), and the settings."""
    found = []
    for (_, collective, size, side, form), some in scenes(spans).items():
        for rank in sorted({span.rank for span in some}):
            found.append(
                Waits(
                    **common,
                    ranks=scenario.cells.ranks,
                    collective=collective,
                    bytes=size,
                    side=side,
                    form=form,
                    rank=rank,
                    late_us=scenario.skew.late_us,
                    noise_hz=scenario.noise.hertz,
                    detour_us=scenario.noise.detour_us,
                    seed=scenario.seed,
                    tests=scenario.tests,
                    compute_us=scenario.computes_us(),
                    **summary(span for span in some if span.rank == rank),
                )
            )
    return found


Keep = Callable[[list[Span], list[Waits]], None]


def run(mpi: Mpi, scenario: Scenario, with_hocket: bool, keep: Keep) -> None:
    settings = scenario.settings if with_hocket else PRESET
    with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
        out, load = Path(folder) / "spans", machine.load()
        program = [str(nonblocking_program(mpi.family)), *scenario.arguments(), "--out", str(out)]
        command = launch.with_hocket(program) if with_hocket else [*program, "--untouched"]
        runner.run_program(mpi, scenario.cells.ranks, command, scenario.bound(), **settings.variables())
        spans = [Span(mpi.name, **line) for line in runner.printed(out)]
    common = {**runner.where_and_when(mpi, load), **dataclasses.asdict(settings)}
    keep(spans, waits(spans, scenario, common))
