"""`make demo`: a third-party MPI program as it is, and the same program under hocket-exec, side by side.

The program is Debian's `hpcc` (HPC Challenge) on Debian's Open MPI; where that is not installed, demo_cg.py,
an mpi4py program, on the embedded Open MPI. The answers have to agree, times are medians of interleaved runs
with the spread of the plain runs beside them, and Hocket's own report says what ran.
Exit status: 0 all well; 1 a run failed or the answers differ; 2 Hocket left every call to the MPI.
"""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hocket import reports
from hocket.reports import Report, renderable
from hpcc import OUTPUT, find_hpcc, write_input
from mpi_launch import find_launcher, launch_command, launch_environment
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
WORK = ROOT / "build" / "demo"
REPETITIONS = 3
SECONDS_PER_RUN = 240

Figures = dict[str, float]


@dataclass(frozen=True)
class Figure:
    """A number that the program prints: a speed to compare, or an answer that has to agree."""

    key: str
    label: str
    more_is_better: bool = False
    tolerance: float | None = None  # relative; None: a speed


@dataclass(frozen=True)
class Program:
    name: str
    family: str  # the MPI it runs on, as in mpi_launch.py
    command: list[str]
    prepare: Callable[[Path, int], None]  # writes its input into a folder, for so many ranks
    read: Callable[[Path, str], Figures]  # its figures from that folder and its standard output
    figures: list[Figure]


# HPCC

HPCC_FIGURES = [
    Figure("HPL_time", "HPL, N = 1000 [s]"),
    Figure("PTRANS_GBs", "matrix transposition [GB/s]", more_is_better=True),
    Figure("MPIRandomAccess_GUPs", "random access [GUP/s]", more_is_better=True),
    Figure("MPIFFT_Gflops", "FFT [Gflop/s]", more_is_better=True),
    Figure("Success", "success", tolerance=0.0),
    Figure("tests_failed", "residual checks failed", tolerance=0.0),
    Figure("MPIRandomAccess_Errors", "random access, wrong entries", tolerance=0.0),
    Figure("PTRANS_residual", "transposition, residual", tolerance=0.0),
    Figure("HPL_Xnorm1", "HPL, 1-norm of the solution", tolerance=1e-9),
    Figure("HPL_XnormI", "HPL, max-norm of the solution", tolerance=1e-9),
]


def prepare_hpcc(folder: Path, ranks: int) -> None:
    write_input(folder, 1000, ranks)


def read_hpcc(folder: Path, _output: str) -> Figures:
    text = (folder / OUTPUT).read_text()
    figures = {key: float(value) for key, value in re.findall(r"(?m)^(\w+)=([-+.\deE]+)$", text)}
    failed = re.findall(r"(\d+) tests completed and failed residual checks", text)
    figures["tests_failed"] = sum(map(int, failed)) if failed else math.nan
    return figures


def hpcc() -> Program | None:
    executable = find_hpcc()
    if not executable or not find_launcher("debian_openmpi", VENV / "opt"):
        return None
    return Program("hpcc", "debian_openmpi", [executable], prepare_hpcc, read_hpcc, HPCC_FIGURES)


# mpi4py

CG_FIGURES = [
    Figure("seconds", "conjugate gradients [s]"),
    Figure("iterations", "iterations", tolerance=0.0),
    Figure("norm", "norm of the solution", tolerance=1e-9),
]


def read_json(_folder: Path, output: str) -> Figures:
    figures: Figures = json.loads(output.strip().splitlines()[-1])
    return figures


def mpi4py_program() -> Program:
    command = [sys.executable, str(ROOT / "dev" / "demo_cg.py")]
    return Program("demo_cg.py", "openmpi", command, lambda _folder, _ranks: None, read_json, CG_FIGURES)


# running and comparing


class RunError(Exception):
    pass


def run_once(program: Program, ranks: int, in_front: list[str], variables: dict[str, str]) -> Figures:
    folder = WORK / ("hocket" if in_front else "plain")
    folder.mkdir(parents=True, exist_ok=True)
    program.prepare(folder, ranks)
    launcher = launch_command(program.family, VENV / "opt", ranks)
    assert launcher is not None
    limit = [sys.executable, str(ROOT / "dev" / "run_limited.py"), "--seconds", str(SECONDS_PER_RUN), "--"]
    command = [*limit, *launcher, *in_front, *program.command]
    environment = {**launch_environment(program.family, VENV / "opt"), **variables}
    start = time.perf_counter()
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RunError(
            f"{' '.join(command)}\nexit status {result.returncode}\n{result.stdout}{result.stderr}"
        )
    return {**program.read(folder, result.stdout), "wall": time.perf_counter() - start}


