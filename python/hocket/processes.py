"""Running MPI jobs so that nothing outlives them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

_grace_seconds = 5.0


@dataclass(frozen=True)
class Finished:
    status: int
    output: str
    errors: str
    timed_out: bool = False


def _end_group(process: subprocess.Popen[str]) -> None:
    """Asks the launcher to clean up, then ends its whole process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_grace_seconds)


def run_captured(command: Sequence[str], environment: dict[str, str], seconds: float) -> Finished:
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
        return Finished(process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        _end_group(process)
        output, errors = process.communicate()
        return Finished(124, output, errors, timed_out=True)
    except BaseException:
        _end_group(process)
        raise


def run_attached(command: Sequence[str], environment: dict[str, str]) -> int:
    """On this terminal, with its standard input; interrupts reach the launcher, which ends its ranks."""
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            status = process.wait()
            return 128 - status if status < 0 else status
        except KeyboardInterrupt:
            continue
