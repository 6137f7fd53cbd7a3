"""dev/run_limited.py ends what it started, whatever that did to hide."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

RUN_LIMITED = Path(__file__).resolve().parents[2] / "dev" / "run_limited.py"


def run(seconds: float, script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUN_LIMITED), "--seconds", str(seconds), "--", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def a_sleep(number: int) -> str:
    """A command that no other run of these tests starts."""
    return f"sleep 61.{os.getpid():07d}{number}"


def is_running(command: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it may end meanwhile
            if command in path.read_text(errors="replace").replace("\0", " "):
                return True
    return False


def test_passes_the_exit_status_on() -> None:
    assert run(10, "exit 3").returncode == 3
    assert run(10, "echo here").stdout == "here\n"


def test_reports_a_signal_as_a_shell_does() -> None:
    assert run(10, "kill -9 $$").returncode == 128 + 9


def test_a_hang_is_ended_and_named() -> None:
    before = time.monotonic()
    first, second = a_sleep(1), a_sleep(2)
    result = run(3, f"{first} & setsid {second}")
    assert result.returncode == 124
    assert first in result.stderr and second in result.stderr
    assert time.monotonic() - before < 40
    assert not is_running(first) and not is_running(second)


def test_a_daemon_left_behind_is_an_error() -> None:
    daemon = a_sleep(3)
    result = run(20, f"setsid {daemon} </dev/null >/dev/null 2>&1 & sleep 0.2; exit 0")
    assert result.returncode == 70
    assert daemon in result.stderr
    assert not is_running(daemon)


def test_a_program_that_is_not_there() -> None:
    command = [sys.executable, str(RUN_LIMITED), "--seconds", "5", "--", "no-such-program"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 127


def test_temporary_files_are_removed() -> None:
    folder = run(10, 'touch "$TMPDIR/left"; echo "$TMPDIR"').stdout.strip()
    assert folder and not Path(folder).exists()
    folder = run(3, f'touch "$TMPDIR/left"; echo "$TMPDIR"; {a_sleep(4)}').stdout.strip()
    assert folder and not Path(folder).exists()