def medians(runs: list[Figures]) -> Figures:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def compare(program: Program, ranks: int) -> tuple[list[Figures], list[Figures], Report | None]:
    """Interleaved, so that a busy moment of the machine hits both; the report comes from a run of its own."""
    hocket_exec = [str(VENV / "bin" / "hocket-exec")]
    plain, hocket = [], []
    for _ in range(REPETITIONS):
        plain.append(run_once(program, ranks, [], {}))
        hocket.append(run_once(program, ranks, hocket_exec, {}))
    report = WORK / f"report.{ranks}.jsonl"
    report.unlink(missing_ok=True)
    run_once(program, ranks, hocket_exec, {"HOCKET_REPORT": str(report)})
    return plain, hocket, reports.read(report) if report.exists() else None


def agrees(figure: Figure, plain: float, hocket: float) -> bool:
    assert figure.tolerance is not None
    return abs(plain - hocket) <= figure.tolerance * max(abs(plain), abs(hocket))


def speed_up(figure: Figure, before: float, after: float) -> float:
    return after / before if figure.more_is_better else before / after


def print_speeds(figures: Iterable[Figure], plain: list[Figures], hocket: list[Figures]) -> None:
    """The last column is the noise of the machine: single plain runs over the plain median."""
    title = f"median of {REPETITIONS} runs"
    print(f"  {title:<32}{'plain':>12}{'hocket':>12}{'speed-up':>10}  plain runs alone")
    for figure in figures:
        before, after = medians(plain)[figure.key], medians(hocket)[figure.key]
        alone = sorted(speed_up(figure, before, run[figure.key]) for run in plain)
        ratio = speed_up(figure, before, after)
        noise = f"{alone[0]:.2f} to {alone[-1]:.2f}x"
        print(f"  {figure.label:<32}{before:>12.5g}{after:>12.5g}{ratio:>9.2f}x  {noise}")


def print_answers(figures: Iterable[Figure], plain: list[Figures], hocket: list[Figures]) -> bool:
    """Every run has to give the answer of the first plain one."""
    print(f"  {'answers':<32}{'plain':>12}{'hocket':>12}")
    same = True
    for figure in figures:
        expected = plain[0][figure.key]
        ok = all(agrees(figure, expected, run[figure.key]) for run in plain + hocket)
        same &= ok
        print(
            f"  {figure.label:<32}{expected:>12.8g}{hocket[0][figure.key]:>12.8g}{'' if ok else '   DIFFERS'}"
        )
    return same


def print_report(report: Report | None) -> bool:
    """What Hocket says it did; False when that is nothing."""
    if report is None:
        print("  Hocket wrote no report: it was not active in this run")
        return False
    console = Console(width=110)
    with console.capture() as capture:
        console.print(renderable(report))
    print("\n".join(f"  {line.rstrip()}" for line in capture.get().splitlines()))
    return report.accelerated() > 0


def demonstrate(program: Program, ranks: int) -> int:
    print(f"\n{program.name} on {ranks} ranks, {len(os.sched_getaffinity(0))} cores")
    plain, hocket, report = compare(program, ranks)
    speeds = [figure for figure in program.figures if figure.tolerance is None]
    print_speeds([*speeds, Figure("wall", "whole run with start-up [s]")], plain, hocket)
    same = print_answers(
        (figure for figure in program.figures if figure.tolerance is not None), plain, hocket
    )
    active = print_report(report)
    print(
        f"  answers {'agree' if same else 'DIFFER'}" + ("" if active else "; EVERYTHING WAS LEFT TO THE MPI")
    )
    return 1 if not same else 0 if active else 2


def main() -> int:
    program = hpcc()
    if program is None:
        print("hpcc is not installed (apt-get install hpcc openmpi-bin): an mpi4py program instead")
        program = mpi4py_program()
    launcher = launch_command(program.family, VENV / "opt", 2)
    assert launcher is not None
    print(f"plain : {' '.join(launcher)} {program.name}")
    print(f"hocket: {' '.join(launcher)} hocket-exec {program.name}")
    cores = len(os.sched_getaffinity(0))
    try:
        return max(demonstrate(program, ranks) for ranks in (2, 4 if cores < 4 else cores))
    except RunError as failure:
        print(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
