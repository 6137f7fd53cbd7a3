"""hocket explain: what would run, by which rule, at what cost, and what else would fit.

Cost is what a schedule says of itself (rounds, bytes, reductions), what it takes on LogGP parameters, and
what the benchmark has measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from hocket import catalog
from hocket.bench import records
from hocket.catalog import Named, Request
from hocket.console import console
from hocket.core import core
from hocket.errors import CommandError
from hocket.loggp import parameters
from hocket.loggp.prediction import Prediction, format_time
from hocket.quantities import format_bytes, parse_bytes
from hocket.shapes import Shape, shape_of
from hocket.simulate import machine, placement
from hocket.simulate.placement import Places
from hocket.simulate.predictor import Alone, OnMachine, Predictor, written
from hocket.simulate.scale import Call

_most_looked_at = 512  # ranks whose schedules are counted; of more than that, a few


@dataclass(frozen=True)
class _Call:
    """What is asked about."""

    shape: Shape
    ranks: int
    root: int
    size: int  # bytes of the vector, or of one block
    commutative: bool
    predictor: Predictor

    def timed(self) -> Call:
        return Call(self.shape.collective, self.size, self.root, self.commutative)

    def request(self, named: Named) -> Request:
        return named.request(self.ranks, self.root, self.commutative)

    def looked_at(self) -> list[int]:
        if self.ranks <= _most_looked_at:
            return list(range(self.ranks))
        return sorted({0, self.root, self.ranks // 2, self.ranks - 1})


def _choose(shape: Shape, ranks: int, size: int, flags: dict[str, bool], places: Places) -> dict[str, Any]:
    """By the same rules as the library, with what the environment sets."""
    settings = [os.environ.get(f"HOCKET_{name}", "") for name in ("DISABLE", "FORCE", "RULES", "COSTS")]
    try:
        choice: dict[str, Any] = core().choose(
            collective=shape.collective, ranks=ranks, bytes=size, sizes_known=shape.sizes_known,
            equal_blocks=shape.equal_blocks,
            disable=settings[0], force=settings[1], rules=settings[2], costs=settings[3],
            places=places, **flags,
        )  # fmt: skip
    except RuntimeError as problem:
        raise CommandError(str(problem)) from problem
    return choice


def _chunk_bytes(shape: Shape, size: int, chunks: int) -> float:
    """A chunk is a part of the vector, or one block."""
    return size / chunks if shape.vector and chunks else float(size)


def _costs(named: Named, call: _Call) -> list[str]:
    """The most that any one rank does: rounds, chunks and bytes taken from others, pairs reduced."""
    counts = [core().count(*call.request(named), rank) for rank in call.looked_at()]
    most = {name: max(count[name] for count in counts) for name in counts[0]}
    each = _chunk_bytes(call.shape, call.size, most["data_chunks"])
    taken = format_bytes(round(most["received"] * each)) if call.shape.sizes_known else "?"
    return [str(most["rounds"]), str(most["received"]), taken, str(most["reduced"])]


def _obstacle(named: Named, call: _Call) -> str:
    """Why the row could not run; empty if it could."""
    row, shape = named.row, call.shape
    if row["order"] == "any" and shape.reduction and not call.commutative:
        return "needs a commutative operation"
    if row["blocks"] == "known" and not shape.sizes_known:
        return "needs all sizes"
    if row["blocks"] == "equal" and not (shape.sizes_known and shape.equal_blocks):
        return "needs equal blocks"
    return "" if core().fits(*call.request(named)) else f"does not fit {call.ranks} ranks"


def _table(call: _Call) -> Table:
    looked_at = len(call.looked_at())
    whose = "any one rank" if looked_at == call.ranks else f"any of {looked_at} ranks that were looked at"
    table = Table(
        title=f"The catalog for this call (the most {whose} does; times are predictions)",
        title_justify="left", box=None, pad_edge=False,
    )  # fmt: skip
    for name in ("", "algorithm", "access"):
        table.add_column(name, no_wrap=True)
    for name in ("rounds", "chunks taken", "bytes taken", "chunks reduced", "time", "CPU"):
        table.add_column(name, justify="right")
    table.add_column("what it does", overflow="fold")
    return table


def _is_recipe(choice: dict[str, Any]) -> bool:
    """An algorithm that is made to follow the machine: another schedule than the catalog's row."""
    return bool(choice["name"] != choice["algorithm"] and choice["algorithm"])


