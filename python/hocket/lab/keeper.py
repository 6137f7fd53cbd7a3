"""The process that outlives a lab with cards, to remove their control groups, however the lab has ended."""

from __future__ import annotations

import contextlib
import os
import signal

from hocket.lab import control_groups, kernel, machine

REMOVE_SECONDS = 5.0  # for processes that have ended to leave their group


def stay_behind(groups: control_groups.Groups) -> None:
    """Returns in a child. The caller ends here: after that child, and all that it leaves behind."""
    kernel.adopt_orphans()
    if os.fork() == 0:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    kernel.set_process_name("lab groups")
    machine.let_go_of_terminal(0, 1, 2)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    control_groups.remove(groups, REMOVE_SECONDS)
    os._exit(0)
