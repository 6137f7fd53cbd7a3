"""hocket bench --net: what collectives that reduce in the network are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket.bench import registration
from hocket.bench.jsonl import schema_of
from hocket.console import console, show_table
from hocket.errors import CommandError, unknown


@dataclass(frozen=True)
class Options:
    """Those of `hocket bench` that go with --net."""

    only: str = ""  # names, with commas between them
    sizes: Sequence[int] = ()  # empty: the experiment's
    runs: int = 5
    seconds: float = 0.1
    quick: bool = False

    def experiments(self) -> list[str]:
        names = self.only.split(",") if self.only else list(_EXPERIMENTS)
        for name in names:
            if name not in _EXPERIMENTS:
                raise unknown("experiment", name, list(_EXPERIMENTS))
        return names


def _show_registration(found: Sequence[registration.Operation]) -> None:
    show_table(registration.HEADER, registration.rows(found))


def _registration(options: Options, out: Path | None) -> None:
    found: list[registration.Operation] = []
    for number in range(1 if options.quick else options.runs):
        console.print(f"[dim]registration, run {number} ...[/]")
        seconds = 0.002 if options.quick else options.seconds
        fresh = registration.run(number, options.sizes or registration.SIZES, seconds)
        found += fresh
        if out:
            registration.OPERATIONS.append(out, fresh)
    _show_registration(found)


_EXPERIMENTS: dict[str, Callable[[Options, Path | None], None]] = {"registration": _registration}


def show_file(path: Path) -> bool:
    """False: the file holds other records."""
    if schema_of(path) != registration.OPERATIONS.schema:
        return False
    _show_registration(registration.OPERATIONS.read(path))
    return True


def run(options: Options, out: Path | None) -> None:
    names = options.experiments()
    if out and len(names) > 1:
        raise CommandError("a file holds records of one kind: --out takes one experiment, by --only")
    for name in names:
        _EXPERIMENTS[name](options, out)
