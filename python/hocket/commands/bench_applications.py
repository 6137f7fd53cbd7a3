"""hocket bench --applications: the programs of apps/ on each MPI untouched and with Hocket in front."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.table import Table

from hocket import applications, mpis
from hocket.bench import applications as measuring
from hocket.bench import applications_page as pages
from hocket.bench.applications import Experiment, Request, Timed
from hocket.bench.jsonl import schema_of
from hocket.bench.nonblocking import parse_settings
from hocket.console import console
from hocket.errors import CommandError, unknown


@dataclass(frozen=True)
class Options:
    """The options of `hocket bench` that go with --applications, as they were written."""

    names: Sequence[str] = ()  # none: all
    rounds: int = 5
    variables: Sequence[str] = ()
    progress: str = ""
    node_size: int = 0

    def __post_init__(self) -> None:
        for name in self.names:
            if name not in applications.NAMES:
                raise unknown("application", name, applications.NAMES)
        for entry in self.variables:
            if not re.fullmatch(r"\w+=.*", entry):
                raise CommandError(f"--env wants NAME=VALUE, not '{entry}'")

    def requests(self, ranks: int) -> list[Request]:
        return [
            Request(measuring.chosen(self.names), ranks, self.rounds, settings, self.variables)
            for settings in parse_settings(self.progress, self.node_size)
        ]


def _show(measured: Sequence[Timed]) -> None:
    found = Table(*pages.SUMMARY_HEADER)
    for group in pages.groups(measured):
        found.add_row(*pages.summary_row(group))
    console.print(found)
    wrong = [one for one in measured if not one.valid]
    if wrong:
        raise CommandError(f"wrong answers: {wrong[0].application}, {wrong[0].form}, {wrong[0].side}", 1)


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    if schema_of(path) != measuring.RUNS.schema:
        return False
    _show(measuring.RUNS.read(path))
    return True


def _measure(mpi: mpis.Mpi, request: Request, experiment: Experiment) -> list[Timed]:
    words = f"{experiment.application} {experiment.problem}"
    console.print(f"[dim]{mpi.name} {mpi.version()}, {request.ranks} ranks, {words} ...[/]")
    try:
        return measuring.run(mpi, request, experiment)
    except CommandError as problem:
        console.print(f"[red]{problem}[/]")
        return []


def run(chosen: Sequence[mpis.Mpi], requests: Sequence[Request], out: Path | None) -> None:
    """What was measured before a failure is kept."""
    measured: list[Timed] = []
    failed = 0
    for request, mpi in product(requests, chosen):
        for experiment in request.experiments:
            fresh = _measure(mpi, request, experiment)
            measured += fresh
            failed += not fresh
            if out:
                measuring.RUNS.append(out, fresh)
    _show(measured)
    if failed:
        raise CommandError(f"{failed} experiments failed", 1)