def _alternatives(choice: dict[str, Any], call: _Call) -> tuple[Table, dict[str, Prediction]]:
    """All rows of the catalog, and what was predicted for each that could run."""
    table, predictions = _table(call), {}
    for row in catalog.rows(call.shape.collective):
        chosen = row["name"] == choice["algorithm"] and not _is_recipe(choice)
        named = Named(row, choice["parameters"] if chosen else catalog.presets(row))
        cells, about = ["-"] * 6, _obstacle(named, call)
        if not about:
            predictions[row["name"]] = predicted = call.predictor.row(named, call.timed())
            cells = _costs(named, call) + predicted.cells()
            about = f"{row['summary']} ({row['source']})"
        name = written(row["name"], named.parameters)
        dim = "" if row["name"] in predictions else "dim"
        table.add_row("->" if chosen else "", name, row["access"], *cells, about, style=dim)
    return table, predictions


def _predicted(choice: dict[str, Any], call: _Call, predictions: dict[str, Prediction]) -> list[str]:
    """Of what is chosen in words; and why there is no prediction where there is none."""
    possible = {name: found for name, found in predictions.items() if not found.refusal}
    chosen, lines = possible.get(choice["algorithm"]), []
    if _is_recipe(choice):
        chosen = call.predictor.recipe(choice["text"], call.timed())
    if chosen:
        lines.append(f"  predicted: {chosen.refusal or chosen.split()}")
    elif possible and not choice["algorithm"]:
        fastest = min(possible, key=lambda name: possible[name].total)
        lines.append(f"  the MPI's own is not predicted; of the schedules below {fastest} is the fastest")
    lines.append(f"  predictions by LogGP: {call.predictor.origin()}")
    refused = {name: found.refusal for name, found in predictions.items() if found.refusal}
    return lines + [f"  not predicted: {name}, as {why}" for name, why in refused.items()]


def _measured(file: Path, collective: str, ranks: int, size: int) -> list[str]:
    """What the benchmark's records say of this very call; the last measurement of a cell counts."""
    same = [
        record
        for record in records.CELLS.read(file)
        if (record.collective, record.ranks) == (collective, ranks)
    ]
    wanted = 0 if collective == "barrier" else size
    cells = {(r.mpi, r.side): r for r in same if r.bytes == wanted and r.side != "native" and r.valid}
    if not cells:
        return [f"  not measured in {file}; {_sizes_there(same)}"]
    return [f"  measured: {_one_measured(record)}" for record in cells.values()]


def _one_measured(record: records.Record) -> str:
    what = f"Hocket ({record.algorithm})" if record.side == "hocket" else "without Hocket"
    times = f"{record.median_us:g} us ({record.p10_us:g} to {record.p90_us:g})"
    return f"{record.mpi} {record.mpi_version}, {what}: {times}, {record.cores} cores, {record.cpu}"


def _sizes_there(same: Iterable[records.Record]) -> str:
    sizes = sorted({record.bytes for record in same})
    there = ", ".join(map(format_bytes, sizes))
    return f"sizes on that many ranks: {there}" if sizes else "nothing on that many ranks"


def _alone(file: Path | None, ranks: int, ranks_per_node: int | None) -> Alone:
    assumed = parameters.read(file) if file else parameters.DEFAULTS
    return Alone(assumed.with_nodes_of(ranks_per_node) if ranks_per_node else assumed, ranks)


def _on_machine(topology: str, file: Path | None, word: str, ranks: int, per_node: int) -> OnMachine:
    described = machine.of_parameters(topology, parameters.read(file)) if file else machine.of_words(topology)
    return OnMachine(described, placement.in_lab(described.shape, word, ranks, per_node))


def _considered(choice: dict[str, Any]) -> list[str]:
    """What the rule has compared, cheapest first; of a recipe also where there was nothing to compare."""
    if len(choice["considered"]) < 2 and not _is_recipe(choice):
        return []
    fitting = [(us, name) for name, fits, us in choice["considered"] if fits and us is not None]
    lines = [f"  by the model: {name} {format_time(1e3 * us)}" for us, name in sorted(fitting)]
    return lines + [f"  does not fit: {name}" for name, fits, _ in choice["considered"] if not fits]


