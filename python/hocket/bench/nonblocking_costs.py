"""What operations cost by themselves: tables of docs/nonblocking.md."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from hocket.bench import nonblocking_sections as sections
from hocket.bench import nonblocking_targets as targets
from hocket.bench.markdown import marked
from hocket.bench.nonblocking_cells import Cell, Pair, pairs
from hocket.bench.show import ratio_text
from hocket.quantities import format_bytes


def _named(cell: Cell) -> str:
    return f"{cell.collective} {format_bytes(cell.bytes) if cell.bytes else ''}".strip()


def _by_mpi(found: Iterable[Cell]) -> dict[tuple[str, int], list[Cell]]:
    result: dict[tuple[str, int], list[Cell]] = {}
    for cell in found:
        result.setdefault((cell.mpi, cell.ranks), []).append(cell)
    return result


_summary_text = f"""\
Start and wait beside the blocking call, both with Hocket: median over the cells, the worst one, and how many
are within the target. *Large*, {format_bytes(targets.LARGE_BYTES)} and more: at most {targets.MOST_OVER:g} %
over it. *Small*, up to {format_bytes(targets.SMALL_BYTES)}: at most {targets.MOST_BEYOND_US:g} us beyond it;
persistent ones not beyond it."""


def _within(found: Sequence[tuple[float, Cell]], is_met: Callable[[Cell], bool], digits: int) -> str:
    if not found:
        return "-"
    worst, where = max(found, key=lambda pair: pair[0])
    middle = statistics.median(value for value, _ in found)
    met = sum(is_met(cell) for _, cell in found)
    text = f"{middle:+.{digits}f}; {worst:+.{digits}f} ({_named(where)}); {met} of {len(found)}"
    return marked(text, met == len(found))


def _measured(some: Iterable[Cell], value: Callable[[Cell], float | None]) -> list[tuple[float, Cell]]:
    return [(number, cell) for cell in some if (number := value(cell)) is not None]


def summary(found: Sequence[Cell]) -> sections.Lines:
    rows = []
    for (mpi, ranks), some in _by_mpi(sections.hockets(found)).items():
        large = [cell for cell in some if targets.is_large(cell)]
        small = [cell for cell in some if targets.is_small(cell)]
        beyond, persistent = _measured(small, Cell.beyond), _measured(small, lambda c: c.beyond("persistent"))
        rows.append([
            *(mpi, str(ranks), _within(_measured(large, Cell.overhead), targets.meets, 0)),
            *(_within(beyond, targets.meets, 2), _within(persistent, targets.persistent_meets, 2)),
        ])  # fmt: skip
    header = ["MPI", "ranks", "large, % over blocking", "small, us beyond", "small persistent, us beyond"]
    return sections.section("Targets", _summary_text, header, rows)


_by_size_text = f"""\
What start and wait take more than the blocking call, both with Hocket; in brackets the same of the MPI
untouched. Targets: {targets.MOST_BEYOND_US:g} us up to {format_bytes(targets.SMALL_BYTES)},
{targets.MOST_OVER:g} % from {format_bytes(targets.LARGE_BYTES)} on; none between."""


def _cost(pair: Pair | None) -> str:
    if not pair:
        return "-"
    own = f" ({targets.cost_text(pair.alone)})" if pair.alone else ""
    return marked(targets.cost_text(pair.hocket), targets.meets(pair.hocket)) + own


def by_size(found: Sequence[Cell]) -> sections.Lines:
    sizes = sorted({cell.bytes for cell in found})
    lines: dict[tuple[str, int, str], dict[int, Pair]] = {}
    for pair in pairs(found):
        cell = pair.hocket
        lines.setdefault((cell.mpi, cell.ranks, cell.collective), {})[cell.bytes] = pair
    rows = [
        [mpi, str(ranks), collective, *(_cost(some.get(size)) for size in sizes)]
        for (mpi, ranks, collective), some in lines.items()
    ]
    header = ["MPI", "ranks", "collective", *(format_bytes(size) for size in sizes)]
    return sections.section("Over the blocking call, by size", _by_size_text, header, rows)


_persistent_text = f"""\
`MPI_Start` and `MPI_Wait` of a persistent request beside the blocking call, and beside the MPI's own
persistent request; *start* is `MPI_Start` alone. Target: up to {format_bytes(targets.SMALL_BYTES)} not beyond
the blocking call. Above 1x, Hocket is faster than the MPI's own."""


