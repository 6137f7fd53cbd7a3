"""hocket doctor: what works on this machine, what does not, and how to mend it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from hocket.console import console
from hocket.core import core
from hocket.doctor import installation, machine, sharing
from hocket.doctor.finding import Finding, Verdict

_styles = {Verdict.good: "green", Verdict.info: "dim", Verdict.weak: "yellow", Verdict.bad: "red"}


def _findings(live: bool) -> list[Finding]:
    return [
        installation.library(),
        installation.plugins(),
        installation.workers(),
        *installation.mpi_findings(live),
        sharing.anonymous_memory(),
        sharing.socket_names(),
        sharing.kernel_reads(),
        machine.cores(),
        machine.memory(),
        machine.shared_memory_file_system(),
        machine.instruction_sets(),
        *installation.settings(),
    ]


def _show(findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("what", no_wrap=True)
    table.add_column("found", overflow="fold")
    for finding in findings:
        style = _styles[finding.verdict]
        found = f"{finding.found}\n-> {finding.mend}" if finding.mend else finding.found
        table.add_row(f"[{style}]{finding.verdict.value}[/]", finding.subject, found)
    console.print(table)


def _show_options() -> None:
    table = Table(title="Environment variables", title_justify="left", box=None, pad_edge=False)
    for name in ("variable", "type", "default", "meaning"):
        table.add_column(name, overflow="fold")
    for option in core().options():
        table.add_row(option["variable"], option["type"], option["preset"], option["help"])
    console.print(table)


def doctor(
    quick: Annotated[bool, typer.Option("--quick", help="Do not start MPI jobs.")] = False,
    options: Annotated[bool, typer.Option("--options", help="Also list the environment variables.")] = False,
) -> None:
    """Say what works here, what does not, and how to mend it. Exit status 1: something needed is missing."""
    findings = _findings(live=not quick)
    _show(findings)
    if options:
        _show_options()
    if any(finding.verdict is Verdict.bad for finding in findings):
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)
