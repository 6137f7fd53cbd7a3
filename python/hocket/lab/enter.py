"""Runs a command on the head node of a lab: `enter.py PID START USERS FOLDER COMMAND...`, as a script.

It stands between the caller and the command, which is born into the lab's PID namespace: it hands signals on,
ends the command when it ends itself, and returns its status. PID and START name the supervisor, USERS is 1
where the lab has a user namespace.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hocket.lab import kernel, process

_head = kernel.PID | kernel.MOUNT | kernel.NET | kernel.UTS | kernel.IPC
_handed_on = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def _run(folder: str, command: list[str]) -> NoReturn:
    kernel.die_with_parent(signal.SIGTERM)
    os.chdir("/")
    with contextlib.suppress(OSError):
        os.chdir(folder)
    os.environ["PATH"] = kernel.search_path()
    try:
        os.execvp(command[0], command)
    except OSError as problem:
        print(f"hocket lab: cannot run '{command[0]}': {problem.strerror}", file=sys.stderr)
        os._exit(127)


def _hand_on(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have just ended
        os.kill(child, number)


def _wait(child: int) -> int:
    """The terminal's own signals reach the command anyway, but nobody else's do."""
    for number in _handed_on:
        signal.signal(number, lambda received, _: _hand_on(child, received))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 128 - status if status < 0 else status


def main() -> None:
    pid, start, users, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    supervisor = process.Process(pid, start)
    if not supervisor.is_alive():
        sys.exit("hocket lab: the lab has ended")
    kernel.enter(pid, _head | (kernel.USER if users == "1" else 0))
    child = os.fork()
    if child == 0:
        _run(folder, sys.argv[5:])
    sys.exit(_wait(child))


if __name__ == "__main__":
    main()