def _beyond_text(cell: Cell) -> str:
    beyond = cell.beyond("persistent")
    if beyond is None:
        return "**wrong result**" if cell.is_wrong("persistent") else "-"
    return marked(f"{beyond:+.2f}", targets.persistent_meets(cell))


def _own(pair: Pair) -> list[str]:
    own, mine = pair.alone, pair.hocket
    if not own or own.median("persistent") is None:
        return ["wrong result" if own and own.is_wrong("persistent") else "-", "-", "-"]
    ratio = sections.ratio(own.median("persistent"), mine.median("persistent"))
    return [
        sections.time_text(own.median("persistent")),
        sections.time_text(own.start("persistent")),
        ratio_text(ratio),
    ]


def persistent(found: Sequence[Cell]) -> sections.Lines:
    rows = [
        [
            *sections.place(pair.hocket),
            *(
                sections.time_text(pair.hocket.median("blocking")),
                sections.time_text(pair.hocket.median("persistent")),
            ),
            *(sections.time_text(pair.hocket.start("persistent")), _beyond_text(pair.hocket), *_own(pair)),
        ]
        for pair in pairs(found)
        if pair.hocket.bytes <= targets.LARGE_BYTES and pair.hocket.lane("persistent")
    ]
    header = ["MPI", "ranks", "collective", "bytes", "blocking us", "persistent us", "start us"]
    header += ["us beyond blocking", "the MPI's own us", "its start us", "to the MPI"]
    return sections.section("Persistent requests", _persistent_text, header, rows)


_ialltoall_text = f"""\
Start and wait of `MPI_Ialltoall` with Hocket beside each MPI untouched, and beside the fastest of them.
Target: {targets.LEAST_OVER_OPEN_MPI:g} times as fast as Open MPI's own with 4 to 8 ranks, elsewhere no
slower than the MPI's own. Of large blocks [design/0005](design/0005-single-copy.md) says what the kernel's
copies alone take: the limit of a library that is given any buffer."""


def ialltoall(found: Sequence[Cell]) -> sections.Lines:
    some = [pair for pair in pairs(found) if pair.hocket.collective == "alltoall"]
    fastest: dict[tuple[int, int], float] = {}
    for cell in found:
        time = cell.median("nonblocking")
        if cell.side == "untouched" and cell.collective == "alltoall" and time:
            key = (cell.ranks, cell.bytes)
            fastest[key] = min(time, fastest.get(key, time))
    rows = []
    for pair in some:
        mine = pair.hocket.median("nonblocking")
        own = pair.alone.median("nonblocking") if pair.alone else None
        ratio = sections.ratio(own, mine)
        is_met = ratio is None or round(ratio, 2) >= targets.least_ialltoall(pair.hocket)
        rows.append([
            *(pair.hocket.mpi, str(pair.hocket.ranks), sections.bytes_text(pair.hocket)),
            *(sections.time_text(own), sections.time_text(mine)),
            marked(ratio_text(ratio), is_met),
            ratio_text(sections.ratio(fastest.get((pair.hocket.ranks, pair.hocket.bytes)), mine)),
        ])  # fmt: skip
    header = ["MPI", "ranks", "bytes", "MPI alone us", "Hocket us", "to the MPI", "to the fastest"]
    return sections.section("MPI_Ialltoall against each MPI", _ialltoall_text, header, rows)
