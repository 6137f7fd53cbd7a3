"""hocket lab: a switched cluster on this machine, to see what collectives do to its links."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
import time
from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from rich.table import Table

from hocket import applications, launch, mpis, processes, quantities, reports
from hocket.console import console
from hocket.errors import CommandError, unknown
from hocket.lab import (
    drawing,
    faults,
    jobs,
    lab,
    shape,
    slurm,
    state,
    statistics,
    traffic,
    tree,
    visible,
)
from hocket.lab.lab import Lab
from hocket.lab.quantities import format_rate

_passed_on = {"ignore_unknown_options": True, "allow_interspersed_args": False}

_Name = Annotated[str, typer.Option(help="Of the lab.")]
_Leaves = Annotated[int | None, typer.Option(help="Leaf switches. Default: 2.")]
_Nodes = Annotated[int | None, typer.Option(help="Nodes under each leaf. Default: 2.")]
_Levels = Annotated[int | None, typer.Option(help="Of switches: 2 (leaf, spine) or 3 (leaf, pod, spine).")]
_Pods = Annotated[int | None, typer.Option(help="Pods, with three levels. Default: 2.")]
_Rate = Annotated[str | None, typer.Option(help="Of a node's link, for example 1gbit. Default: 100mbit.")]
_Uplink = Annotated[str | None, typer.Option(help="Of a leaf's link to the switch above. Default: 100mbit.")]
_Core = Annotated[str | None, typer.Option(help="Of a pod's link to the spine. Default: as a leaf's.")]
_Latency = Annotated[
    str | None, typer.Option("--latency", help="Between leaves, for example 200us. Default: none.")
]
_Dpu = Annotated[
    bool, typer.Option("--dpu", help="Each node has a card that is a computer, with the node's link on it.")
]
_Cores = Annotated[
    float | None, typer.Option(min=0.01, help="That a card may use, with --dpu. Default: 0.5.")
]
_Switches = Annotated[
    str | None,
    typer.Option(
        help="What switches do: forward, or aggregate (reductions inside the network). Default: forward."
    ),
]
_Slurm = Annotated[bool, typer.Option("--slurm", help="With Slurm: its daemons; and jobs started by srun.")]
_Json = Annotated[bool, typer.Option("--json", help="For programs.")]

_kinds_of_switches = {"forward": False, "aggregate": True}

_ShapeWords = Mapping[str, float | str | None]


def _shape_words(context: typer.Context) -> _ShapeWords:
    """The options that are a shape's fields, as the user wrote them."""
    params = context.params
    given = {
        **params,
        "card_cores": _card_cores(params["dpu"], params["cores"]),
        "aggregates": _aggregates(params["switches"]),
    }
    return {field.name: given[field.name] for field in dataclasses.fields(shape.Shape)}


def _card_cores(has_cards: bool, cores: float | None) -> float | None:
    if not has_cards and cores is not None:
        raise CommandError("--cores is about cards, which are made by --dpu")
    return (cores or shape.DEFAULT_CARD_CORES) if has_cards else None


def _aggregates(switches: str | None) -> bool | None:
    if switches is not None and switches not in _kinds_of_switches:
        raise unknown("kind of switches", switches, _kinds_of_switches)
    return None if switches is None else _kinds_of_switches[switches]


def _nodes_in_words(wanted: shape.Shape) -> str:
    cards = f" with cards of {wanted.card_cores:g} cores" if wanted.card_cores else ""
    switches = " and switches that aggregate" if wanted.aggregates else ""
    return f"{wanted.all_nodes} nodes{cards}, {wanted.leaves} leaves{switches}"


def up(
    context: typer.Context,
    name: _Name = state.DEFAULT,
    leaves: _Leaves = None,
    nodes: _Nodes = None,
    levels: _Levels = None,
    pods: _Pods = None,
    rate: _Rate = None,
    uplink: _Uplink = None,
    core: _Core = None,
    latency_us: _Latency = None,
    dpu: _Dpu = False,
    cores: _Cores = None,
    switches: _Switches = None,
    with_slurm: _Slurm = False,
) -> None:
    """Make a lab that stays until `hocket lab down`."""
    state.check_name(name)
    wanted = shape.from_words(_shape_words(context))
    began = time.monotonic()
    with state.registering():
        if state.find(name):
            raise CommandError(f"lab '{name}' is already up; 'hocket lab down --name {name}' ends it", 1)
        started = _started(name, wanted, with_slurm)
        state.add(started.lab)
        started.stay()
    seconds = time.monotonic() - began
    console.print(f"lab '{name}' is up: {_nodes_in_words(wanted)}, in {seconds:.2f} s")


def _started(name: str, wanted: shape.Shape, with_slurm: bool) -> lab.Started:
    if not with_slurm:
        return lab.start(name, wanted)
    slurm.check_installed()
    started = lab.start(name, wanted)
    slurm.start(started.lab)
    return dataclasses.replace(started, lab=dataclasses.replace(started.lab, has_slurm=True))


