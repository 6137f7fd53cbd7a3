"""What the user is told instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterable

EXIT_USAGE = 2


class CommandError(Exception):
    """Ends the command with one line on standard error and this exit status."""

    def __init__(self, message: str, status: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.status = status


def why(problem: Exception) -> str:
    """Without the number and the file's name, which stand elsewhere in the message."""
    text = problem.strerror if isinstance(problem, OSError) else None
    return text or str(problem)


def unknown(what: str, name: str, known: Iterable[str]) -> CommandError:
    return CommandError(f"no {what} named '{name}'; there are: {', '.join(known) or 'none'}")
