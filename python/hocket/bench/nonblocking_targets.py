"""What non-blocking and persistent collectives may cost beside the blocking call, and who meets that."""

from __future__ import annotations

from hocket.bench.nonblocking_cells import Cell

LARGE_BYTES = 64 << 10
SMALL_BYTES = 4 << 10
MOST_OVER = 15.0  # percent over the blocking call, where operations are large
MOST_BEYOND_US = 0.3  # microseconds, where they are small
MOST_PERSISTENT_BEYOND_US = 0.0
LEAST_HIDDEN = 90.0  # percent of a large operation between nodes, where the MPI alone
MOST_ALONE = 50.0  # hides less than that
LEAST_OF_SUM = 90.0  # percent, on one node
LEAST_OVER_OPEN_MPI = 2.0  # times as fast as its MPI_Ialltoall, with 4 to 8 ranks


def is_large(cell: Cell) -> bool:
    return cell.bytes >= LARGE_BYTES


def is_small(cell: Cell) -> bool:
    return cell.bytes <= SMALL_BYTES


def cost_text(cell: Cell) -> str:
    """Start and wait beside the blocking call: us where operations are small, else percent."""
    over, beyond = cell.overhead(), cell.beyond()
    if cell.is_wrong("nonblocking"):
        return "**wrong result**"
    if over is None or beyond is None:
        return "-"
    if is_small(cell):
        return f"{beyond:+.2f} us"
    return f"{over:+.0f} %"


def meets(cell: Cell) -> bool:
    """Also where there is no target."""
    over, beyond = cell.overhead(), cell.beyond()
    if is_small(cell) and beyond is not None:
        return round(beyond, 2) <= MOST_BEYOND_US
    if is_large(cell) and over is not None:
        return round(over) <= MOST_OVER
    return True


def least_ialltoall(cell: Cell) -> float:
    """Times as fast as the MPI's own."""
    return LEAST_OVER_OPEN_MPI if "openmpi" in cell.mpi and 4 <= cell.ranks <= 8 else 1.0


def persistent_meets(cell: Cell) -> bool:
    beyond = cell.beyond("persistent")
    return not is_small(cell) or beyond is None or round(beyond, 2) <= MOST_PERSISTENT_BEYOND_US


def hides(cell: Cell, alone: Cell | None) -> bool | None:
    """Between nodes, with a number of tests with which the MPI alone hides little. None: there is none."""
    if not is_large(cell) or not alone:
        return None
    others = _hidden_by_tests(alone)
    own = [
        hidden for tests, hidden in _hidden_by_tests(cell).items() if others.get(tests, 100.0) < MOST_ALONE
    ]
    return round(max(own)) >= LEAST_HIDDEN if own else None


def _hidden_by_tests(cell: Cell) -> dict[int, float]:
    return {one.lane.tests: one.hidden() for one in cell.overlaps() if one.lane.loop == "time"}
