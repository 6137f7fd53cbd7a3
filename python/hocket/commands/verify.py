"""hocket verify: proves schedules of the catalog by symbolic execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated

import typer

from hocket import catalog
from hocket.catalog import Named, Request, Row
from hocket.console import console
from hocket.core import core
from hocket.errors import CommandError
from hocket.quantities import parse_ranks
from hocket.shapes import SHAPES


def _rows(text: str) -> list[Named]:
    if not text:
        return [catalog.row_named(row["collective"], row["name"]) for row in catalog.rows()]
    collective, name = catalog.split(text)
    names = [name] if name else [row["name"] for row in catalog.rows(collective)]
    return [catalog.row_named(collective, each) for each in names]


def _roots(row: Row, ranks: int) -> Sequence[int]:
    rooted = SHAPES[row["collective"]].rooted
    return sorted({0, ranks // 2, ranks - 1}) if rooted else [0]


def _orders(row: Row) -> Sequence[bool]:
    """Commutative or not: a row that keeps the order of ranks has to do so where it matters."""
    return [True, False] if SHAPES[row["collective"]].reduction and row["order"] == "ranked" else [True]


def _requests(named: Named, ranks: Sequence[int]) -> Iterator[Request]:
    for count in ranks:
        for root, commutative in product(_roots(named.row, count), _orders(named.row)):
            request = named.request(count, root, commutative)
            if core().fits(*request):
                yield request


def _text(request: Request, in_place: bool) -> str:
    order = "" if request.commutative else ", not commutative"
    return f"{request.ranks} ranks, root {request.root}{order}{', in place' if in_place else ''}"


def _results(named: Named, ranks: Sequence[int]) -> Iterator[str]:
    """For each request what is wrong with it; empty where it is proved."""
    for request in _requests(named, ranks):
        for in_place in [False, True] if named.row["in_place"] else [False]:
            what = core().verify(*request, in_place)
            yield f"{_text(request, in_place)}: {what}" if what else ""


def verify(
    algorithm: Annotated[
        str, typer.Argument(help="COLLECTIVE or COLLECTIVE:ALGORITHM; default: the whole catalog.")
    ] = "",
    ranks: Annotated[str, typer.Option(help="For example 8 or 1-33 or 2,4,8.")] = "1-33",
) -> None:
    """Prove by symbolic execution: every rank ends with the right contributions, without deadlock or race."""
    counts = parse_ranks(ranks)
    bad = 0
    for named in _rows(algorithm):
        results = list(_results(named, counts))
        wrong = [what for what in results if what]
        bad += len(wrong)
        name = f"{named.row['collective']}:{named.row['name']}"
        verdict = (
            f"[red]WRONG ({len(wrong)} of {len(results)})[/]"
            if wrong
            else f"proved for {len(results)} requests"
        )
        console.print(f"{name:45} {verdict if results else '[dim]fits none of these[/]'}")
        for what in wrong[:3]:
            console.print(f"    {what}", markup=False)
    if bad:
        raise CommandError(f"{bad} requests are not proved", 1)


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)
