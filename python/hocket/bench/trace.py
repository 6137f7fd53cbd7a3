"""A timeline as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open: a process per scene, a
track per rank, and for every operation an arrow from its last rank's start to where others end after that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hocket.bench.timeline import Span, scenes
from hocket.errors import CommandError
from hocket.quantities import format_bytes

Event = dict[str, Any]
_begins = ("start", "call")
_ends = ("wait", "call")


def title(scene: tuple[str, str, int, str, str]) -> str:
    mpi, collective, size, side, form = scene
    return f"{mpi}, {side}: {form} {collective}" + (f" of {format_bytes(size)}" if size else "")


def _names(process: int, name: str, ranks: Iterable[int]) -> Iterator[Event]:
    yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}
    for rank in ranks:
        yield {
            "ph": "M",
            "pid": process,
            "tid": rank,
            "name": "thread_name",
            "args": {"name": f"rank {rank}"},
        }
        yield {
            "ph": "M",
            "pid": process,
            "tid": rank,
            "name": "thread_sort_index",
            "args": {"sort_index": rank},
        }


def _slice(process: int, span: Span) -> Event:
    return {
        **{"ph": "X", "pid": process, "tid": span.rank, "name": span.kind, "cat": span.kind},
        **{"ts": span.begin_us, "dur": round(span.us(), 3), "args": {"operation": span.operation}},
    }


def last_starts(spans: Sequence[Span]) -> list[tuple[Span, list[Span]]]:
    """For every operation of one scene: where its last rank began, and where others ended after that. A rank
    that ended before did not need the last one."""
    found = []
    for operation in sorted({span.operation for span in spans}):
        some = [span for span in spans if span.operation == operation]
        last = max((span for span in some if span.kind in _begins), key=lambda span: span.begin_us)
        others = [span for span in some if span.kind in _ends and span.rank != last.rank]
        found.append((last, [span for span in others if last.begin_us <= span.end_us]))
    return found


def _arrows(process: int, spans: Sequence[Span]) -> Iterator[Event]:
    for last, ends in last_starts(spans):
        for span in ends:
            common = {
                **{"name": f"operation {last.operation}", "cat": "operation", "pid": process},
                "id": f"{process}.{last.operation}.{span.rank}",
            }
            yield {**common, "ph": "s", "tid": last.rank, "ts": last.begin_us}
            yield {**common, "ph": "f", "bp": "e", "tid": span.rank, "ts": span.end_us}


def events(spans: Iterable[Span]) -> list[Event]:
    found: list[Event] = []
    for process, (scene, some) in enumerate(scenes(spans).items(), 1):
        found += _names(process, title(scene), sorted({span.rank for span in some}))
        found += (_slice(process, span) for span in some)
        found += _arrows(process, some)
    return found


def write(path: Path, spans: Iterable[Span]) -> None:
    trace = {"traceEvents": events(spans), "displayTimeUnit": "ns"}
    try:
        path.write_text(json.dumps(trace) + "\n")
    except OSError as problem:
        raise CommandError(f"cannot write '{path}': {problem.strerror}") from problem
