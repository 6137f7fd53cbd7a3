"""What a record says of the machine it was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    try:
        for line in cpuinfo.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model"):
                return " ".join(value.split())
    except OSError:
        pass
    return platform.machine()


def load() -> float:
    """Processes that wanted to run, averaged over the last minute."""
    return round(os.getloadavg()[0], 2)


def link() -> str:
    """The rate that dev/shaped.sh gave the loopback device, such as 2gbit; "": it carries what it can."""
    return os.environ.get("SHAPED_LOOPBACK", "")


def cores() -> int:
    return len(os.sched_getaffinity(0))
