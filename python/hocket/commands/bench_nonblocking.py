"""hocket bench --nonblocking: non-blocking and persistent collectives beside the blocking ones, or, with a
late rank, noise or a picture wanted, the timeline of a few operations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from hocket import mpis
from hocket.bench import gantt as pictures
from hocket.bench import (
    nonblocking,
    nonblocking_cells,
    nonblocking_tables,
    runner,
    timeline,
)
from hocket.bench import trace as traces
from hocket.bench.jsonl import schema_of
from hocket.bench.nonblocking import Lane, Request, Settings, parse_settings, parse_tests
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

    def settings(self) -> list[Settings]:
        return parse_settings(self.progress, self.node_size)

    def requests(self, cells: runner.Request) -> list[Request]:
        """One for each of the settings."""
        tests = parse_tests(self.tests)
        return [Request(cells, tests, self.compute, settings=settings) for settings in self.settings()]

    def scenarios(self, cells: runner.Request) -> list[Scenario]:
        """One for each of the settings."""
        return [
            Scenario(
                cells,
                parse_skew(self.skew, cells.ranks) if self.skew else Skew(),
                parse_noise(self.noise) if self.noise else Noise(),
                compute_us=self.compute,
                tests=parse_tests(self.tests)[-1],
                operations=self.operations,
                seed=self.seed,
                settings=settings,
            )
            for settings in self.settings()
        ]


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
    if schema == nonblocking.LANES.schema:
        _show(nonblocking.LANES.read(path))
    elif schema == timeline.WAITS.schema:
        nonblocking_tables.show_waits(console, timeline.WAITS.read(path))
    else:
        return False
    return True


Run = Callable[[], None]


def _lane_runs(
    mpi: mpis.Mpi, requests: Sequence[Request], untouched: bool, keep: nonblocking.Keep
) -> list[Run]:
    """A launch for each collective, so that an MPI that ends the program in one has measured the others; the
    settings of Hocket follow each other within a collective."""
    runs: list[Run] = []
    for name in requests[0].cells.collectives:
        some = [request.of(name) for request in requests]
        runs.append(partial(nonblocking.run, mpi, some[0], False, keep))
        runs += [] if untouched else [partial(nonblocking.run, mpi, one, True, keep) for one in some]
    return runs


def _measure(
    chosen: Sequence[mpis.Mpi],
    cells: Sequence[runner.Request],
    options: Options,
    untouched: bool,
    out: Path | None,
) -> None:
    measured: list[Lane] = []

    def keep(fresh: list[Lane]) -> None:
        measured.extend(fresh)
        if out:
            nonblocking.LANES.append(out, fresh)

    failed = 0
    for some, mpi in product(cells, chosen):
        failed += _all_runs(mpi, some, _lane_runs(mpi, options.requests(some), untouched, keep))
    _show(measured)
    _must_not_have(failed)


def _timeline_runs(
    mpi: mpis.Mpi, scenarios: Sequence[Scenario], untouched: bool, keep: timeline.Keep
) -> list[Run]:
    runs: list[Run] = [partial(timeline.run, mpi, scenarios[0], False, keep)]
    runs += [] if untouched else [partial(timeline.run, mpi, one, True, keep) for one in scenarios]
    return runs


def _record_timelines(
    chosen: Sequence[mpis.Mpi],
    cells: Sequence[runner.Request],
    options: Options,
    untouched: bool,
    out: Path | None,
) -> list[Span]:
    spans: list[Span] = []
    waits: list[Waits] = []

    def keep(fresh_spans: list[Span], fresh: list[Waits]) -> None:
        spans.extend(fresh_spans)
        waits.extend(fresh)
        if out:
            timeline.WAITS.append(out, fresh)

    failed = 0
    for some, mpi in product(cells, chosen):
        failed += _all_runs(mpi, some, _timeline_runs(mpi, options.scenarios(some), untouched, keep))
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
    if not options.is_timeline():
        return _measure(chosen, cells, options, untouched, out)
    _check_files(options, cells)
    spans = _record_timelines(chosen, cells, options, untouched, out)
    if options.trace:
        traces.write(options.trace, spans)
        console.print(f"wrote {options.trace}: open it at ui.perfetto.dev or chrome://tracing")
    if options.gantt:
        pictures.draw(spans, options.gantt)
        console.print(f"wrote {options.gantt}")
    return None
