"""hocket verify: proves schedules of the catalog, and recipes of them, by symbolic execution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Annotated, Protocol

import typer

from hocket import catalog
from hocket.catalog import Named, Row
from hocket.console import console
from hocket.core import core
from hocket.errors import CommandError
from hocket.quantities import parse_ranks
from hocket.shapes import SHAPES, shape_of
from hocket.simulate import placement

_places = cache(placement.of_job)


@dataclass(frozen=True)
class _Call:
    ranks: int
    root: int
    commutative: bool

    def text(self, in_place: bool) -> str:
        order = "" if self.commutative else ", not commutative"
        return f"{self.ranks} ranks, root {self.root}{order}{', in place' if in_place else ''}"


class _Claim(Protocol):
    """That a row of the catalog, or a recipe of it, does what the collective is."""

    @property
    def row(self) -> Row: ...
    @property
    def name(self) -> str: ...
    def obstacle(self, call: _Call) -> str:
        """Why it cannot do this call."""

    def verify(self, call: _Call, in_place: bool) -> str:
        """What is wrong with it; empty where it is proved."""


@dataclass(frozen=True)
class _Flat:
    named: Named

    @property
    def row(self) -> Row:
        return self.named.row

    @property
    def name(self) -> str:
        return f"{self.row['collective']}:{self.row['name']}"

    def obstacle(self, call: _Call) -> str:
        fits = core().fits(*self.named.request(call.ranks, call.root, call.commutative))
        return "" if fits else "it does not fit this number of ranks"

    def verify(self, call: _Call, in_place: bool) -> str:
        request = self.named.request(call.ranks, call.root, call.commutative)
        return str(core().verify(*request, in_place))


@dataclass(frozen=True)
class _Machine:
    """Where the ranks of a job are, of any size."""

    topology: str
    placed: str
    ranks_per_node: int

    def places(self, ranks: int) -> placement.Places:
        return _places(self.topology, self.placed, ranks, self.ranks_per_node)


@dataclass(frozen=True)
class _Recipe:
    row: Row
    text: str
    machine: _Machine

    @property
    def name(self) -> str:
        return f"{self.row['collective']}:{self.text}"

    def _asked(self, function: str, call: _Call, *more: bool) -> str:
        places = self.machine.places(call.ranks)
        what = (self.row["collective"], self.text, call.ranks, call.root, call.commutative, places, *more)
        try:
            return str(getattr(core(), function)(*what))
        except RuntimeError as problem:
            raise CommandError(f"{self.name}: {problem}") from problem

    def obstacle(self, call: _Call) -> str:
        try:
            self.machine.places(call.ranks)
        except CommandError as no_room:
            return str(no_room)
        return self._asked("recipe_obstacle", call)

    def verify(self, call: _Call, in_place: bool) -> str:
        return self._asked("verify_recipe", call, in_place)


def _check_blocks(function: str, row: Row) -> None:
    """What is proved of a collective holds for its v-form only where blocks may differ."""
    if row["blocks"] == "equal" and not shape_of(function).equal_blocks:
        raise CommandError(f"{row['name']} needs equal blocks, and those of {function} may differ")


def _claims(text: str, machine: _Machine) -> Sequence[_Claim]:
    if not text:
        return [_Flat(catalog.row_named(row["collective"], row["name"])) for row in catalog.rows()]
    collective, name = catalog.split(text)
    algorithm, words = catalog.split_recipe(name)
    if algorithm:
        _check_blocks(text.partition(":")[0], catalog.row_named(collective, algorithm).row)
    if words:
        return [_Recipe(catalog.row_named(collective, algorithm).row, name, machine)]
    names = [name] if name else [row["name"] for row in catalog.rows(collective)]
    return [_Flat(catalog.row_named(collective, each)) for each in names]


def _roots(row: Row, ranks: int) -> Sequence[int]:
    rooted = SHAPES[row["collective"]].rooted
    return sorted({0, ranks // 2, ranks - 1}) if rooted else [0]


def _orders(row: Row) -> Sequence[bool]:
    """Commutative or not: a row that keeps the order of ranks has to do so where it matters."""
    return [True, False] if SHAPES[row["collective"]].reduction and row["order"] == "ranked" else [True]


def _calls(claim: _Claim, ranks: Sequence[int]) -> Iterator[_Call]:
    for count in ranks:
        for root, commutative in product(_roots(claim.row, count), _orders(claim.row)):
            yield _Call(count, root, commutative)


def _results(claim: _Claim, calls: Sequence[_Call]) -> Iterator[str]:
    """For each call what is wrong with it; empty where it is proved."""
    for call in calls:
        for in_place in [False, True] if claim.row["in_place"] else [False]:
            what = claim.verify(call, in_place)
            yield f"{call.text(in_place)}: {what}" if what else ""


def _fitting(claim: _Claim, ranks: Sequence[int]) -> list[_Call]:
    """Who names a recipe wants to know why there is none."""
    obstacles = {call: claim.obstacle(call) for call in _calls(claim, ranks)}
    if isinstance(claim, _Recipe) and all(obstacles.values()):
        call, why = next(iter(obstacles.items()))
        raise CommandError(f"{claim.name}: {call.text(False)}: {why}")
    return [call for call, why in obstacles.items() if not why]


def _show(claim: _Claim, ranks: Sequence[int]) -> int:
    """The number of requests that are not proved."""
    results = list(_results(claim, _fitting(claim, ranks)))
    wrong = [what for what in results if what]
    verdict = (
        f"[red]WRONG ({len(wrong)} of {len(results)})[/]" if wrong else f"proved for {len(results)} requests"
    )
    console.print(f"{claim.name:45} {verdict if results else '[dim]fits none of these[/]'}")
    for what in wrong[:3]:
        console.print(f"    {what}", markup=False)
    return len(wrong)


def verify(
    algorithm: Annotated[
        str,
        typer.Argument(
            help="COLLECTIVE or COLLECTIVE:ALGORITHM, or a recipe: 'allreduce:ring by nodes'; default: the "
            "whole catalog."
        ),
    ] = "",
    ranks: Annotated[str, typer.Option(help="For example 8 or 1-33 or 2,4,8.")] = "1-33",
    topology: Annotated[
        str, typer.Option(envvar="HOCKET_TOPOLOGY", help="For recipes: the machine, such as leaf:4 node:4.")
    ] = "",
    placed: Annotated[str, typer.Option("--placement", help="block, cyclic or scattered.")] = "block",
    ranks_per_node: Annotated[int, typer.Option(min=0, help="Default: what fits.")] = 0,
) -> None:
    """Prove by symbolic execution: every rank ends with the right contributions, without deadlock or race."""
    counts = parse_ranks(ranks)
    claims = _claims(algorithm, _Machine(topology, placed, ranks_per_node))
    bad = sum(_show(claim, counts) for claim in claims)
    if bad:
        raise CommandError(f"{bad} requests are not proved", 1)


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)
