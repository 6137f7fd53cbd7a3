"""One console for all commands, wide enough for tables when the output is not a terminal."""

from __future__ import annotations

import sys

from rich.console import Console

_piped_width = 150

console = Console(width=None if sys.stdout.isatty() else _piped_width, highlight=False, soft_wrap=False)