def _lab_of_job(
    name: str | None, is_new: bool, words: _ShapeWords, with_slurm: bool
) -> contextlib.AbstractContextManager[Lab]:
    has_shape = any(word is not None for word in words.values())
    if not (is_new or has_shape):
        return contextlib.nullcontext(state.get(name or state.DEFAULT))
    if name is not None:
        raise CommandError("--name means a lab that is up, and has its shape already")
    wanted = shape.from_words(words)
    return lab.temporary(lambda: _started("one-shot", wanted, with_slurm))


def run(
    context: typer.Context,
    program: Annotated[
        list[str],
        typer.Argument(
            help="The program, or apps/<name>, one of Hocket's; and its arguments.", metavar="PROGRAM..."
        ),
    ],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=0, help="Default: one on each node.")] = 0,
    per_node: Annotated[int, typer.Option("--ppn", min=0, help="Ranks on a node. Default: what fits.")] = 0,
    on: Annotated[str, typer.Option(help="Nodes: n0,n2 or n0-n3, in this order. Default: all.")] = "",
    placement: Annotated[
        str, typer.Option(help="Order of the nodes: block, cyclic (over the leaves), scattered.")
    ] = "block",
    mpi: Annotated[
        str,
        typer.Option(
            help="openmpi, mpich, intel, debian, debian-mpich or a path; default: what the program needs."
        ),
    ] = "",
    no_hocket: Annotated[bool, typer.Option("--no-hocket", help="Run it under the MPI alone.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No report at the end.")] = False,
    show_stats: Annotated[bool, typer.Option("--stats", help="Then show what went over the links.")] = False,
    disturb: Annotated[
        str, typer.Option("--traffic", help="Nodes with background traffic meanwhile: n1,n3.")
    ] = "",
    disturb_bytes: Annotated[
        str, typer.Option("--traffic-bytes", help="Between two of them at a time.")
    ] = "64K",
    name: Annotated[str | None, typer.Option(help="Of a lab that is up. Default: lab.")] = None,
    is_new: Annotated[bool, typer.Option("--up", help="In a lab of its own, which ends with it.")] = False,
    leaves: _Leaves = None,
    nodes: _Nodes = None,
    levels: _Levels = None,
    pods: _Pods = None,
    rate: _Rate = None,
    uplink: _Uplink = None,
    core: _Core = None,
    latency_us: _Latency = None,
    dpu: _Dpu = False,
    cores: _Cores = None,
    switches: _Switches = None,
    with_slurm: _Slurm = False,
) -> None:
    """Run an MPI program in a lab, with Hocket in front; with --up, or a shape, in one made for it."""
    if program[0].startswith("-"):
        raise CommandError(f"no option named '{program[0]}'; 'hocket lab run --help' lists them")
    chosen = mpis.find(mpi) if mpi else launch.mpi_for(program[0], mpis.discover())
    program = [applications.resolve(chosen, program[0]), *program[1:]]
    launch.check_program(program[0], chosen)
    started = program if no_hocket else launch.with_hocket(program)
    wants_report = not (no_hocket or quiet or os.environ.get("HOCKET_REPORT"))
    job = jobs.Wanted(ranks, per_node, on, placement, with_slurm)
    made = _lab_of_job(name, is_new, _shape_words(context), with_slurm)
    with made as where, _disturbed(where, disturb, disturb_bytes):
        status = (_run_reported if wants_report else jobs.run)(where, chosen, job, started)
        if show_stats:
            _show_links(statistics.read(where))
            _show_cards(where.card_seconds())
    raise typer.Exit(status)


def _disturbed(where: Lab, nodes: str, count: str) -> contextlib.AbstractContextManager[object]:
    if not nodes:
        return contextlib.nullcontext()
    return traffic.running(where, faults.choose_nodes(where, nodes), quantities.parse_bytes(count))


def _run_reported(where: Lab, mpi: mpis.Mpi, job: jobs.Wanted, program: list[str]) -> int:
    """The report is written in the lab, so that it ends with it, however that ends."""
    file = jobs.new_file(where, "report")
    status = jobs.run(where, mpi, job, program, HOCKET_REPORT=file)
    if text := where.answer("sh", "-c", 'cat "$0" && rm "$0"', file) if where.is_up() else "":
        console.print(reports.renderable(reports.parse(text, file)))
    return status


def shell(
    node: Annotated[str, typer.Argument(help="n0, n1, ..., n0-card, ..., or head.")],
    command: Annotated[
        list[str] | None, typer.Argument(help="Default: a shell.", metavar="COMMAND...")
    ] = None,
    name: _Name = state.DEFAULT,
) -> None:
    """Run a shell, or a command, on a node of a lab."""
    where = state.get(name)
    if where.tree.named(node).kind == "switch":
        raise CommandError(f"'{node}' is a switch; commands run on nodes and on {tree.HEAD}")
    where.check_alive([node])
    words = [word for i, word in enumerate(command or []) if i or word != "--"] or [
        os.environ.get("SHELL", "/bin/sh")
    ]
    visible.make(where, visible.of_job(words))
    line = where.on_head(where.remote_shell, node, shlex.join(words))
    settings = slurm.environment() if where.has_slurm else {}
    raise typer.Exit(processes.run_attached(line, {**os.environ, **settings}))


