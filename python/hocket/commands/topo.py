"""hocket topo: where the nodes of a machine are, read from what its site knows, and a job's ranks on them;
or what is inside this node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hocket.topology import drawing, hops, picture, placement, tree
from hocket.topology.tree import Vertex

_words = {
    "network": ("group of switches", "groups of switches"),
    "node": ("node", "nodes"),
    "package": ("package", "packages"),
    "core": ("core", "cores"),
}


def _summary(machine: Vertex) -> str:
    counts = tree.counts(machine)
    shown = [(counts[kind], words) for kind, words in _words.items() if counts[kind]]
    return ", ".join(f"{count} {one if count == 1 else several}" for count, (one, several) in shown)


def _as_json(vertex: Vertex) -> dict[str, Any]:
    named: dict[str, Any] = {"kind": vertex.kind, "name": vertex.name}
    return {**named, "inside": [_as_json(child) for child in vertex.children]} if vertex.children else named


def topo(
    source: Annotated[
        str,
        typer.Argument(
            help="What ibnetdiscover printed, Slurm's topology.conf, a rack file ('n[0-3] /row0/rack1'), "
            "a matrix of latencies, what lstopo or --save wrote, a folder like /sys/devices/system, or a "
            "machine in words: 'leaf:4 node:4 socket:2 core:8'. Default: this machine."
        ),
    ] = "",
    format: Annotated[
        str,
        typer.Option(
            help="ibnetdiscover, slurm, racks, matrix, tree, synthetic, sys or hwloc; "
            "default: by the look of it."
        ),
    ] = "",
    ranks: Annotated[
        Path | None, typer.Option(help="File with the host of each rank, a line each: shows the job's ranks.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it to this file: .svg, .png or .pdf.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the tree to this file, which is a source itself.")
    ] = None,
    between: Annotated[
        tuple[str, str] | None, typer.Option("--hops", help="The switches between these two nodes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show the switches and nodes of a machine as a tree, and how far nodes are from each other."""
    opened = tree.opened(source, format) if source else None
    machine = tree.of(opened) if opened else tree.this_machine(format)
    placed = placement.place(machine, placement.read(ranks)) if ranks else {}
    if as_json:
        print(json.dumps(_as_json(machine)))
    else:
        print("\n".join(drawing.lines(machine, placed)))
        print(_summary(machine))
        if far := hops.summary(machine, opened):
            print(far)
        if between:
            print(hops.answer(machine, opened, *between))
    if save:
        tree.save(machine, save)
    if plot:
        picture.draw(machine, placed, plot)


def register(app: typer.Typer) -> None:
    app.command("topo")(topo)
