"""A process that is still the one it was: its number and when it started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

_state, _start_time = 0, 19  # fields of /proc/PID/stat behind the name


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


@dataclass(frozen=True)
class Process:
    pid: int
    start: int  # in clock ticks since boot

    def is_alive(self) -> bool:
        fields = _fields(self.pid)
        return bool(fields) and fields[_state] != "Z" and int(fields[_start_time]) == self.start

    def kill(self, seconds: float) -> bool:
        """True once it is gone, with all that its PID namespace held."""
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(self.pid)
            try:
                if self.is_alive():
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    return self._is_gone(descriptor, seconds)
            finally:
                os.close(descriptor)
        return True

    def _is_gone(self, descriptor: int, seconds: float) -> bool:
        gone = bool(select.select([descriptor], [], [], seconds)[0])
        if gone:
            with contextlib.suppress(ChildProcessError):  # only the lab of one command is a child
                os.waitpid(self.pid, 0)
        return gone


def running(pid: int) -> Process | None:
    fields = _fields(pid)
    return Process(pid, int(fields[_start_time])) if fields else None