def _show_links(links: list[statistics.Link]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("link", "to"):
        table.add_column(column, no_wrap=True)
    for column in ("bytes up", "packets up", "bytes down", "packets down", "dropped"):
        table.add_column(column, justify="right")
    for link in links:
        counts = (link.up.bytes, link.up.packets, link.down.bytes, link.down.packets)
        dropped = link.up.dropped + link.down.dropped
        table.add_row(link.lower, link.upper, *(f"{count:,}" for count in counts), str(dropped))
    console.print(table)


def _show_cards(seconds: Mapping[str, float]) -> None:
    """Node -> processor time of its card's processes."""
    if not seconds:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("card of")
    table.add_column("processor seconds", justify="right")
    for node, used in seconds.items():
        table.add_row(node, f"{used:.3f}")
    console.print(table)


def stats(name: _Name = state.DEFAULT, as_json: _Json = False) -> None:
    """Show bytes and packets per link, up (away from the node) and down, and processor seconds of cards."""
    where = state.get(name)
    links, seconds = statistics.read(where), where.card_seconds()
    if as_json:
        print(json.dumps([{**link.as_json(), **_of_card(link.lower, seconds)} for link in links]))
    else:
        _show_links(links)
        _show_cards(seconds)


def _of_card(node: str, seconds: Mapping[str, float]) -> dict[str, float]:
    return {"card_seconds": seconds[node]} if node in seconds else {}


def topo(name: _Name = state.DEFAULT, as_json: _Json = False) -> None:
    """Show the tree of switches and nodes, with the rates of the links."""
    where = state.get(name)
    if as_json:
        print(json.dumps(drawing.as_json(where.tree, where.shape, where.faults())))
    else:
        print("\n".join(drawing.lines(where.tree, where.shape, where.faults())))


def send_traffic(
    nodes: Annotated[str, typer.Option(help="Between these: n1,n3 or n0-n7. Default: all.")] = "",
    count: Annotated[str, typer.Option("--bytes", help="Between two of them at a time.")] = "64K",
    seconds: Annotated[float | None, typer.Option(help="Default: until it is ended.")] = None,
    name: _Name = state.DEFAULT,
) -> None:
    """Send background traffic between nodes, each to each other, until this command is ended."""
    where = state.get(name)
    chosen = faults.choose_nodes(where, nodes)
    with traffic.running(where, chosen, quantities.parse_bytes(count)) as streams:
        traffic.wait(streams, seconds)


_Links = Annotated[
    list[str], typer.Argument(help="As `stats` names them, by their lower end: n1, leaf0.", metavar="LINK...")
]
_WholeSwitch = Annotated[
    bool, typer.Option("--switch", help="All links of a switch, not only the one to the switch above.")
]


def _change(name: str, change: Callable[[Lab], Lab]) -> None:
    with state.registering():
        state.add(change(state.get(name)))


def cut(links: _Links, name: _Name = state.DEFAULT, whole_switch: _WholeSwitch = False) -> None:
    """Pull cables: a node's, a switch's to the one above, or all of a switch."""
    _change(name, lambda where: faults.cut(where, links, whole_switch))


def mend(links: _Links, name: _Name = state.DEFAULT, whole_switch: _WholeSwitch = False) -> None:
    """Plug cables in again that were cut."""
    _change(name, lambda where: faults.mend(where, links, whole_switch))


def kill(nodes: Annotated[str, typer.Argument(help="n1,n3 or n0-n3.")], name: _Name = state.DEFAULT) -> None:
    """Let nodes die with all that runs on them, as by a loss of power. They do not come back."""
    _change(name, lambda where: faults.kill(where, nodes))


def down(name: _Name = state.DEFAULT) -> None:
    """End a lab, with all that runs in it."""
    state.get(name).end()
    state.remove(name)


def list_labs() -> None:
    """List the labs that are up."""
    for each in state.all_labs():
        rates = f"{format_rate(each.shape.rate)}, uplinks {format_rate(each.shape.uplink)}"
        print(f"{each.name}: {_nodes_in_words(each.shape)}, {rates}")


def register(app: typer.Typer) -> None:
    verbs = typer.Typer(
        help="A switched cluster on this machine: nodes and switches in namespaces, shaped links.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    verbs.command("up")(up)
    verbs.command("run", context_settings=_passed_on)(run)
    verbs.command("shell", context_settings=_passed_on)(shell)
    verbs.command("traffic")(send_traffic)
    verbs.command("stats")(stats)
    verbs.command("topo")(topo)
    verbs.command("cut")(cut)
    verbs.command("mend")(mend)
    verbs.command("kill")(kill)
    verbs.command("list")(list_labs)
    verbs.command("down")(down)
    app.add_typer(verbs, name="lab")
