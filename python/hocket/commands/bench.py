"""hocket bench: Hocket and the MPI below side by side, under every MPI that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hocket.bench import machine, runner, workers_plan
from hocket.commands import (
    bench_applications,
    bench_blocking,
    bench_choices,
    bench_costs,
    bench_net,
    bench_nonblocking,
    bench_registration,
    bench_render,
    bench_topology,
    bench_workers,
)
from hocket.console import console
from hocket.errors import CommandError

_default_sizes = "8..4M"
_default_seconds = 0.15
_lab_seconds = 1.0


def _warn_if_busy() -> None:
    load = machine.load()
    if load > 0.5 * machine.cores():
        console.print(f"[yellow]the machine is busy (load {load:g}): the numbers will say little[/]")


def _show(path: Path, plot: Path | None) -> None:
    shown = (
        bench_nonblocking.show_file(path)
        or bench_applications.show_file(path)
        or bench_topology.show_file(path)
        or bench_workers.show_file(path)
        or bench_net.show_file(path)
        or bench_registration.show_file(path)
        or bench_costs.show_file(path)
        or bench_blocking.show_file(path, plot)
    )
    if not shown:
        raise CommandError(f"'{path}' holds no records of a benchmark")


def bench(
    collectives: Annotated[list[str] | None, typer.Argument(help="Default: all 16 blocking ones.")] = None,
    ranks: Annotated[str, typer.Option("-n", "--ranks", help="Number of ranks; several: 2,4,8.")] = "2",
    sizes: Annotated[
        str,
        typer.Option(
            help="8..4M (steps of x4, and the last), 8..4M:2 (of x2), or a list: 8,4K,1M. Default: 8..4M."
        ),
    ] = "",
    against: Annotated[
        str,
        typer.Option(
            help="openmpi,mpich,intel,debian or paths; those that are installed are run. Default: the four."
        ),
    ] = "",
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="Time per cell and side. Default: 0.15; with --net 0.2, with --topology and --workers 1.",
        ),
    ] = None,
    type_: Annotated[str, typer.Option("--type", help="float, double or int.")] = "float",
    root: Annotated[int, typer.Option(min=0, help="Root of the rooted collectives.")] = 0,
    untouched: Annotated[
        bool, typer.Option("--untouched", help="Only the MPIs alone, without Hocket.")
    ] = False,
    costs: Annotated[
        bool, typer.Option("--costs", help="Instead: what is paid around the collectives.")
    ] = False,
    nonblocking: Annotated[
        bool,
        typer.Option("--nonblocking", help="Instead: non-blocking and persistent forms, and what overlaps."),
    ] = False,
    applications: Annotated[
        bool, typer.Option("--applications", help="Instead: the programs of apps/, or those that are named.")
    ] = False,
    topology: Annotated[
        bool,
        typer.Option("--topology", help="Instead: collectives that follow the machine, in the lab."),
    ] = False,
    workers: Annotated[
        bool,
        typer.Option("--workers", help="Instead: collectives by worker processes, in the lab."),
    ] = False,
    net: Annotated[
        bool,
        typer.Option("--net", help="Instead: reduction in the network, in a lab whose switches aggregate."),
    ] = False,
    only: Annotated[
        str,
        typer.Option(
            help="With --topology: experiments, for example rooted,allreduce; with --workers: overlap, "
            "heap, remote, spare, applications, metadata, core; with --net: experiments, for example "
            "allreduce,small. Default: all."
        ),
    ] = "",
    where: Annotated[
        str,
        typer.Option(
            help="With --topology: situations, for example ppn=2,latency_us=500; with --net: "
            "nodes=8,rate=100mbit. Default: all."
        ),
    ] = "",
    lacking: Annotated[
        Path | None,
        typer.Option(
            help="With --topology, --net: only what has too few runs in this folder or file of records."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="With --topology, --workers, --net: in small; the numbers say nothing."),
    ] = False,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            "--runs",
            min=1,
            help="With --applications, --topology, --workers, --net: launches of each side, in turns.",
        ),
    ] = 5,
    env: Annotated[
        list[str] | None,
        typer.Option(help="With --applications: NAME=VALUE for both sides; may be given again."),
    ] = None,
    tests: Annotated[
        str,
        typer.Option(help="With --nonblocking: MPI_Test calls per operation; timelines use the most."),
    ] = "0,1,16",
    compute: Annotated[
        float,
        typer.Option(min=0, help="With --nonblocking: us of computation; 0: as long as the operation takes."),
    ] = 0.0,
    skew: Annotated[
        str,
        typer.Option(help="With --nonblocking: US[:RANK]: a rank comes so late to every operation."),
    ] = "",
    noise: Annotated[
        str, typer.Option(help="With --nonblocking: HZxUS: detours of every rank, so often and so long.")
    ] = "",
    operations: Annotated[int, typer.Option(min=1, help="With --skew, --noise, --trace, --gantt.")] = 20,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Of random ranks and of noise.")] = 1,
    trace: Annotated[
        Path | None, typer.Option(help="With --nonblocking: the timeline, for Perfetto or Chrome.")
    ] = None,
    gantt: Annotated[Path | None, typer.Option(help="With --nonblocking: a picture of the timeline.")] = None,
    progress: Annotated[
        str,
        typer.Option(
            help="With --nonblocking, --applications: HOCKET_PROGRESS: calls,thread,auto, or some of them."
        ),
    ] = "",
    node_size: Annotated[
        int, typer.Option(min=0, help="Likewise: HOCKET_NODE_SIZE, so many ranks are a node.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Append the records to this file (JSON lines).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw times against sizes to this file.")] = None,
    show_file: Annotated[
        Path | None, typer.Option("--show", help="Measure nothing; show this file of records.")
    ] = None,
    render: Annotated[
        bool,
        typer.Option(
            "--render",
            help="Measure nothing; write docs/performance.md and the pages that are generated beside it.",
        ),
    ] = False,
    results: Annotated[Path, typer.Option(help="With --render: folder or file of records.")] = Path(
        "bench/results"
    ),
    page: Annotated[Path, typer.Option(help="With --render: the page to write.")] = Path(
        "docs/performance.md"
    ),
) -> None:
    """Measure Hocket beside the MPI below in one process, and each MPI untouched (docs/benchmark.md)."""
    if render:
        return bench_render.render(results, page)
    if show_file:
        return _show(show_file, plot)
    if applications:
        asked = bench_applications.Options(collectives or [], rounds, env or [], progress, node_size)
        _warn_if_busy()
        wanted = [request for count in bench_choices.rank_counts(ranks) for request in asked.requests(count)]
        return bench_applications.run(bench_choices.chosen_mpis(against), wanted, out)
    if topology:
        chosen = bench_choices.chosen_mpis(against or bench_topology.DEFAULT_MPI)
        wanted_sizes = bench_choices.chosen_sizes(sizes, 4) if sizes else []
        of_lab = bench_topology.Options(
            *(only, rounds, seconds or _lab_seconds, quick),
            *(collectives or [], wanted_sizes, where, lacking),
        )
        _warn_if_busy()
        return bench_topology.run(chosen, of_lab, out)
    if workers:
        asked_of_workers = workers_plan.Wanted(
            only.split(",") if only else workers_plan.PARTS,
            collectives or workers_plan.COLLECTIVES,
            bench_choices.chosen_sizes(sizes, 4) if sizes else [],
            *((1, 0.01) if quick else (rounds, seconds or _lab_seconds)),
        )
        _warn_if_busy()
        chosen = bench_choices.chosen_mpis(against or bench_workers.DEFAULT_MPI)
        return bench_workers.run(chosen, asked_of_workers, out)
    if net:
        asked_of_network = bench_net.Options(
            *(only, rounds, seconds, quick, collectives or []),
            *(bench_choices.chosen_sizes(sizes, 4) if sizes else [], where, lacking),
        )
        _warn_if_busy()
        return bench_net.run(asked_of_network, against, out)
    more = bench_nonblocking.Options(
        tests, compute, skew, noise, operations, seed, trace, gantt, progress, node_size
    )
    if not nonblocking:
        more.must_be_preset()
    elif more.is_timeline():
        collectives, sizes = collectives or ["bcast"], sizes or "64K"
    requests = [
        runner.Request(
            bench_choices.chosen_collectives(collectives or []),
            bench_choices.chosen_sizes(sizes or _default_sizes, 4),
            *(count, seconds or _default_seconds, bench_choices.chosen_type(type_), root),
        )
        for count in bench_choices.rank_counts(ranks, root)
    ]
    chosen = bench_choices.chosen_mpis(against)
    _warn_if_busy()
    if nonblocking:
        return bench_nonblocking.run(chosen, requests, more, untouched, out)
    if costs:
        return bench_costs.run(chosen, [request.ranks for request in requests], out)
    return bench_blocking.run(chosen, requests, untouched, out, plot)


def register(app: typer.Typer) -> None:
    app.command("bench")(bench)
