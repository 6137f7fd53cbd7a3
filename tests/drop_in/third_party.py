"""Programs of others that the drop-in tests run: fetched once from the package index into the build folder,
never kept in the source.

A program that cannot be had (no network, no package) is a skip with a reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "dev"))

from hpcc import find_hpcc, write_input
from mpi_launch import how_to_get

EXIT_SKIPPED = 77
MPI4PY = "4.1.2"


def skip(reason: str) -> None:
    print(f"SKIPPED: {reason}")
    sys.exit(EXIT_SKIPPED)


def _pip(*words: str, **variables: str) -> bool:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    return subprocess.run(command, check=False, env={**os.environ, **variables}).returncode == 0


def _download(folder: Path, *words: str, **variables: str) -> Path | None:
    """The one file that pip brings."""
    if not _pip("download", "--no-deps", "--dest", str(folder), *words, **variables):
        return None
    files = [path for path in folder.iterdir() if path.is_file()]
    return files[0] if files else None


def mpi4py_suite(cache: Path) -> Path:
    """The folder test/ of mpi4py's source archive. pip asks how it is built: that needs two tools."""
    home = cache / f"mpi4py-{MPI4PY}"
    suite = home / "test"
    if suite.is_dir():
        return suite
    tools, fetched = cache / "tools", cache / "fetched-mpi4py"
    ready = _pip("install", "--target", str(tools), "setuptools==80.9.0", "wheel")
    words = ("--no-binary", ":all:", "--no-build-isolation", f"mpi4py=={MPI4PY}")
    archive = _download(fetched, *words, PYTHONPATH=str(tools)) if ready else None
    if archive is None:
        skip(f"the source archive of mpi4py {MPI4PY} cannot be downloaded")
        raise AssertionError
    partly = cache / f"unpacking-{os.getpid()}"
    with tarfile.open(archive) as tar:
        tar.extractall(partly, filter="data")
    if not suite.is_dir():
        (partly / f"mpi4py-{MPI4PY}").rename(home)
    shutil.rmtree(partly, ignore_errors=True)
    return suite


def imb(prefix: Path) -> Path:
    """IMB-MPI1, a binary for the MPICH ABI that comes with Intel MPI."""
    program = prefix / "impi" / "bin" / "IMB-MPI1"
    if not program.is_file():
        skip(f"no Intel MPI here, which IMB-MPI1 comes with ({how_to_get('impi')})")
    return program


def hpcc_command(folder: Path, size: int, ranks: int) -> list[str]:
    """HPCC, with its input in `folder`."""
    executable = find_hpcc()
    if executable is None:
        skip("no hpcc here (apt-get install hpcc)")
        raise AssertionError
    write_input(folder, size, ranks)
    return [executable]
