"""Programs that know nothing of Hocket, under hocket-exec: right answers, and their collectives were caught.

usage: drop_in_test.py --family FAMILY --prefix DIR --hocket-exec PATH --programs DIR --cache DIR GROUP
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, Mpi, arguments, caught, mpi_of
from third_party import hpcc_command, imb, skip

HERE = Path(__file__).resolve().parent
REPORT = {"HOCKET_REPORT": "1"}
failures: list[str] = []


def expect(condition: bool, what: str, ended: Ended) -> None:
    if not condition:
        failures.append(what)
        print(f"FAILED: {what} (status {ended.status}, {ended.seconds:.1f} s)\n{ended.output[-6000:]}")


@dataclass
class Set:
    mpi: Mpi
    programs: Path  # where programs built for this MPI are
    cache: Path

    def program(self, name: str) -> str:
        return str(self.programs / f"{name}.{self.mpi.family}")


def tool_before(set_: Set) -> None:
    """A profiling tool that is preloaded before Hocket sees every call, and Hocket sees the tool's."""
    library = set_.programs / "libprofiling_tool.so"
    wrapper = f'export LD_PRELOAD="{library}"'
    ended = set_.mpi.launch([set_.program("mpi_io")], 2, wrapper=wrapper, environment=REPORT)
    expect(ended.status == 0, "tool: exit status", ended)
    seen = [int(n) for n in re.findall(r"tool: (\d+) MPI_Allreduce", ended.output)]
    expect(len(seen) == 2 and min(seen) >= 5, "tool: sees the program's calls", ended)
    expect(caught(ended, "allreduce") >= 5, "tool: Hocket sees them too", ended)


def ctypes_calls(set_: Set) -> None:
    """Calls through a handle of the library are not caught; mixed with caught ones they are still right."""
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        skip("mpi4py is not installed")
    abi = "openmpi" if set_.mpi.is_open_mpi else "mpich"
    command = [sys.executable, str(HERE / "ctypes_program.py")]
    ended = set_.mpi.launch(command, 3, environment={**REPORT, "MPI4PY_MPIABI": abi})
    expect(ended.status == 0 and ended.output.count("right") == 3, "ctypes: right results", ended)
    expect(caught(ended, "allreduce") == 20, "ctypes: only mpi4py's calls are caught", ended)


def exits(set_: Set) -> None:
    """No MPI_Finalize. Launchers may end the others as soon as one is gone: what these say can be lost."""
    ended = set_.mpi.launch([set_.program("children"), "exits"], 3)
    expect(not ended.hung and not ended.left_behind, "exit without MPI_Finalize: ends", ended)
    expect(" 0 failures" in ended.output, "exit without MPI_Finalize: right results", ended)
    expect(
        not re.search(r"rank \d+: [1-9]\d* failures", ended.output),
        "exit without MPI_Finalize: right results",
        ended,
    )


def imb_benchmarks(set_: Set) -> None:
    program = imb(set_.mpi.prefix)
    names = "Allreduce Reduce Reduce_scatter Reduce_scatter_block Allgather Allgatherv Scatter Scatterv"
    names += " Gather Gatherv Alltoall Alltoallv Bcast Barrier"
    for ranks in (2, 3):
        words = [str(program), "-npmin", str(ranks), "-msglog", "0:18", "-iter", "8", "-time", "0.05"]
        ended = set_.mpi.launch([*words, *names.split()], ranks, environment=REPORT, seconds=120)
        expect(ended.status == 0, f"IMB at {ranks}: exit status", ended)
        expect(
            "All processes entering MPI_Finalize" in ended.output, f"IMB at {ranks}: ran to its end", ended
        )
        expect("invalid buffer" not in ended.output, f"IMB at {ranks}: right data", ended)
        expect(caught(ended, "allreduce") > 100, f"IMB at {ranks}: caught", ended)


def hpcc(set_: Set) -> None:
    for ranks in (2, 4):
        with tempfile.TemporaryDirectory() as folder:
            command = hpcc_command(Path(folder), 600, ranks)
            ended = set_.mpi.launch(command, ranks, environment=REPORT, wrapper=f'cd "{folder}"', seconds=150)
            written = Path(folder, "hpccoutf.txt")
            answers = written.read_text() if written.exists() else ""
        expect(ended.status == 0 and "Success=1" in answers, f"hpcc at {ranks}: success", ended)
        passed = re.findall(r"(\d+) tests completed and passed residual checks", answers)
        failed = re.findall(r"(\d+) tests completed and failed residual checks", answers)
        expect(bool(passed) and set(failed) == {"0"}, f"hpcc at {ranks}: residuals {passed} {failed}", ended)
        expect("MPIRandomAccess_Errors=0" in answers, f"hpcc at {ranks}: random access", ended)
        expect(caught(ended, "allreduce") + caught(ended, "bcast") > 50, f"hpcc at {ranks}: caught", ended)


GROUPS: dict[str, Callable[[Set], None]] = {
    "tool": tool_before,
    "ctypes": ctypes_calls,
    "exits": exits,
    "imb": imb_benchmarks,
    "hpcc": hpcc,
}


def main(argv: Sequence[str]) -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("group", choices=sorted(GROUPS))
    parsed = parser.parse_args(argv)
    GROUPS[parsed.group](Set(mpi_of(parsed), parsed.programs, parsed.cache))
    print(f"{parsed.group}: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
