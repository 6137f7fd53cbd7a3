"""hwloc's view of a machine, where Hocket was built with hwloc and hwloc is still there."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from types import ModuleType
from typing import Any

from hocket.errors import CommandError

_READER_SECONDS = 60


def found() -> ModuleType | None:
    try:
        return needed()
    except CommandError:
        return None


def needed() -> ModuleType:
    try:
        return importlib.import_module("hocket._hwloc")
    except ImportError as problem:
        raise CommandError(
            f"this needs hwloc ({problem}): apt-get install libhwloc-dev, then build Hocket again", status=1
        ) from problem


def read_xml(text: bytes, origin: str) -> list[tuple[str, str, int]]:
    """The vertices of the machine that lstopo has written. `origin`: where the text is from, for errors."""
    needed()
    reader = [sys.executable, "-P", "-m", "hocket.topology.hwloc_reader", origin]
    try:
        done = subprocess.run(reader, input=text, capture_output=True, check=False, timeout=_READER_SECONDS)
    except subprocess.TimeoutExpired as problem:
        raise CommandError(f"hwloc does not come to an end with {origin}") from problem
    if done.returncode != 0:
        raise CommandError(f"hwloc cannot read {origin}: it has ended with status {done.returncode}")
    told: dict[str, Any] = json.loads(done.stdout)
    if "problem" in told:
        raise CommandError(told["problem"])
    return [(kind, name, parent) for kind, name, parent in told["vertices"]]
