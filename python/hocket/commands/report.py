"""hocket report: a report file for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hocket import reports
from hocket.console import console


def report(file: Annotated[Path, typer.Argument(help="What HOCKET_REPORT=FILE wrote (JSON lines).")]) -> None:
    """Show the report of a run: what ran, how often, how long, and why."""
    console.print(reports.renderable(reports.read(file)))


def register(app: typer.Typer) -> None:
    app.command("report")(report)
