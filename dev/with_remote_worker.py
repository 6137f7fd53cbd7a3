#!/usr/bin/env python3
"""Runs a command beside a `hocketd --listen` of its own, and tells it where that is.

    with_remote_worker.py HOCKETD COMMAND...

Exit status: the command's own; 70 when it ended but a worker stayed at the service. The command finds
HOCKET_WORKER_HOST and HOCKET_WORKER_KEY set, and TEST_WORKER_SERVICE: the service's process number.
Standard library only.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXIT_LEFT_BEHIND = 70
# longer than a worker waits for what its ranks have on their way when they end
FAREWELL_SECONDS = 15.0
SAYS = "hocketd: listening on "


def _children(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []


def _has_none(process: int) -> bool:
    end = time.monotonic() + FAREWELL_SECONDS
    while _children(process) and time.monotonic() < end:
        time.sleep(0.05)
    return not _children(process)


def _start(hocketd: str, key: Path) -> tuple[subprocess.Popen[str], str]:
    """The service, and where it listens."""
    key.touch(mode=0o600)
    key.write_text(secrets.token_hex(32))
    service = subprocess.Popen(
        [hocketd, "--listen", "127.0.0.1:0", "--key", str(key)], stdout=subprocess.PIPE, text=True
    )
    assert service.stdout is not None
    line = service.stdout.readline().strip()
    if not line.startswith(SAYS):
        service.kill()
        sys.exit(f"with_remote_worker: hocketd does not listen: {line}")
    return service, line.removeprefix(SAYS)


def main() -> int:
    hocketd, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key"
        service, place = _start(hocketd, key)
        try:
            settings = {
                "HOCKET_WORKER_HOST": place,
                "HOCKET_WORKER_KEY": str(key),
                "TEST_WORKER_SERVICE": str(service.pid),
            }
            status = subprocess.run(command, env={**os.environ, **settings}, check=False).returncode
            if not _has_none(service.pid):
                print(f"with_remote_worker: workers stay: {_children(service.pid)}", file=sys.stderr)
                status = status or EXIT_LEFT_BEHIND
        finally:
            service.terminate()
            service.wait(10)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
