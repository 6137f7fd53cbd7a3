"""A command that is told to end takes its launcher and all ranks with it, and its temporary folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hocket import _paths, mpis
from hocket.bench.program import bench_program
from hocket.errors import CommandError
from waiting import until

Start = Callable[..., "subprocess.Popen[str]"]
_own = f"{os.getpid():07d}"  # no other run of these tests starts the same commands
_ignore = "trap '' TERM INT HUP\n"
# A rank in the launcher's group and one in a session of its own: both in the background, as ranks are.
_launcher = """
case "$*" in *--version*) echo "mpirun (Open MPI) 5.0.0"; exit 0;; esac
{setting}sleep 61.{mark}1 &
setsid sleep 61.{mark}2 &
wait
{again}"""


def _running(marker: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_text(errors="replace").replace("\0", " ")
        except OSError:
            continue
        if marker in line:
            found.append(line)
    return found


def _default_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # whoever runs the tests may ignore some
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command with its temporary folders below the test's own."""
    started = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "hocket", *arguments],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_default_signals,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def _temporary_folders(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.iterdir() if path.is_dir() and path.name.startswith("hocket-")]


def _fake(executable: Callable[[str, str], Path], mark: str, stubborn: bool = False) -> Path:
    setting, again = (_ignore, "sleep 61.{mark}3") if stubborn else ("", "")
    return executable("mpirun", _launcher.format(setting=setting, mark=mark, again=again.format(mark=mark)))


def _benchmark_is_built() -> bool:
    try:
        return bench_program("ompi").exists()
    except CommandError:
        return False


built = pytest.mark.skipif(not _benchmark_is_built(), reason="the benchmark program is not built")


def _bench(launcher: Path) -> tuple[str, ...]:
    return ("bench", "barrier", "--untouched", "--against", str(launcher))


def _run(launcher: Path) -> tuple[str, ...]:
    return ("run", "--no-hocket", "--mpi", str(launcher), "true")


@pytest.mark.parametrize(
    ("number", "mark"), [(signal.SIGTERM, "711"), (signal.SIGINT, "712"), (signal.SIGHUP, "713")]
)
@pytest.mark.parametrize("command", [pytest.param(_bench, marks=built), _run])
def test_ranks_end_with_the_command(
    start: Start,
    executable: Callable[[str, str], Path],
    tmp_path: Path,
    command: Callable[[Path], tuple[str, ...]],
    number: signal.Signals,
    mark: str,
) -> None:
    mark = _own + mark
    process = start(*command(_fake(executable, mark)))
    assert until(lambda: len(_running(f"sleep 61.{mark}")) == 2, 30)
    process.send_signal(number)
    assert process.wait(20) == 128 + number
    assert not _running(f"61.{mark}")
    assert not _temporary_folders(tmp_path)


@built
def test_a_launcher_that_ignores_signals_is_killed(
    start: Start, executable: Callable[[str, str], Path], tmp_path: Path
) -> None:
    mark = _own + "714"
    process = start(*_bench(_fake(executable, mark, stubborn=True)))
    assert until(lambda: len(_running(f"sleep 61.{mark}")) == 2, 30)
    process.terminate()
    time.sleep(0.2)
    process.terminate()  # an impatient second one does not cut the cleaning short
    assert process.wait(30) == 128 + signal.SIGTERM
    assert not _running(f"61.{mark}")
    assert not _temporary_folders(tmp_path)


def _embedded() -> list[mpis.Mpi]:
    return [mpi for mpi in mpis.discover() if mpi.name in ("openmpi", "mpich")]


@built
@pytest.mark.skipif(not _paths.hocket_exec().exists(), reason="Hocket is not built")
@pytest.mark.parametrize("mpi", _embedded(), ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_real_ranks_end_with_the_command(
    start: Start, tmp_path: Path, mpi: mpis.Mpi, number: signal.Signals
) -> None:
    """SIGKILL too: the launcher is told by the kernel."""
    marker = f"--out {tmp_path}/"  # in every rank's command line
    out = tmp_path / "records.jsonl"
    process = start(
        "bench", "allreduce", "-n", "3", "--against", mpi.name, "--sizes", "8..4K", "--seconds", "30",
        "--untouched", "--out", str(out),
    )  # fmt: skip
    ranks = f"hocket_bench_{mpi.family} "
    assert until(lambda: sum(ranks in line for line in _running(marker)) >= 3, 60)
    process.send_signal(number)
    process.wait(20)
    assert until(lambda: not _running(marker), 20), _running(marker)
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert not _temporary_folders(tmp_path)
