"""hocket loggp: measures LogGP parameters of the MPI below, for `hocket explain --loggp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hocket import mpis
from hocket.bench import machine
from hocket.console import console
from hocket.errors import CommandError
from hocket.loggp import costs, lab_levels, latencies, measure, parameters
from hocket.loggp.measure import Measured
from hocket.loggp.parameters import Level, Protocol
from hocket.quantities import format_bytes, parse_bytes

_much = 0.5  # usual deviation of the model


def _rows(level: Level, error: float) -> list[list[str]]:
    def row(protocol: Protocol, first: bool) -> list[str]:
        numbers = (protocol.L, protocol.o, protocol.g)
        per_byte = (protocol.G, protocol.O)
        return [
            level.name if first else "",
            str(level.ranks or "all") if first else "",
            format_bytes(protocol.from_bytes),
            *(f"{number:.0f}" for number in numbers),
            *(f"{number:.4f}" for number in per_byte),
            f"x {level.both_ways:.2f}" if first else "",
            f"{error:.0%}" if first else "",
        ]

    return [row(protocol, i == 0) for i, protocol in enumerate(level.protocols)]


def _show(measured: Measured) -> None:
    found = measured.parameters
    console.print(found.origin(), markup=False, style="bold")
    table = Table(box=None, pad_edge=False)
    table.add_column("level", no_wrap=True)
    numbers = ("L [ns]", "o [ns]", "g [ns]", "G [ns/B]", "O [ns/B]")
    for name in ("ranks", "from", *numbers, "both ways", "model is off by"):
        table.add_column(name, justify="right")
    for level in found.levels:
        for row in _rows(level, measured.errors[level.name]):
            table.add_row(*row)
    console.print(table)
    console.print(f"copy {found.copy:.4f} ns/B, reduction {found.reduce:.4f} ns/B")


def loggp(
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=2, help="Ranks; two of each level measure.")] = 2,
    against: Annotated[str, typer.Option(help="The MPI, by name or path; default: the first one here.")] = "",
    most: Annotated[str, typer.Option("--most", help="Bytes of the largest message.")] = "1M",
    lab: Annotated[
        str, typer.Option(help="In this lab, level by level: the file is a machine for hocket simulate.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Keep the parameters in this file (JSON).")] = None,
    costs_file: Annotated[
        Path | None, typer.Option("--costs", help="Write them for selection between nodes (HOCKET_COSTS).")
    ] = None,
    matrix: Annotated[
        Path | None,
        typer.Option("--latencies", help="Only measure latencies between all nodes: a file for hocket topo."),
    ] = None,
) -> None:
    """Measure o, L, g and G of the MPI below per level: same cache, same node, between nodes; or latencies.

    HOCKET_NODE_SIZE=k takes every k ranks for a node.
    """
    here = mpis.discover()
    largest = parse_bytes(most)
    if not 64 <= largest <= measure.most_bytes:
        raise CommandError(f"the largest message must have 64 B to {format_bytes(measure.most_bytes)}")
    if not against and not here:
        raise CommandError(f"no MPI is installed; to get one: {mpis.how_to_get('openmpi')}", 1)
    mpi = mpis.find(against) if against else here[0]
    if matrix:
        latencies.write(matrix, latencies.measure(mpi, ranks, lab))
        console.print(f"wrote {matrix}; hocket topo {matrix} makes a tree of it", markup=False)
        return
    measured = lab_levels.run(lab, mpi, largest) if lab else measure.run(mpi, ranks, largest)
    _show(measured)
    if max(measured.errors.values()) > _much:
        load = machine.load()
        console.print(f"[yellow]LogGP describes this badly, or the machine was busy (load {load:g})[/]")
    if out:
        parameters.write(out, measured.parameters)
        verb = "simulate --machine" if lab else "explain --loggp"
        console.print(f"wrote {out}; hocket {verb} {out} predicts with it", markup=False)
    if costs_file:
        costs.write(costs_file, measured.parameters)
        console.print(f"wrote {costs_file}; HOCKET_COSTS={costs_file} selects by it", markup=False)


def register(app: typer.Typer) -> None:
    app.command("loggp")(loggp)
