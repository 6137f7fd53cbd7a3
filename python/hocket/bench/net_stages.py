"""The three stages of a call, from a leader's trace: reduced inside the node, under way in the network,
handed out inside the node; segments are in several of them at a time.

Hocket writes the trace where it knows HOCKET_TRACE: the first rank, one JSON object a line and span,

    {"call": 3, "segment": 0, "stage": "reduce", "begin_us": 0.0, "end_us": 41.5}

with microseconds since the call began. `network` is from the start of an aggregation until it is settled.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.bench import machine, net
from hocket.bench.jsonl import Kind, read_lines
from hocket.bench.net import Job, Placed
from hocket.core import core
from hocket.errors import CommandError
from hocket.mpis import Mpi

ENDING = "-stages"  # of the file for its records
VARIABLE = "HOCKET_TRACE"
STAGES = ("reduce", "network", "broadcast")


class LeftOutError(CommandError):
    """What cannot be measured with what is installed, which is no failure."""


@dataclass(frozen=True)
class Span(Placed):
    """Of one segment in one stage of one call; microseconds since the call began."""

    call: int
    segment: int
    stage: str
    begin_us: float
    end_us: float
    link: str = ""  # machine.link()
    schema: str = "hocket-net-stages-1"


def _refusal(span: Span) -> str:
    return net.refusal(span) or ("" if span.stage in STAGES else f"no such stage: {span.stage}")


SPANS = Kind(Span, _refusal)
_told = ("call", "segment", "stage", "begin_us", "end_us")


def _span(line: dict[str, Any], common: dict[str, Any]) -> Span:
    """Throws ValueError naming what is wrong with it."""
    missing = [name for name in _told if name not in line]
    if missing:
        raise ValueError(f"a span without {', '.join(missing)}")
    return SPANS.from_dict({**common, **{name: line[name] for name in _told}, "schema": SPANS.schema})


def of_file(file: Path, common: dict[str, Any]) -> list[Span]:
    """Of the last call: those before set things up."""
    if not file.exists():
        raise CommandError("Hocket wrote no trace", 1)
    found = read_lines(file, lambda line: _span(line, common))
    last = max((span.call for span in found), default=0)
    return [span for span in found if span.call == last]


def _check_that_it_is_known() -> None:
    if all(row["variable"] != VARIABLE for row in core().options()):
        raise LeftOutError(f"the installed Hocket writes no trace ({VARIABLE})")


def trace(mpi: Mpi, job: Job, keep: net.Keep) -> None:
    _check_that_it_is_known()
    for size in job.sizes:
        load = machine.load()
        with tempfile.TemporaryDirectory(prefix="hocket-bench-") as folder:
            file = Path(folder) / "trace.jsonl"
            one = job.with_sizes(size)
            done = net.launch_in_lab(mpi, one, 0, net.VALIDATE_ONLY, **{VARIABLE: str(file)})
            if done.problem:
                raise done.problem
            fields = net.where_and_what(mpi, load, job, job.sides()[-1])
            keep(of_file(file, {**fields, "bytes": size}))


@dataclass(frozen=True)
class Call:
    """The spans of one."""

    spans: Sequence[Span]

    @property
    def placed(self) -> Span:
        return self.spans[0]

    def of(self, stage: str) -> list[Span]:
        return [span for span in self.spans if span.stage == stage]

    def busy_us(self, stage: str) -> float:
        """How long any segment was in that stage, at work or waiting."""
        total, until = 0.0, float("-inf")
        for span in sorted(self.of(stage), key=lambda span: span.begin_us):
            total += max(0.0, span.end_us - max(until, span.begin_us))
            until = max(until, span.end_us)
        return total

    def makespan_us(self) -> float:
        return max(span.end_us for span in self.spans) - min(span.begin_us for span in self.spans)


def calls(spans: Iterable[Span]) -> list[Call]:
    """The last one of each recipe and size that was traced."""
    found: dict[tuple[Any, ...], list[Span]] = {}
    for span in spans:
        key = (span.mpi, span.situation(), span.collective, span.bytes, span.side)
        some = found.setdefault(key, [])
        if some and (some[0].date, some[0].call) != (span.date, span.call):
            some.clear()
        some.append(span)
    return [Call(some) for some in found.values()]
