"""hocket plan: the schedule of one rank, or of all, as text, as JSON or in GOAL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from hocket import catalog
from hocket.catalog import Request
from hocket.core import core
from hocket.errors import CommandError
from hocket.loggp import parameters
from hocket.loggp.parameters import Parameters
from hocket.quantities import parse_bytes
from hocket.simulate import placement
from hocket.simulate.placement import Places


def _check_place(ranks: int, rank: int | None, root: int) -> None:
    for name, value in (("rank", rank or 0), ("root", root)):
        if not 0 <= value < ranks:
            raise CommandError(f"there is no {name} {value} among {ranks} ranks")


def _print_goal(request: Request, size: int, machine: Parameters) -> None:
    """Rank by rank: all of them at once may be large."""
    network = machine.network()
    print(f"num_ranks {request.ranks}")
    for rank in range(request.ranks):
        try:
            print("\n" + core().goal(*request, size, network, rank), end="")
        except RuntimeError as problem:
            raise CommandError(f"{request.collective}:{request.algorithm}: {problem}") from problem


def _print_recipe(
    collective: str, text: str, job: tuple[int, int, bool, Places], wanted: Iterable[int]
) -> None:
    ranks, root, commutative, places = job
    try:
        for rank in wanted:
            print(core().recipe_text(collective, text, ranks, root, commutative, places, rank), end="")
    except RuntimeError as problem:
        raise CommandError(f"{collective}:{text}: {problem}") from problem


def plan(
    algorithm: Annotated[
        str,
        typer.Argument(
            help="COLLECTIVE:ALGORITHM, with parameters: bcast:knomial(radix=4); or a recipe: "
            "'gather:linear by leaves'."
        ),
    ],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Number of ranks.")] = 4,
    rank: Annotated[int | None, typer.Option(help="Only this rank; default: all of them.")] = None,
    root: Annotated[int, typer.Option(help="Root of a rooted collective.")] = 0,
    non_commutative: Annotated[
        bool, typer.Option("--non-commutative", help="The operation is not commutative.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead of text.")] = False,
    goal: Annotated[
        bool, typer.Option("--goal", help="In GOAL, for LogGOPSim and ATLAHS: all ranks, in bytes and ns.")
    ] = False,
    size: Annotated[
        str, typer.Option("--bytes", help="With --goal: bytes of the vector, or of one block.")
    ] = "8",
    loggp: Annotated[
        Path | None, typer.Option(help="With --goal: costs of copies and reductions from this file.")
    ] = None,
    topology: Annotated[
        str, typer.Option(envvar="HOCKET_TOPOLOGY", help="For recipes: the machine, such as leaf:4 node:4.")
    ] = "",
    placed: Annotated[str, typer.Option("--placement", help="block, cyclic or scattered.")] = "block",
    ranks_per_node: Annotated[int, typer.Option(min=0, help="Default: what fits.")] = 0,
) -> None:
    """Print an algorithm's schedule: which rank sends, receives, copies and reduces what."""
    collective, name = catalog.split(algorithm)
    if not name:
        names = ", ".join(f"{collective}:{row['name']}" for row in catalog.rows(collective))
        raise CommandError(f"which algorithm? There are: {names}")
    _check_place(ranks, rank, root)
    wanted = range(ranks) if rank is None else [rank]
    if catalog.split_recipe(name)[1]:
        places = placement.of_job(topology, placed, ranks, ranks_per_node)
        _print_recipe(collective, name, (ranks, root, not non_commutative, places), wanted)
        return
    chosen = catalog.row_named(collective, name)
    request = chosen.request(ranks, root, not non_commutative)
    if not core().fits(*request):
        raise CommandError(f"{collective}:{chosen.row['name']} does not fit {ranks} ranks")
    if goal:
        machine = parameters.read(loggp) if loggp else parameters.DEFAULTS
        _print_goal(request, parse_bytes(size), machine)
    elif as_json:
        schedules = [core().schedule(*request, each) for each in wanted]
        print(json.dumps(schedules if rank is None else schedules[0], indent=2))
    else:
        print("\n".join(core().schedule_text(*request, each) for each in wanted), end="")


def register(app: typer.Typer) -> None:
    app.command("plan")(plan)
