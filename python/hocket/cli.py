"""The command `hocket`: one file per verb in hocket/commands/."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hocket import __version__, processes
from hocket.commands import (
    bench,
    doctor,
    explain,
    install_mpi,
    lab,
    loggp,
    plan,
    report,
    run,
    simulate,
    switches,
    topo,
    verify,
)
from hocket.errors import CommandError

app = typer.Typer(
    name="hocket",
    help="Makes the MPI you have do its collectives better, in front of unmodified programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (
    run,
    lab,
    topo,
    switches,
    bench,
    explain,
    verify,
    plan,
    loggp,
    simulate,
    report,
    doctor,
    install_mpi,
):
    verb.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"hocket {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    processes.unwind_on_signals()
    try:
        app()
    except CommandError as problem:
        print(f"hocket: {problem}", file=sys.stderr)
        sys.exit(problem.status)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


if __name__ == "__main__":
    main()
