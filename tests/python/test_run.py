"""hocket run: the launch line, the status, the report at the end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import _paths, mpis
from hocket.bench.program import bench_program
from hocket.errors import CommandError

Hocket = Callable[..., subprocess.CompletedProcess[str]]


def _programs() -> list[tuple[str, str]]:
    """Every MPI here, with a program that calls collectives under it."""
    found = []
    for mpi in mpis.discover():
        try:
            found.append((mpi.name, str(bench_program(mpi.family))))
        except CommandError:
            continue
    return [(name, program) for name, program in found if name != "debian-mpich"]


PROGRAMS = _programs()
pytestmark = pytest.mark.skipif(
    not PROGRAMS or not _paths.hocket_exec().exists(), reason="no MPI, or Hocket is not built"
)
ARGUMENTS = ("--validate-only", "--collectives", "allreduce,bcast", "--sizes", "8")


@pytest.mark.parametrize(("name", "program"), PROGRAMS)
def test_the_report_ends_the_run(hocket: Hocket, name: str, program: str) -> None:
    done = hocket("run", "-n", "3", "--mpi", name, program, *ARGUMENTS)
    assert done.returncode == 0, done.stderr
    assert "What ran" in done.stdout
    assert "collective calls ran in Hocket" in done.stdout


def test_the_status_of_the_program_is_kept(hocket: Hocket) -> None:
    name, program = PROGRAMS[0]
    assert hocket("run", "--mpi", name, program, *ARGUMENTS[:-1], "7").returncode != 0


def test_without_hocket_there_is_no_report(hocket: Hocket) -> None:
    name, program = PROGRAMS[0]
    done = hocket(
        "run", "--no-hocket", "--mpi", name, program, "--untouched", "--seconds", "0.001", *ARGUMENTS[1:]
    )
    assert done.returncode == 0, done.stderr
    assert '"side": "untouched"' in done.stdout
    assert "What ran" not in done.stdout


def test_the_users_own_report_is_left_alone(hocket: Hocket, tmp_path: Path) -> None:
    name, program = PROGRAMS[0]
    file = tmp_path / "mine.jsonl"
    done = hocket("run", "--mpi", name, program, *ARGUMENTS, HOCKET_REPORT=str(file))
    assert done.returncode == 0, done.stderr
    assert "What ran" not in done.stdout
    assert file.stat().st_size > 0


def test_the_launch_line_can_be_seen(hocket: Hocket) -> None:
    name, program = PROGRAMS[0]
    line = hocket("run", "-n", "5", "--mpi", name, "--dry-run", program, "-n", "9").stdout
    assert f"-n 5 {_paths.hocket_exec()} {program} -n 9" in line


def test_a_program_without_mpi_is_reported_as_such(hocket: Hocket) -> None:
    done = hocket("run", "--mpi", PROGRAMS[0][0], "true")
    assert done.returncode == 0, done.stderr
    assert "no report: the program did not pass through MPI_Init" in done.stdout
