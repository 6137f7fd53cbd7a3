"""hocket bench --nonblocking: non-blocking and persistent collectives beside the blocking ones, or, with a
late rank, noise or a picture wanted, the timeline of a few operations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hocket import mpis
from hocket.bench import gantt as pictures
from hocket.bench import (
    nonblocking,
    nonblocking_cells,
    nonblocking_page,
    nonblocking_tables,
    runner,
    timeline,
)
from hocket.bench import trace as traces
from hocket.bench.nonblocking import Lane, Request, Settings, parse_tests
from hocket.bench.records import schema_of
from hocket.bench.timeline import Noise, Scenario, Skew, Span, Waits, parse_noise, parse_skew
from hocket.console import console
from hocket.errors import CommandError


@dataclass(frozen=True)
class Options:
    """The options of `hocket bench` that go with --nonblocking, as they were written."""

    tests: str = "0,1,16"
    compute: float = 0.0
    skew: str = ""
    noise: str = ""
    operations: int = 20
    seed: int = 1
    trace: Path | None = None
    gantt: Path | None = None
    progress: str = ""
    node_size: int = 0

    def is_timeline(self) -> bool:
        return bool(self.skew or self.noise or self.trace or self.gantt)

    def must_be_preset(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) != field.default:
                raise CommandError(f"--{field.name.replace('_', '-')} goes with --nonblocking")

    def settings(self) -> Settings:
        return Settings(self.progress, self.node_size)

    def request(self, cells: runner.Request) -> Request:
        return Request(cells, parse_tests(self.tests), self.compute, self.settings())

    def scenario(self, cells: runner.Request) -> Scenario:
        return Scenario(
            cells,
            parse_skew(self.skew, cells.ranks) if self.skew else Skew(),
            parse_noise(self.noise) if self.noise else Noise(),
            compute_us=self.compute,
            tests=parse_tests(self.tests)[-1],
            operations=self.operations,
            seed=self.seed,
            settings=self.settings(),
        )


def _all_runs(mpi: mpis.Mpi, cells: runner.Request, runs: Iterable[Callable[[], None]]) -> int:
    """How many of them failed; what was measured before is kept."""
    failed = 0
    console.print(f"[dim]{mpi.name} {mpi.version()}, {cells.ranks} ranks, {cells.cells()} cells ...[/]")
    for run in runs:
        try:
            run()
        except CommandError as problem:
            console.print(f"[red]{problem}[/]")
            failed += 1
    return failed


def _must_not_have(failed: int) -> None:
    if failed:
        raise CommandError(f"{failed} runs failed", 1)


def _show(measured: Sequence[Lane]) -> None:
    found = nonblocking_cells.cells(measured)
    nonblocking_tables.show(console, found)
    spoiled = nonblocking_cells.wrong_where_right_without(found)
    if spoiled:
        cell, form = spoiled[0]
        raise CommandError(f"wrong results with Hocket: {cell.mpi}, {form} {cell.collective}", 1)


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    schema = schema_of(path)
    if schema == nonblocking.SCHEMA:
        _show(nonblocking.read(path))
    elif schema == timeline.SCHEMA:
        nonblocking_tables.show_waits(console, timeline.read(path))
    else:
        return False
    return True


def _records(folder: Path, schema: str) -> list[Path]:
    return [path for path in sorted(folder.glob("*.jsonl")) if schema_of(path) == schema]


def render(results: Path, page: Path) -> None:
    folder = results / "nonblocking"
    lanes = [lane for path in _records(folder, nonblocking.SCHEMA) for lane in nonblocking.read(path)]
    waits = [one for path in _records(folder, timeline.SCHEMA) for one in timeline.read(path)]
    if not lanes and not waits:
        return
    page.write_text(nonblocking_page.page(lanes, waits))
    console.print(f"wrote {page}")


def _measure(
    chosen: Sequence[mpis.Mpi], requests: Sequence[Request], sides: Sequence[bool], out: Path | None
) -> None:
    measured: list[Lane] = []

    def keep(fresh: list[Lane]) -> None:
        measured.extend(fresh)
        if out:
            nonblocking.append(out, fresh)

    failed = 0
    for request in requests:
        for mpi in chosen:
            runs = [
                partial(nonblocking.run, mpi, one, with_hocket, keep)
                for one in request.of_each_collective()
                for with_hocket in sides
            ]
            failed += _all_runs(mpi, request.cells, runs)
    _show(measured)
    _must_not_have(failed)


def _record_timelines(
    chosen: Sequence[mpis.Mpi], scenarios: Sequence[Scenario], sides: Sequence[bool], out: Path | None
) -> list[Span]:
    spans: list[Span] = []
    waits: list[Waits] = []

    def keep(fresh_spans: list[Span], fresh: list[Waits]) -> None:
        spans.extend(fresh_spans)
        waits.extend(fresh)
        if out:
            timeline.append(out, fresh)

    failed = 0
    for scenario in scenarios:
        for mpi in chosen:
            runs = [partial(timeline.run, mpi, scenario, with_hocket, keep) for with_hocket in sides]
            failed += _all_runs(mpi, scenario.cells, runs)
    nonblocking_tables.show_waits(console, waits)
    _must_not_have(failed)
    return spans


def _check_files(options: Options, cells: Sequence[runner.Request]) -> None:
    files = [path for path in (options.trace, options.gantt) if path]
    if files and len(cells) > 1:
        raise CommandError("a timeline shows one number of ranks: give one to -n")
    for path in files:
        if not path.parent.is_dir():
            raise CommandError(f"cannot write '{path}': there is no such folder")


def run(
    chosen: Sequence[mpis.Mpi],
    cells: Sequence[runner.Request],
    options: Options,
    untouched: bool,
    out: Path | None,
) -> None:
    sides = [False] if untouched else [False, True]  # with Hocket, and the MPI beside it, or without
    if not options.is_timeline():
        return _measure(chosen, [options.request(some) for some in cells], sides, out)
    _check_files(options, cells)
    spans = _record_timelines(chosen, [options.scenario(some) for some in cells], sides, out)
    if options.trace:
        traces.write(options.trace, spans)
        console.print(f"wrote {options.trace}: open it at ui.perfetto.dev or chrome://tracing")
    if options.gantt:
        pictures.draw(spans, options.gantt)
        console.print(f"wrote {options.gantt}")
    return None
