"""hwloc's view of a machine, where Hocket was built with hwloc and hwloc is still there."""

from __future__ import annotations

import importlib
from types import ModuleType

from hocket.errors import CommandError


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
