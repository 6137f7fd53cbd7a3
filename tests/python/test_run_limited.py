"""dev/run_limited.py ends what it started, whatever that did to hide."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

RUN_LIMITED = Path(__file__).resolve().parents[2] / "dev" / "run_limited.py"


def run(seconds: float, script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUN_LIMITED), "--seconds", str(seconds), "--", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def is_running(marker: str) -> bool:
    return any(
        marker in path.read_text(errors="replace")
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.exists()
    )


def test_passes_the_exit_status_on() -> None:
    assert run(10, "exit 3").returncode == 3
    assert run(10, "echo here").stdout == "here\n"


def test_reports_a_signal_as_a_shell_does() -> None:
    assert run(10, "kill -9 $$").returncode == 128 + 9


def test_a_hang_is_ended_and_named() -> None:
    before = time.monotonic()
    result = run(0.5, "sleep 61.0101 & setsid sleep 61.0102")
    assert result.returncode == 124
    assert "sleep 61.0101" in result.stderr and "sleep 61.0102" in result.stderr
    assert time.monotonic() - before < 20
    assert not is_running("61.0101") and not is_running("61.0102")


def test_a_daemon_left_behind_is_an_error() -> None:
    result = run(20, "setsid sleep 61.0103 </dev/null >/dev/null 2>&1 & sleep 0.2; exit 0")
    assert result.returncode == 70
    assert "sleep 61.0103" in result.stderr
    assert not is_running("61.0103")


def test_a_program_that_is_not_there() -> None:
    command = [sys.executable, str(RUN_LIMITED), "--seconds", "5", "--", "no-such-program"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 127


def test_temporary_files_are_removed() -> None:
    folder = run(10, 'touch "$TMPDIR/left"; echo "$TMPDIR"').stdout.strip()
    assert folder and not Path(folder).exists()
    folder = run(0.5, 'touch "$TMPDIR/left"; echo "$TMPDIR"; sleep 61.0104').stdout.strip()
    assert folder and not Path(folder).exists()
