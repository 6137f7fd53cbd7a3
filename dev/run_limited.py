#!/usr/bin/env python3
"""Runs a command with a time limit and makes sure that nothing of it stays behind.

    run_limited.py --seconds 60 -- COMMAND...

Exit status: the command's own; 124 when the limit was reached; 70 when it ended but left processes behind.
All descendants are found, also those that left the process group or session (MPI daemons do): this process is
their "child subreaper", so orphans come back to it. The command has a TMPDIR of its own: a killed mpirun
leaves a folder there that is named after its process number, and a later one of the same number would not
start in Open MPI 5. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from types import FrameType

EXIT_TIMEOUT = 124
EXIT_LEFT_BEHIND = 70
PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 2.0  # daemons may need a moment to end after the program they served


def _parents() -> dict[int, int]:
    """pid -> parent of every process that is not a zombie."""
    table = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            table[int(entry)] = int(fields[1])
    return table


def descendants() -> list[int]:
    table = _parents()
    found: list[int] = []
    frontier = {os.getpid()}
    while frontier:
        frontier = {pid for pid, parent in table.items() if parent in frontier}
        found += sorted(frontier)
    return found


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read().replace("\0", " ").strip() or "?"
    except OSError:
        return "?"


def end_descendants() -> None:
    """SIGKILL, repeated until none is left: a process may fork while it is being hunted."""
    for _ in range(50):
        pids = descendants()
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap()
        time.sleep(0.02)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass


def _left_behind() -> list[int]:
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        _reap()
        pids = descendants()
        if not pids or time.monotonic() > deadline:
            return pids
        time.sleep(0.02)


def _on_signal(number: int, _frame: FrameType | None) -> None:
    end_descendants()
    sys.exit(128 + number)


def run_limited(command: Sequence[str], seconds: float, environment: dict[str, str] | None = None) -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _on_signal)
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="limited.", ignore_cleanup_errors=True) as folder:
        return _run(
            command, seconds, {**(os.environ if environment is None else environment), "TMPDIR": folder}
        )


def _run(command: Sequence[str], seconds: float, environment: dict[str, str]) -> int:
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, env=environment)
    except OSError as error:
        print(f"run_limited: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    try:
        status = child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"run_limited: no end after {seconds:g} s, stopping:", file=sys.stderr)
        for pid in descendants():
            print(f"  {pid} {_name(pid)}", file=sys.stderr)
        end_descendants()
        return EXIT_TIMEOUT
    left = _left_behind()
    if left:
        print("run_limited: the command left processes behind:", file=sys.stderr)
        for pid in left:
            print(f"  {pid} {_name(pid)}", file=sys.stderr)
        end_descendants()
        return EXIT_LEFT_BEHIND
    return status if status >= 0 else 128 - status


def main() -> int:
    parser = argparse.ArgumentParser(description="run a command with a time limit; leave nothing behind")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    return run_limited(arguments.command, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())
