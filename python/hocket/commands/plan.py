"""hocket plan: the schedule of one rank, or of all, as text or JSON."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hocket import catalog
from hocket.core import core
from hocket.errors import CommandError


def _check_place(ranks: int, rank: int | None, root: int) -> None:
    for name, value in (("rank", rank or 0), ("root", root)):
        if not 0 <= value < ranks:
            raise CommandError(f"there is no {name} {value} among {ranks} ranks")


def plan(
    algorithm: Annotated[
        str, typer.Argument(help="COLLECTIVE:ALGORITHM, with parameters: bcast:knomial(radix=4).")
    ],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Number of ranks.")] = 4,
    rank: Annotated[int | None, typer.Option(help="Only this rank; default: all of them.")] = None,
    root: Annotated[int, typer.Option(help="Root of a rooted collective.")] = 0,
    non_commutative: Annotated[
        bool, typer.Option("--non-commutative", help="The operation is not commutative.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead of text.")] = False,
) -> None:
    """Print an algorithm's schedule: which rank sends, receives, copies and reduces what."""
    collective, name = catalog.split(algorithm)
    if not name:
        names = ", ".join(f"{collective}:{row['name']}" for row in catalog.rows(collective))
        raise CommandError(f"which algorithm? There are: {names}")
    _check_place(ranks, rank, root)
    chosen = catalog.row_named(collective, name)
    wanted = range(ranks) if rank is None else [rank]
    request = chosen.request(ranks, root, not non_commutative)
    if not core().fits(*request):
        raise CommandError(f"{collective}:{chosen.row['name']} does not fit {ranks} ranks")
    if as_json:
        schedules = [core().schedule(*request, each) for each in wanted]
        print(json.dumps(schedules if rank is None else schedules[0], indent=2))
    else:
        print("\n".join(core().schedule_text(*request, each) for each in wanted), end="")


def register(app: typer.Typer) -> None:
    app.command("plan")(plan)
