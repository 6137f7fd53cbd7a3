"""Hocket's command line, bench runner and tools; the library itself is C++ and needs none of this."""

from __future__ import annotations

from importlib import metadata

try:
    __version__ = metadata.version("hocket")
except metadata.PackageNotFoundError:  # run from a source tree
    __version__ = "0+source"
