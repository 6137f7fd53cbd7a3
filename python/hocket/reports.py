"""The report of a run (JSON lines, HOCKET_REPORT=FILE): reading it and showing it to people."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hocket.errors import CommandError
from hocket.quantities import format_bytes


@dataclass(frozen=True)
class ReportRow:
    collective: str  # allreduce, iallreduce, allreduce_init: as MPI names it
    bytes_from: int  # bytes in [bytes_from, 2 * bytes_from); 0: none, or not known to all ranks
    algorithm: str  # "native": left to the MPI
    why: str
    calls: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class PlanCounts:
    """Of the cache of plans: calls that ran one that was there, plans made, plans given up for others."""

    hits: int
    misses: int
    evictions: int


@dataclass(frozen=True)
class HandedCounts:
    """Of what a rank handed to its node's worker, in bytes of metadata: calls, and the buffers of calls,
    which are told once."""

    starts: int
    start_bytes: int
    buffers: int
    buffer_bytes: int
    mapped: int  # of those sets of buffers, the worker uses so many where they are


@dataclass(frozen=True)
class AggregatedCounts:
    """Of what a rank did in the network as its node's leader: calls, and those that messages finished."""

    calls: int
    groups: int
    repaired: int


@dataclass
class Report:
    rows: list[ReportRow] = field(default_factory=list)
    plans: PlanCounts | None = None
    handed: HandedCounts | None = None
    aggregated: AggregatedCounts | None = None
    notes: list[str] = field(default_factory=list)

    def accelerated(self) -> int:
        return sum(row.calls for row in self.rows if row.algorithm != "native")

    def calls(self) -> int:
        return sum(row.calls for row in self.rows)


def _row(record: dict[str, Any]) -> ReportRow:
    return ReportRow(
        collective=str(record["collective"]),
        bytes_from=int(record["bytes_from"]),
        algorithm=str(record["algorithm"]),
        why=" ".join(str(record["why"]).split()),  # rules are written in columns
        calls=int(record["calls"]),
        bytes=int(record.get("bytes", 0)),
        seconds=float(record.get("seconds", 0.0)),
    )


def _plans(record: dict[str, Any]) -> PlanCounts:
    return PlanCounts(int(record["plan_hits"]), int(record["plan_misses"]), int(record["plan_evictions"]))


def _handed(record: dict[str, Any]) -> HandedCounts:
    return HandedCounts(
        starts=int(record["handed_starts"]),
        start_bytes=int(record["handed_start_bytes"]),
        buffers=int(record["handed_buffers"]),
        buffer_bytes=int(record["handed_buffer_bytes"]),
        mapped=int(record["handed_mapped"]),
    )


def _aggregated(record: dict[str, Any]) -> AggregatedCounts:
    return AggregatedCounts(
        calls=int(record["aggregated_calls"]),
        groups=int(record["aggregated_groups"]),
        repaired=int(record["aggregated_repaired"]),
    )


def read(path: Path) -> Report:
    try:
        return parse(path.read_text(), str(path))
    except OSError as problem:
        raise CommandError(f"cannot read '{path}': {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise CommandError(f"'{path}' is not a text file") from problem


def parse(text: str, origin: str) -> Report:
    report = Report()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "note" in record:
                report.notes.append(str(record["note"]))
            elif "plan_hits" in record:
                report.plans = _plans(record)
            elif "handed_starts" in record:
                report.handed = _handed(record)
            elif "aggregated_calls" in record:
                report.aggregated = _aggregated(record)
            else:
                report.rows.append(_row(record))
        except (ValueError, KeyError, TypeError) as problem:
            raise CommandError(
                f"'{origin}' line {number} is no line of a Hocket report: {problem}"
            ) from problem
    if not report.rows and not report.notes:
        raise CommandError(f"'{origin}' holds no Hocket report")
    return report


def _size(bytes_from: int) -> str:
    return f"{format_bytes(bytes_from)} .. {format_bytes(2 * bytes_from)}" if bytes_from else "-"


def _table(rows: list[ReportRow]) -> Table:
    table = Table(title="What ran", title_justify="left", box=None, pad_edge=False)
    for name in ("collective", "size", "algorithm", "why"):
        table.add_column(name, overflow="fold")
    for name in ("calls", "time", "per call"):
        table.add_column(name, justify="right")
    for row in rows:
        style = "dim" if row.algorithm == "native" else ""
        each = f"{1e6 * row.seconds / row.calls:.2f} us" if row.calls and row.seconds else "-"
        size = _size(row.bytes_from)
        total = f"{row.seconds:.3f} s" if row.seconds else "-"
        table.add_row(row.collective, size, row.algorithm, row.why, str(row.calls), total, each, style=style)
    return table


def renderable(report: Report) -> RenderableType:
    parts: list[RenderableType] = []
    if report.rows:
        parts.append(_table(report.rows))
        parts.append(Text(f"{report.accelerated()} of {report.calls()} collective calls ran in Hocket"))
    if report.plans:
        made = f"{report.plans.misses} plans made, used again by {report.plans.hits} calls"
        parts.append(Text(f"{made}, {report.plans.evictions} given up for others"))
    if report.handed:
        told = f"{report.handed.buffers} sets of buffers in {format_bytes(report.handed.buffer_bytes)}"
        calls = f"{report.handed.starts} calls in {format_bytes(report.handed.start_bytes)}"
        there = f"it uses {report.handed.mapped} of them where they are"
        parts.append(Text(f"the node's worker was handed {calls}, and told of {told}; {there}"))
    if report.aggregated:
        led = f"led its node through {report.aggregated.calls} calls in the network"
        parts.append(Text(f"this rank {led}; {report.aggregated.repaired} of them were finished by messages"))
    parts.extend(Text(f"note: {note}") for note in report.notes)
    return Group(*parts)