def _headline(function: str, choice: dict[str, Any]) -> str:
    if not choice["algorithm"]:
        return f"{function}: left to the MPI"
    if _is_recipe(choice):
        return f"{function}: {choice['name']}"
    return f"{function}: {written(choice['algorithm'], choice['parameters'])}"


def explain(
    collective: Annotated[str, typer.Argument(help="MPI's name in small letters: allreduce, gatherv, ...")],
    size: Annotated[str, typer.Option("--bytes", help="Bytes of the vector, or of one block.")] = "8",
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Number of ranks.")] = 2,
    root: Annotated[int, typer.Option(help="Root of a rooted collective.")] = 0,
    non_commutative: Annotated[
        bool, typer.Option("--non-commutative", help="The operation is not commutative.")
    ] = False,
    user_op: Annotated[bool, typer.Option("--user-op", help="The operation is the user's own.")] = False,
    oversubscribed: Annotated[bool, typer.Option("--oversubscribed", help="Ranks outnumber cores.")] = False,
    single_copy: Annotated[
        bool, typer.Option("--single-copy", help="Ranks read each other's memory, and it pays.")
    ] = False,
    loggp: Annotated[
        Path | None, typer.Option(help="Predict with what `hocket loggp --out FILE` has measured.")
    ] = None,
    ranks_per_node: Annotated[
        int | None, typer.Option(min=1, help="Default: as many as the LogGP parameters say.")
    ] = None,
    measured: Annotated[
        Path | None, typer.Option(help="Also show what `hocket bench --out FILE` has measured of this call.")
    ] = None,
    show: Annotated[int | None, typer.Option(help="Also print this rank's schedule.")] = None,
    topology: Annotated[
        str,
        typer.Option(envvar="HOCKET_TOPOLOGY", help="The machine, as `hocket topo` reads it: leaf:4 node:4."),
    ] = "",
    placed: Annotated[
        str, typer.Option("--placement", help="Of the nodes in it: block, cyclic or scattered.")
    ] = "block",
) -> None:
    """Say what would run for a call, by which rule, what it costs, and what else would fit."""
    shape = shape_of(collective)
    for name, value in (("root", root), ("rank", show or 0)):
        if not 0 <= value < ranks:
            raise CommandError(f"there is no {name} {value} among {ranks} ranks")
    one = parse_bytes(size)
    agreed = 0 if not shape.sizes_known else one * (ranks if not shape.equal_blocks else 1)
    alone = _alone(loggp, ranks, ranks_per_node)
    places = placement.of_job(topology, placed, ranks, ranks_per_node or 0)
    nodes = len(set(dict(places)["node"])) if places else 0
    flags = {
        "commutative": not non_commutative,
        "predefined": not (user_op or non_commutative),
        "oversubscribed": oversubscribed,
        "single_copy": single_copy,
        "across_nodes": nodes > 1 if places else alone.parameters.across_nodes(ranks),
    }
    predictor: Predictor = alone
    if places:
        predictor = _on_machine(topology, loggp, placed, ranks, ranks_per_node or 0)
    choice = _choose(shape, ranks, agreed, flags, places)
    console.print(f"{_headline(collective, choice)}", markup=False, style="bold")
    console.print(f"  because: {' '.join(choice['reason'].split()) or 'no rule fits'}", markup=False)
    for line in _considered(choice):
        console.print(line, markup=False)
    if shape.sizes_known and collective != "barrier":
        console.print(f"  decided by: {format_bytes(agreed)}, {ranks} ranks")
    for line in _measured(measured, collective, ranks, one) if measured else ():
        console.print(line, markup=False)
    call = _Call(shape, ranks, root, one, not non_commutative, predictor)
    table, predictions = _alternatives(choice, call)
    for line in _predicted(choice, call, predictions):
        console.print(line, markup=False)
    console.print(table)
    if show is not None and _is_recipe(choice):
        recipe = (shape.collective, choice["text"], ranks, root, not non_commutative, places)
        print("\n" + core().recipe_text(*recipe, show), end="")
    elif show is not None and choice["algorithm"]:
        row = catalog.row_named(shape.collective, choice["algorithm"]).row
        request = Named(row, choice["parameters"]).request(ranks, root, not non_commutative)
        print("\n" + core().schedule_text(*request, show), end="")


def register(app: typer.Typer) -> None:
    app.command("explain")(explain)
