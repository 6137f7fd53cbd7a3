#!/usr/bin/env python3
"""Runs a command beside a tree of two `hocket-switch`, and tells it where that is.

    with_switch.py HOCKET_SWITCH COMMAND...

Exit status: the command's own. The command finds HOCKET_SWITCH, the leaf's place, and TEST_SWITCHES: the
process numbers of root and leaf, with a comma. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys

SAYS = "hocket-switch: listening on "


def _start(program: str, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A switch, and where it listens."""
    switch = subprocess.Popen(
        [program, "--listen", "127.0.0.1:0", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert switch.stdout is not None
    line = switch.stdout.readline().strip()
    if not line.startswith(SAYS):
        switch.kill()
        sys.exit(f"with_switch: hocket-switch does not listen: {line}")
    return switch, line.removeprefix(SAYS).split()[0]


def main() -> int:
    program, *command = sys.argv[1:]
    root, above = _start(program)
    leaf, place = _start(program, "--parent", above)
    try:
        settings = {"HOCKET_SWITCH": place, "TEST_SWITCHES": f"{root.pid},{leaf.pid}"}
        status = subprocess.run(command, env={**os.environ, **settings}, check=False).returncode
    finally:
        for switch in (leaf, root):
            switch.kill()
            switch.wait(10)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
