"""The compiled part, with a clear message where it is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from hocket.errors import CommandError


def core() -> ModuleType:
    try:
        return importlib.import_module("hocket._core")
    except ImportError as problem:
        raise CommandError(
            f"hocket._core cannot be loaded ({problem}); build it with 'make build' or 'pip install .'",
            status=1,
        ) from problem
