"""Running MPI jobs so that nothing outlives them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

_grace_seconds = 5.0
_orphan_seconds = 1.0  # for ranks to notice that their launcher is gone
_terminal_seconds = 0.5  # Ctrl-C reaches the launcher as well, and a second signal would make it rush
_signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Finished:
    status: int
    output: str
    errors: str
    timed_out: bool = False


class Ended(SystemExit):
    """A signal asked this command to end; whatever runs is ended on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def _on_signal(number: int, _frame: FrameType | None) -> None:
    for later in _signals:  # the way out must not be cut short: it takes seconds at most
        signal.signal(later, signal.SIG_IGN)
    raise Ended(number)


def unwind_on_signals() -> None:
    """SIGTERM, SIGINT and SIGHUP become `Ended`, unless they are ignored (nohup)."""
    for number in _signals:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)


def _dies_with(parent: int) -> Callable[[], None]:
    """For a child before it starts: SIGTERM when this process is gone, even if by SIGKILL."""

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGTERM)

    return prepare


def _parents() -> dict[int, int]:
    """pid -> parent, of all processes that still run."""
    table = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                table[int(folder.name)] = int(fields[1])
    return table


def _below(ancestor: int, parents: Mapping[int, int], without: Collection[int] = ()) -> Iterator[int]:
    for pid, parent in parents.items():
        if parent == ancestor and pid not in without:
            yield pid
            yield from _below(pid, parents)


class _Job:
    """A launcher with all that it starts. MPI daemons leave its group and its session, and orphans lose their
    parent: they come back to this process, which is their reaper."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], **how: Any) -> None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        parents = _parents()
        self._older = frozenset(pid for pid, parent in parents.items() if parent == os.getpid())
        self.launcher: subprocess.Popen[str] = subprocess.Popen(
            command, env=environment, text=True, errors="replace", preexec_fn=_dies_with(os.getpid()), **how
        )

    def _running(self) -> list[int]:
        self.launcher.poll()
        return list(_below(os.getpid(), _parents(), self._older))

    def _is_gone(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        orphaned = False
        while left := self._running():
            if not orphaned and self.launcher.pid not in left:
                orphaned = True
                deadline = min(deadline, time.monotonic() + _orphan_seconds)
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def end(self, first_seconds: float = 0.0) -> None:
        """Asks the launcher to end its ranks; what is still there after a while is killed."""
        if first_seconds and self._is_gone(first_seconds):
            return
        self.launcher.terminate()
        if self._is_gone(_grace_seconds):
            return
        deadline = time.monotonic() + _grace_seconds
        while (left := self._running()) and time.monotonic() < deadline:
            for pid in left:  # again and again: a process may fork while it is hunted
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)


def run_captured(command: Sequence[str], environment: dict[str, str], seconds: float) -> Finished:
    pipe = subprocess.PIPE
    job = _Job(
        command, environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        output, errors = job.launcher.communicate(timeout=seconds)
        return Finished(job.launcher.returncode, output, errors)
    except subprocess.TimeoutExpired:
        job.end()
        output, errors = job.launcher.communicate()
        return Finished(124, output, errors, timed_out=True)
    except BaseException:
        job.end()
        raise


def _came_from_terminal(problem: BaseException) -> bool:
    return isinstance(problem, KeyboardInterrupt) or (
        isinstance(problem, Ended) and problem.number == signal.SIGINT
    )


def run_attached(command: Sequence[str], environment: dict[str, str]) -> int:
    """On this terminal and in its foreground group, with its standard input."""
    job = _Job(command, environment)
    try:
        status = job.launcher.wait()
    except BaseException as problem:
        job.end(_terminal_seconds if _came_from_terminal(problem) else 0.0)
        raise
    return 128 - status if status < 0 else status
