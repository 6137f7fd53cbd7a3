"""A plain mpi4py program, no Hocket in it: conjugate gradients, the dense matrix's rows dealt out to ranks.

Each iteration does one Allgather (vector) and two Allreduce (dot products). Rank 0 prints figures as JSON.
"""

from __future__ import annotations

import json
import time

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

Vector = npt.NDArray[np.float64]

ROWS_PER_RANK = 256
REPETITIONS = 2000


def local_rows(rank: int, size: int) -> Vector:
    """Rank's rows of a symmetric, diagonally dominant matrix."""
    order = ROWS_PER_RANK * size
    row = np.arange(rank * ROWS_PER_RANK, (rank + 1) * ROWS_PER_RANK)[:, None]
    column = np.arange(order)[None, :]
    matrix: Vector = np.where(row == column, 3.0, 0.0) + 1.0 / (1.0 + np.abs(row - column)) ** 2
    return matrix


def dot(comm: MPI.Comm, left: Vector, right: Vector) -> float:
    total = np.empty(1)
    comm.Allreduce(np.array([left @ right]), total)
    return float(total[0])


def solve(comm: MPI.Comm, rows: Vector, right_side: Vector) -> tuple[Vector, int]:
    solution = np.zeros_like(right_side)
    residual = right_side.copy()
    direction = residual.copy()
    whole = np.empty(rows.shape[1])
    old = dot(comm, residual, residual)
    target = 1e-20 * old
    iterations = 0
    while old > target and iterations < 1000:
        comm.Allgather(direction, whole)
        product = rows @ whole
        step = old / dot(comm, direction, product)
        solution += step * direction
        residual -= step * product
        new = dot(comm, residual, residual)
        direction = residual + (new / old) * direction
        old = new
        iterations += 1
    return solution, iterations


def main() -> None:
    comm = MPI.COMM_WORLD
    rows = local_rows(comm.rank, comm.size)
    right_side = np.sin(np.arange(ROWS_PER_RANK) + 0.1 * comm.rank)
    comm.Barrier()
    start = time.perf_counter()
    for _ in range(REPETITIONS):
        solution, iterations = solve(comm, rows, right_side)
    seconds = time.perf_counter() - start
    norm = dot(comm, solution, solution) ** 0.5
    if comm.rank == 0:
        print(json.dumps({"seconds": seconds, "iterations": iterations, "norm": norm}))


if __name__ == "__main__":
    main()
