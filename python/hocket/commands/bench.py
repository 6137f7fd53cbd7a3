"""hocket bench: Hocket and the MPI below side by side, under every MPI that is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from hocket import mpis
from hocket.bench import comparison, machine, markdown, records, runner, show
from hocket.bench import costs as around
from hocket.bench.records import COLLECTIVES, Record
from hocket.commands import bench_applications, bench_nonblocking
from hocket.console import console
from hocket.errors import CommandError, unknown
from hocket.quantities import parse_sizes

_default_sizes = "8..4M"
_default_mpis = ("openmpi", "mpich", "intel", "debian")


def _named_mpis(names: Sequence[str]) -> list[mpis.Mpi]:
    """Those of the names that are installed; the others are told, each with the way to get it."""
    found = []
    for name in names:
        try:
            found.append(mpis.find(name))
        except mpis.NotInstalledError as absent:
            console.print(f"[yellow]left out: {absent}[/]")
    return found


def _chosen_mpis(text: str) -> list[mpis.Mpi]:
    every = mpis.discover()
    found = _named_mpis(text.split(",")) if text else [mpi for mpi in every if mpi.name in _default_mpis]
    if not found:
        wanted = text.split(",")[0] if text else "openmpi"
        raise CommandError(f"none of these MPIs is installed; to get one: {mpis.how_to_get(wanted)}", 1)
    return found


def _chosen_collectives(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in COLLECTIVES:
            raise unknown("collective", name, COLLECTIVES)
    return list(names) or list(COLLECTIVES)


def _chosen_sizes(text: str, factor: int) -> list[int]:
    sizes = parse_sizes(text, factor)
    odd = [size for size in sizes if size == 0 or size % 8]
    if odd:
        raise CommandError(f"sizes must be multiples of 8 bytes, {odd[0]} is not")
    return sizes


def _runs(with_hocket: bool) -> list[Callable[[mpis.Mpi, runner.Request, runner.Keep], None]]:
    return [runner.run_untouched, runner.run_side_by_side] if with_hocket else [runner.run_untouched]


def _measure(mpi: mpis.Mpi, request: runner.Request, with_hocket: bool, keep: runner.Keep) -> None:
    """What was measured before a failure or a signal is kept: every run hands its records over as it ends."""
    console.print(f"[dim]{mpi.name} {mpi.version()}, {request.ranks} ranks, {request.cells()} cells ...[/]")
    for run in _runs(with_hocket):
        try:
            run(mpi, request, keep)
        except CommandError as problem:
            console.print(f"[red]{problem}[/]")


def _keeper(measured: list[Record], out: Path | None) -> runner.Keep:
    def keep(fresh: list[Record]) -> None:
        measured.extend(fresh)
        if out:
            records.append(out, fresh)

    return keep


def _warn_if_busy() -> None:
    load = machine.load()
    if load > 0.5 * machine.cores():
        console.print(f"[yellow]the machine is busy (load {load:g}): the numbers will say little[/]")


def _render(results: Path, page: Path) -> None:
    files = sorted(results.glob("*.jsonl")) if results.is_dir() else [results]
    costs = [cost for file in sorted((results / "costs").glob("*.jsonl")) for cost in around.read(file)]
    page.write_text(markdown.page([record for file in files for record in records.read(file)], costs))
    console.print(f"wrote {page} from {len(files)} file(s)")
    bench_nonblocking.render(results, page.with_name("nonblocking.md"))
    if results.is_dir():
        bench_applications.render(results, page.with_name("applications.md"))


def _measure_costs(chosen: Sequence[mpis.Mpi], counts: Sequence[int], out: Path | None) -> None:
    measured = []
    for count, mpi in product(counts, chosen):
        console.print(f"[dim]{mpi.name} {mpi.version()}, {count} ranks ...[/]")
        fresh = around.run(mpi, count)
        measured += fresh
        if out:
            around.append(out, fresh)
    for row in around.rows(measured):
        console.print("  ".join(row))


def _show(measured: Sequence[Record], plot: Path | None) -> bool:
    found = comparison.cells(measured)
    for (mpi, ranks), some in comparison.groups(found).items():
        show.show(console, some, f"{mpi}, {ranks} ranks")
    if plot and found:
        from hocket.bench.plot import plot as draw

        draw(found, plot)
        console.print(f"wrote {plot}")
    return all(cell.valid() for cell in found)


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
    seconds: Annotated[float, typer.Option(min=0.001, help="Time per cell and side.")] = 0.15,
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
    rounds: Annotated[
        int, typer.Option(min=1, help="With --applications: launches of each side, in turns.")
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
        str, typer.Option(help="With --nonblocking, --applications: HOCKET_PROGRESS: calls, thread or auto.")
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
            help="Measure nothing; write the pages docs/performance.md, nonblocking.md, applications.md.",
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
        return _render(results, page)
    if show_file:
        if not (bench_nonblocking.show_file(show_file) or bench_applications.show_file(show_file)):
            _show(records.read(show_file), plot)
        return None
    if applications:
        asked = bench_applications.Options(collectives or [], rounds, env or [], progress, node_size)
        _warn_if_busy()
        wanted = [asked.request(count) for count in _rank_counts(ranks, 0)]
        return bench_applications.run(_chosen_mpis(against), wanted, out)
    more = bench_nonblocking.Options(
        tests, compute, skew, noise, operations, seed, trace, gantt, progress, node_size
    )
    if not nonblocking:
        more.must_be_preset()
    elif more.is_timeline():
        collectives, sizes = collectives or ["bcast"], sizes or "64K"
    if type_ not in ("float", "double", "int"):
        raise unknown("type", type_, ("float", "double", "int"))
    names, byte_counts, chosen = (
        _chosen_collectives(collectives or []),
        _chosen_sizes(sizes or _default_sizes, 4),
        _chosen_mpis(against),
    )
    _warn_if_busy()
    if nonblocking:
        requests = [
            runner.Request(names, byte_counts, count, seconds, type_, root)
            for count in _rank_counts(ranks, root)
        ]
        return bench_nonblocking.run(chosen, requests, more, untouched, out)
    if costs:
        return _measure_costs(chosen, _rank_counts(ranks, root), out)
    measured: list[Record] = []
    keep = _keeper(measured, out)
    expected = 0
    for count, mpi in product(_rank_counts(ranks, root), chosen):
        request = runner.Request(names, byte_counts, count, seconds, type_, root)
        _measure(mpi, request, not untouched, keep)
        expected += request.cells() * (1 if untouched else 3)
    if not _show(measured, plot):
        raise CommandError("wrong results, see the table", 1)
    if len(measured) < expected:
        raise CommandError(f"{expected - len(measured)} of {expected} measurements failed", 1)
    return None


def _rank_counts(text: str, root: int) -> list[int]:
    from hocket.quantities import parse_ranks

    counts = parse_ranks(text)
    if root >= counts[0]:
        raise CommandError(f"there is no root {root} among {counts[0]} ranks")
    return counts


def register(app: typer.Typer) -> None:
    app.command("bench")(bench)
