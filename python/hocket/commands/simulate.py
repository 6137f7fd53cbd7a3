"""hocket simulate: what collectives would take on a machine that is described in a file, at any scale."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hocket import catalog
from hocket.console import console
from hocket.errors import CommandError, unknown
from hocket.loggp.prediction import format_time
from hocket.quantities import format_bytes, parse_bytes, parse_ranks
from hocket.simulate import batches, comparison, machine, placement, plot, scale, simgrid
from hocket.simulate.comparison import Ratio, Row
from hocket.simulate.machine import Machine
from hocket.simulate.placement import Placement
from hocket.simulate.scale import Call, Prediction
from hocket.simulate.simgrid import Others

_engines = ("loggp", "simgrid")


@dataclass(frozen=True)
class _Wanted:
    placement: str
    per_node: int
    seed: int
    jobs: str


def _nodes(described: Machine, wanted: _Wanted, ranks: int, each: int) -> tuple[list[int], Others]:
    """In the order of ranks; and other jobs."""
    shape = described.shape
    needed = -(-ranks // each)
    if wanted.placement == "queue":
        found = batches.allocate(len(shape.nodes), needed, wanted.seed)
        return found.own, Others(found.others)
    nodes = placement.ordered(shape, wanted.placement, wanted.seed)
    return nodes[:needed], Others([sorted(nodes[needed:])])


def _place(described: Machine, wanted: _Wanted, ranks: int) -> tuple[Placement, Others]:
    if wanted.placement not in placement.WORDS:
        path = Path(wanted.placement)
        if not path.is_file():
            raise unknown("placement (and no file either)", wanted.placement, placement.WORDS)
        placed = placement.of_file(described.shape, path)
        if placed.ranks != ranks:
            raise CommandError(f"'{path}' places {placed.ranks} ranks, and not {ranks}")
        rest = set(range(len(described.shape.nodes))) - placed.used()
        return placed, Others([sorted(rest)])
    each = placement.per_node(described.shape, ranks, wanted.per_node)
    nodes, others = _nodes(described, wanted, ranks, each)
    return placement.on_nodes(nodes, ranks, each), others


def _predictions(
    described: Machine, ranks: int, wanted: _Wanted, call: Call, algorithms: Sequence[str], engine: str
) -> list[Prediction]:
    placed, others = _place(described, wanted, ranks)
    scale.checked(call, ranks)
    if wanted.jobs and not any(len(nodes) > 1 for nodes in others.nodes):
        raise CommandError(f"{ranks} ranks leave no two nodes of this machine to other jobs")

    def predicted(algorithm: str) -> Prediction:
        if engine == "simgrid":
            return simgrid.predict(described, placed, call, algorithm, others if wanted.jobs else None)
        return scale.predict(described, placed, call, algorithm)

    if algorithms:
        return [predicted(each) for each in algorithms]
    return scale.usual(described, placed, call, predicted)


def _rounded(count: int) -> str:
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _levels(found: Iterable[Prediction]) -> list[str]:
    names: dict[str, None] = {}
    for prediction in found:
        for each in prediction.carried:
            names.setdefault(each.level)
    return list(names)


def _busiest(prediction: Prediction) -> str:
    """Where most of the time is spent, of the links; else the rank that works most."""
    links = [each for each in prediction.carried if each.busy > 0]
    if not links:
        return f"rank {prediction.busiest_rank}"
    most = max(links, key=lambda each: each.busy)
    return f"{most.busiest}: link {min(most.busy, 1):.0%} busy"


def _table(found: Sequence[Prediction]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("ranks", justify="right", no_wrap=True)
    table.add_column("algorithm", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    levels = _levels(found)
    for level in levels:
        table.add_column(f"out of {level}", justify="right", no_wrap=True)
    table.add_column("busiest", overflow="fold")
    for prediction in found:
        bytes_of = {each.level: _rounded(each.bytes) for each in prediction.carried}
        if prediction.refusal:
            cells = ["-", *("-" for _ in levels), prediction.refusal]
        else:
            cells = [
                format_time(prediction.total),
                *(bytes_of.get(level, "-") for level in levels),
                _busiest(prediction),
            ]
        table.add_row(str(prediction.ranks), prediction.algorithm, *cells)
    return table


def _formula_table(found: Sequence[tuple[int, Row]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("ranks", "formula", "collective", "C", "parts of N", "formula's time", "simulated alone"):
        table.add_column(name, justify="left" if name in ("formula", "collective") else "right", no_wrap=True)
    for name in ("sharing links", "alpha"):
        table.add_column(name, justify="right", no_wrap=True)
    for ranks, row in found:
        table.add_row(
            str(ranks), row.name, row.collective,
            " ".join(str(each.count) for each in row.exchanges),
            " ".join(f"{each.part:.3g}" for each in row.exchanges),
            format_time(row.formula), format_time(row.alone), format_time(row.shared),
            "-" if row.alpha is None else f"{row.alpha:.2f}",
        )  # fmt: skip
    return table


def _ratio_table(found: Sequence[tuple[int, Ratio]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("ranks", "T_binomial / T_topo", "between switches", "formulas", "simulated alone"):
        table.add_column(name, justify="left" if name.startswith("T_") else "right", no_wrap=True)
    table.add_column("sharing links", justify="right", no_wrap=True)
    for ranks, ratio in found:
        numbers = (ratio.far, ratio.formula, ratio.alone, ratio.shared)
        table.add_row(str(ranks), ratio.collective, *(f"{number:.2f}" for number in numbers))
    return table


def _show_formulas(
    described: Machine, many: Sequence[int], wanted: _Wanted, size: int, as_json: bool
) -> None:
    found = [(ranks, comparison.rows(described, _place(described, wanted, ranks)[0], size)) for ranks in many]
    if as_json:
        print(json.dumps([_formula_fields(ranks, row) for ranks, rows in found for row in rows]))
        return
    console.print("Kandalla et al. 2010, and the same trees simulated", style="bold")
    console.print(_formula_table([(ranks, row) for ranks, rows in found for row in rows]))
    ratios = [(ranks, ratio) for ranks, rows in found for ratio in comparison.ratios(rows)]
    if ratios:
        console.print(_ratio_table(ratios))


def _formula_fields(ranks: int, row: Row) -> dict[str, object]:
    return {"ranks": ranks, **dataclasses.asdict(row), "formula": row.formula, "alpha": row.alpha}


def _check_formulas(given: dict[str, object]) -> None:
    """They are of two collectives, in LogGP."""
    if ignored := [option for option, value in given.items() if value]:
        raise CommandError(f"--formulas shows gather and scatter in a table, without {', '.join(ignored)}")


def _engine(named: str, jobs: str) -> str:
    """Other jobs share links at the same time, which only one of them simulates."""
    if named and named not in _engines:
        raise unknown("engine", named, _engines)
    if jobs not in ("", "other"):
        raise unknown("word for jobs", jobs, ("other",))
    if jobs and named == "loggp":
        raise CommandError("the engine loggp knows no other jobs: leave out --engine, or --jobs")
    return named or ("simgrid" if jobs else "loggp")


def _described(source: str, switches: str, engine: str) -> Machine:
    """As far as the engine knows it."""
    if switches not in ("", "aggregate"):
        raise unknown("word for switches", switches, ("aggregate",))
    if switches and engine == "simgrid":
        raise CommandError(
            "the engine simgrid knows no switches that reduce: leave out --switches, or --jobs"
        )
    described = machine.named(source)
    if engine == "simgrid":
        return dataclasses.replace(described, switches=None)
    return machine.with_switches(described) if switches else described


def simulate(
    source: Annotated[
        str,
        typer.Option("--machine", help="A machine file (JSON), or words such as 'leaf:64 node:32 core:32'."),
    ],
    collective: Annotated[str, typer.Option(help="MPI's name in small letters.")] = "allgather",
    ranks: Annotated[str, typer.Option("-n", "--ranks", help="One number or several: 64,256,1024.")] = "64",
    size: Annotated[str, typer.Option("--bytes", help="Bytes of the vector, or of one block.")] = "64K",
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="As rules write it: 'ring', 'knomial(radix=4) by nodes'. Default: what there is."),
    ] = None,
    where: Annotated[
        str,
        typer.Option("--placement", help="block, cyclic, scattered, queue, or a file with a host a line."),
    ] = "block",
    per_node: Annotated[int, typer.Option("--ppn", min=0, help="Ranks on a node; default: its cores.")] = 0,
    switches: Annotated[
        str, typer.Option(help="aggregate: switches reduce, also if the machine file says nothing of it.")
    ] = "",
    root: Annotated[int, typer.Option(help="Root of a rooted collective.")] = 0,
    seed: Annotated[int, typer.Option(help="Of placements that are drawn.")] = 1,
    engine: Annotated[str, typer.Option(help="loggp, or simgrid. Default: loggp; with --jobs simgrid.")] = "",
    jobs: Annotated[str, typer.Option(help="other: other jobs do alltoalls over the same switches.")] = "",
    formulas: Annotated[
        bool, typer.Option("--formulas", help="Closed formulas of gather and scatter beside the simulation.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Time against ranks, to this file: .svg, .png or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Predict what algorithms would take on a machine, for any number of ranks, anywhere on it."""
    engine = _engine(engine, jobs)
    described = _described(source, switches, engine)
    many, block = parse_ranks(ranks), parse_bytes(size)
    wanted = _Wanted(where, per_node, seed, jobs)
    if formulas:
        _check_formulas(
            {
                "--plot": picture,
                "--algorithm": algorithm,
                "--jobs": jobs,
                "--root": root,
                "--switches": switches,
            }
        )
        return _show_formulas(described, many, wanted, block, as_json)
    if engine == "simgrid":
        simgrid.check(max(many))
    call = Call(catalog.collective_named(collective), block, root)
    found = [
        prediction
        for each in many
        for prediction in _predictions(described, each, wanted, call, algorithm or [], engine)
    ]
    title = f"{collective}, {format_bytes(block)}, {where}; {described.origin}"
    if jobs:
        title += "; other jobs meanwhile"
    if as_json:
        print(json.dumps([dataclasses.asdict(each) for each in found]))
    else:
        console.print(title, markup=False, style="bold")
        console.print(_table(found), markup=False)
    if picture:
        plot.plot(found, title, picture)
    return None


def register(app: typer.Typer) -> None:
    app.command("simulate")(simulate)
