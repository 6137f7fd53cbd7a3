"""hocket run: a program under an MPI of this machine with Hocket in front, and what ran."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from hocket import applications, launch, mpis, processes, reports
from hocket.console import console

_settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def run(
    program: Annotated[
        list[str],
        typer.Argument(
            help="The program, or apps/<name>, one of Hocket's; and its arguments.",
            metavar="PROGRAM...",
        ),
    ],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Number of ranks.")] = 2,
    mpi: Annotated[
        str,
        typer.Option(
            help="openmpi, mpich, intel, debian, debian-mpich or a path; default: what the program needs."
        ),
    ] = "",
    no_hocket: Annotated[bool, typer.Option("--no-hocket", help="Run it under the MPI alone.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No report at the end.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command instead of running it.")
    ] = False,
) -> None:
    """Run a program under an MPI of this machine with Hocket in front, and report what ran."""
    chosen = mpis.find(mpi) if mpi else launch.mpi_for(program[0], mpis.discover())
    program = [applications.resolve(chosen, program[0]), *program[1:]]
    launch.check_program(program[0], chosen)
    command = chosen.command(ranks, program if no_hocket else launch.with_hocket(program))
    if dry_run:
        print(shlex.join(command))
        return
    wants_report = not (no_hocket or quiet or os.environ.get("HOCKET_REPORT"))
    raise typer.Exit(_run_reported(chosen, command) if wants_report else _run(chosen, command))


def _run(mpi: mpis.Mpi, command: list[str]) -> int:
    return processes.run_attached(command, launch.environment(mpi))


def _run_reported(mpi: mpis.Mpi, command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="hocket-run-") as folder:
        file = Path(folder) / "report.jsonl"
        status = processes.run_attached(command, launch.environment(mpi, HOCKET_REPORT=str(file)))
        _show_report(file, status)
    return status


def _show_report(file: Path, status: int) -> None:
    if file.exists() and file.stat().st_size:
        console.print(reports.renderable(reports.read(file)))
    elif file.exists():
        console.print("no report: no blocking collective was called on more than one rank")
    elif status == 0:
        console.print("no report: the program did not pass through MPI_Init and MPI_Finalize under Hocket")


def register(app: typer.Typer) -> None:
    app.command("run", context_settings=_settings)(run)
