"""The MPIs of this machine: the embedded ones (<prefix>/opt/...), the system's, or one named by its path."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hocket import _paths
from hocket.errors import CommandError, unknown


class NotInstalledError(CommandError):
    """A name that is right, of an MPI that is not here."""


@dataclass(frozen=True)
class Mpi:
    """How to start a program under one MPI."""

    name: str  # openmpi, mpich, intel, debian, debian-mpich, or the path it was named by
    family: str  # the ABI its programs are built for: ompi or mpich
    launcher: Path
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    libraries: Path | None = None  # goes in front of LD_LIBRARY_PATH

    def command(self, ranks: int, program: Sequence[str]) -> list[str]:
        return [str(self.launcher), *self.arguments, "-n", str(ranks), *program]

    def child_environment(self, base: dict[str, str]) -> dict[str, str]:
        child = {name: value for name, value in base.items() if name != "HOCKET_PREFIX"}
        child.update(self.environment)
        if self.libraries:
            child["LD_LIBRARY_PATH"] = ":".join(
                filter(None, (str(self.libraries), child.get("LD_LIBRARY_PATH")))
            )
        return child

    def version(self) -> str:
        return _version(self.launcher, tuple(self.child_environment(dict(os.environ)).items()))


def _version_text(launcher: Path, environment: dict[str, str]) -> str:
    try:
        answer = subprocess.run(
            [str(launcher), "--version"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout + answer.stderr


@cache
def _version(launcher: Path, environment: tuple[tuple[str, str], ...]) -> str:
    found = re.search(r"(\d+\.\d+(?:\.\d+)*)", _version_text(launcher, dict(environment)))
    return found[1] if found else "?"


def _open_mpi_arguments() -> tuple[str, ...]:
    # Ranks outnumber cores on laptops and in CI, and Open MPI refuses that unless told.
    return ("--allow-run-as-root", "--oversubscribe") if os.geteuid() == 0 else ("--oversubscribe",)


def _open_mpi(name: str, launcher: Path, prefix: Path | None) -> Mpi:
    environment = {"OPAL_PREFIX": str(prefix)} if prefix else {}
    return Mpi(name, "ompi", launcher, _open_mpi_arguments(), environment, prefix / "lib" if prefix else None)


def _mpich(name: str, launcher: Path, prefix: Path | None) -> Mpi:
    return Mpi(name, "mpich", launcher, libraries=prefix / "lib" if prefix else None)


def _intel(name: str, launcher: Path, prefix: Path | None) -> Mpi:
    environment = {"I_MPI_ROOT": str(prefix)} if prefix else {}
    return Mpi(name, "mpich", launcher, environment=environment, libraries=prefix / "lib" if prefix else None)


_Maker = Callable[[str, Path, Path | None], Mpi]

# name -> (folder below opt/, its launcher, how it is started, how to get it)
EMBEDDED: dict[str, tuple[str, str, _Maker]] = {
    "openmpi": ("openmpi", "mpirun", _open_mpi),
    "mpich": ("mpich", "mpiexec", _mpich),
    "intel": ("impi", "mpiexec.hydra", _intel),
}
SYSTEM: dict[str, tuple[str, _Maker]] = {
    "debian": ("mpirun.openmpi", _open_mpi),
    "debian-mpich": ("mpiexec.mpich", _mpich),
}


def _embedded(name: str) -> Mpi | None:
    folder, launcher, make = EMBEDDED[name]
    prefix = _paths.mpi_prefix(folder)
    if not prefix or not (prefix / "bin" / launcher).exists():
        return None
    return make(name, prefix / "bin" / launcher, prefix)


def _system(name: str) -> Mpi | None:
    launcher, make = SYSTEM[name]
    found = shutil.which(launcher)
    return make(name, Path(found), None) if found else None


def discover() -> list[Mpi]:
    """All MPIs that have a name here, the embedded ones first."""
    found = [*(_embedded(name) for name in EMBEDDED), *(_system(name) for name in SYSTEM)]
    return [mpi for mpi in found if mpi]


def how_to_get(name: str) -> str:
    if name in EMBEDDED:
        return f"hocket install-mpi {name}"
    return "apt-get install " + {"debian": "openmpi-bin", "debian-mpich": "mpich"}[name]


def _launcher_at(path: Path) -> Path | None:
    if path.is_dir():
        for name in ("mpiexec.hydra", "mpirun", "mpiexec"):
            if (path / "bin" / name).exists():
                return path / "bin" / name
        return None
    return path if os.access(path, os.X_OK) else None


def from_path(text: str) -> Mpi:
    """An installation's folder or its mpirun; the family is what `--version` says."""
    launcher = _launcher_at(Path(text).absolute())
    if not launcher:
        raise CommandError(f"there is no MPI at '{text}': neither a launcher nor a folder with bin/mpirun")
    prefix = launcher.parent.parent if (launcher.parent.parent / "lib").is_dir() else None
    if prefix in (Path("/usr"), Path("/")):
        prefix = None  # the system's libraries need no path
    library_path = {**os.environ, **({"LD_LIBRARY_PATH": str(prefix / "lib")} if prefix else {})}
    said = _version_text(launcher, library_path)
    for mark, make in (("Intel", _intel), ("HYDRA", _mpich), ("Open MPI", _open_mpi), ("OpenRTE", _open_mpi)):
        if mark in said:
            return make(text, launcher, prefix)
    raise CommandError(f"'{launcher} --version' names neither Open MPI, MPICH nor Intel MPI")


def find(name: str) -> Mpi:
    """By name, or by path if it has a slash."""
    if "/" in name:
        return from_path(name)
    for mpi in discover():
        if mpi.name == name:
            return mpi
    if name in EMBEDDED or name in SYSTEM:
        raise NotInstalledError(f"the MPI '{name}' is not installed; to get it: {how_to_get(name)}")
    raise unknown("MPI", name, [*(mpi.name for mpi in discover()), "or a path"])
