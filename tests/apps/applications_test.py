"""The applications in all their forms: right answers, by an MPI alone and with Hocket in front; wrong
arguments.

usage: applications_test.py --family FAMILY --prefix DIR --hocket-exec PATH --programs DIR --ranks N NAME
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, Mpi, arguments, caught, mpi_of

HERE = Path(__file__).resolve().parent
FORMS = ("blocking", "nonblocking")
BY_WORKER = "by the node's worker"
# Each rank on a node of its own, and whatever is started handed over, v-forms of unknown sizes, too.
WORKERS = {
    "HOCKET_WORKERS": "1",
    "HOCKET_WORKER_CPUS": "0-1",
    "HOCKET_NODE_SIZE": "1",
    "HOCKET_FORCE": "allreduce:ring,gatherv:linear,alltoall:linear,alltoallv:pairwise",
}
failures: list[str] = []


def expect(condition: bool, what: str, ended: Ended) -> None:
    if not condition:
        failures.append(what)
        print(f"FAILED: {what} (status {ended.status}, {ended.seconds:.1f} s)\n{ended.output[-6000:]}")


@dataclass(frozen=True)
class Run:
    """Words for one launch, which runs both forms of each of `variants` combinations of the choices."""

    words: str
    variants: int = 1
    ranks: int = 0  # 0: on every number of ranks

    def runs(self) -> int:
        asked = sum(f"--{form}" in self.words.split() for form in FORMS)
        return self.variants * (asked or len(FORMS))


# Mostly sizes that no number of ranks but one divides, and few operations: with more ranks than cores some
# MPIs are slow.
RUNS: dict[str, tuple[Run, ...]] = {
    "poisson_cg": (
        Run("--points 7 --tolerance 1e-4 --solver cg,pipelined --halo neighbor,alltoallv", 4),
        Run("--points 23 --tolerance 1e-11 --solver cg,pipelined --repeat 2", 4, ranks=2),
        Run("--points 11 --nonblocking --tests 0", ranks=2),
    ),
    "fft3d": (
        Run("--nx 6 --ny 11 --nz 7 --tile 2 --decomposition slab,pencil", 2),
        Run("--nx 60 --ny 60 --nz 2 --tile 1 --window 3 --serial 1000"),  # equal blocks
        Run("--nx 32 --ny 48 --nz 40 --nonblocking --window 0 --decomposition slab,pencil", 2, ranks=2),
        # ranks without a plane
        Run("--nx 1 --ny 2 --nz 1 --fields 2 --blocking --decomposition slab,pencil", 2, ranks=4),
        Run("--nx 7 --ny 12 --nz 9 --fields 3 --tile 2 --window 3 --decomposition slab,pencil", 2),
    ),
    "compress": (
        Run("--megabytes 1 --block 37"),
        Run("--megabytes 1 --block 64 --tile 1 --window 3 --level -5", ranks=2),
        Run("--megabytes 2 --block 512 --nonblocking --window 0", ranks=3),
        Run(f"--block 1 --tile 3 --tests 0 {HERE}", ranks=5),
    ),
}
# what must not depend on the form, nor on what stands in front
SAME: dict[str, tuple[str, ...]] = {
    "poisson_cg": (),  # sums may be added up in another order
    "fft3d": ("round_trip", "wave"),
    "compress": ("compressed", "checksum"),
}
WRONG: dict[str, dict[str, str]] = {
    "poisson_cg": {
        "--points 0": "from 1 to 4096",
        "--points many": "not 'many'",
        "--points": "needs a value",
        "--solver gc": "cg, pipelined",
        "--solver cg,": "not ''",
        "--nonsense": "no option '--nonsense'",
        "nonsense": "no option",
        "--points 2": "at least 3 for 3 ranks",
    },
    "fft3d": {
        "--nx 0": "from 1 to 32768",
        "--nx 1e3": "not '1e3'",
        "--fields 0": "from 1 to 1024",
        "--decomposition cube": "slab, pencil",
        "--nx 32000 --ny 32000 --nz 32000": "more ranks",
    },
    "compress": {
        "--level 99": "from -50 to 22",
        "--block 1000000": "smaller --tile or --block",
        f"{HERE}/nowhere": f"cannot read '{HERE}/nowhere'",
        "/dev/null": "cannot read '/dev/null'",
    },
}


@dataclass(frozen=True)
class Application:
    mpi: Mpi
    program: str
    name: str
    ranks: int
    workers: bool

    def launch(self, words: str, hocket: bool) -> Ended:
        options = {"HOCKET_REPORT": "1", **(WORKERS if self.workers else {})} if hocket else {}
        command = [self.program, *words.split()]
        return self.mpi.launch(command, self.ranks, hocket=hocket, environment=options, seconds=100)


def results(ended: Ended) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.output.splitlines() if line.startswith('{"app"')]


def check_results(app: Application, run: Run, ended: Ended, where: str) -> None:
    found = results(ended)
    expect(ended.status == 0, f"{where}: exit status", ended)
    expect(len(found) == run.runs(), f"{where}: {len(found)} of {run.runs()} forms ran", ended)
    expect(all(result["right"] for result in found), f"{where}: right answers", ended)
    for result in found:
        expect(result["app"] == app.name and result["ranks"] == app.ranks, f"{where}: says who it is", ended)
        expect(result["seconds"] > 0 and 0 <= result["communication_share"] <= 1, f"{where}: times", ended)
    human = re.findall(rf"(?m)^{app.name} (?:non)?blocking.*: right$", ended.output)
    expect(len(human) == run.runs(), f"{where}: a line to read for each", ended)


def check_same(app: Application, found: Sequence[dict[str, Any]], where: str, ended: Ended) -> None:
    for key in SAME[app.name]:
        expect(len({result[key] for result in found}) == 1, f"{where}: the same {key} in all runs", ended)


def check_caught(app: Application, ended: Ended, where: str) -> None:
    """A right answer alone does not tell who gave it."""
    if app.workers:
        expect(BY_WORKER in ended.output, f"{where}: workers ran collectives", ended)
    else:
        expect(caught(ended, "allreduce") > 0, f"{where}: Hocket ran collectives", ended)


def check_answers(app: Application) -> None:
    for run in (run for run in RUNS[app.name] if run.ranks in (0, app.ranks)):
        if app.workers and "--blocking" in run.words:
            continue
        found: list[dict[str, Any]] = []
        for hocket in (False, True):
            where = f"{app.name} {run.words}, {'under Hocket' if hocket else 'the MPI alone'}"
            ended = app.launch(run.words, hocket)
            check_results(app, run, ended, where)
            if hocket and app.ranks > 1:
                check_caught(app, ended, where)
            found += results(ended)
        check_same(app, found, f"{app.name} {run.words}", ended)


def check_archive(app: Application) -> None:
    """What others read: the file has to be one of zstd's."""
    zstd = shutil.which("zstd")
    if not zstd or app.ranks != 3:
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "archive.zst")
        ended = app.launch(f"--nonblocking --block 1 --tile 2 --output {archive} {__file__}", True)
        read = subprocess.run([zstd, "-d", "-c", archive], capture_output=True, check=False)
    expect(read.stdout == Path(__file__).read_bytes(), "compress: zstd reads the archive", ended)


