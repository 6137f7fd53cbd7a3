"""The applications that come with Hocket: `apps/<name>` stands for the build that fits an MPI."""

from __future__ import annotations

import shutil
from pathlib import Path

from hocket import _paths
from hocket.errors import CommandError, unknown
from hocket.mpis import Mpi

NAMES = ("poisson_cg", "compress", "fft3d")
_prefix = "apps/"


def is_application(program: str) -> bool:
    """apps/<name> is a folder of the source tree, and no program that can be run itself."""
    return program.startswith(_prefix) and not shutil.which(program)


def built_for(mpi: Mpi, name: str) -> Path:
    if name not in NAMES:
        raise unknown("application", name, NAMES)
    if mpi.name == "debian-mpich":
        raise CommandError("the applications are built for MPICH's own library names, which Debian's has not")
    path = _paths.prefix() / "lib" / "hocket" / "apps" / f"{name}_{mpi.family}"
    if not path.exists():
        raise CommandError(
            f"'{_prefix}{name}' is not built ({path}); 'make build' builds it where the packages of "
            "dev/apt.txt are installed",
            1,
        )
    return path


def resolve(mpi: Mpi, program: str) -> str:
    """The program itself, or the application that it names."""
    if not is_application(program):
        return program
    return str(built_for(mpi, program.removeprefix(_prefix).rstrip("/")))