def check_refused(app: Application, words: str, said: str) -> None:
    ended = app.launch(words, False)
    where = f"{app.name} {words}"
    expect(ended.status == 2, f"{where}: exit status 2", ended)
    told = [line for line in ended.output.splitlines() if line.startswith(f"{app.name}: ")]
    expect(len(told) == 1 and said in told[0], f"{where}: said once, clearly", ended)


def check_help(app: Application) -> None:
    ended = app.launch("--help", False)
    expect(ended.status == 0 and ended.output.count("usage:") == 1, f"{app.name} --help", ended)


def main(argv: Sequence[str]) -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--workers", action="store_true", help="what is not blocking is handed over")
    parser.add_argument("--refused", action="store_true", help="only what the program has to refuse")
    parser.add_argument("name", choices=sorted(RUNS))
    parsed = parser.parse_args(argv)
    mpi = mpi_of(parsed)
    program = parsed.programs / f"{parsed.name}_{'ompi' if mpi.is_open_mpi else 'mpich'}"
    app = Application(mpi, str(program), parsed.name, parsed.ranks, parsed.workers)
    if parsed.refused:
        for words, said in WRONG[app.name].items():
            check_refused(app, words, said)
        check_help(app)
    else:
        check_answers(app)
        if app.name == "compress":
            check_archive(app)
    print(f"{app.name}: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
