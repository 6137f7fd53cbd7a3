"""The applications in all their forms: right answers, by an MPI alone and with Hocket in front; wrong
arguments.

usage: applications_test.py --family FAMILY --prefix DIR --hocket-exec PATH --programs DIR --ranks N NAME
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, Mpi, arguments, caught, mpi_of

FORMS = ("blocking", "nonblocking")
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


# Sizes that no number of ranks but one divides, and few iterations: with more ranks than cores some MPIs are slow.
RUNS: dict[str, tuple[Run, ...]] = {
    "poisson_cg": (
        Run("--points 7 --tolerance 1e-4 --solver cg,pipelined --halo neighbor,alltoallv", 4),
        Run("--points 23 --tolerance 1e-11 --solver cg,pipelined --repeat 2", 4, ranks=2),
        Run("--points 11 --nonblocking --tests 0", ranks=2),
    ),
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
    },
}
# what is wrong for so many ranks only
TOO_FEW: dict[str, tuple[int, str, str]] = {"poisson_cg": (5, "--points 4", "at least 5")}


@dataclass(frozen=True)
class Application:
    mpi: Mpi
    program: str
    name: str
    ranks: int

    def launch(self, words: str, hocket: bool) -> Ended:
        report = {"HOCKET_REPORT": "1"} if hocket else {}
        command = [self.program, *words.split()]
        return self.mpi.launch(command, self.ranks, hocket=hocket, environment=report, seconds=100)


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


def check_caught(app: Application, ended: Ended, where: str) -> None:
    """A right answer alone does not tell who gave it."""
    expect(caught(ended, "allreduce") > 0, f"{where}: Hocket ran collectives", ended)


def check_answers(app: Application) -> None:
    for run in (run for run in RUNS[app.name] if run.ranks in (0, app.ranks)):
        for hocket in (False, True):
            where = f"{app.name} {run.words}, {'under Hocket' if hocket else 'the MPI alone'}"
            ended = app.launch(run.words, hocket)
            check_results(app, run, ended, where)
            if hocket and app.ranks > 1:
                check_caught(app, ended, where)


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
    parser.add_argument("--refused", action="store_true", help="only what the program has to refuse")
    parser.add_argument("name", choices=sorted(RUNS))
    parsed = parser.parse_args(argv)
    mpi = mpi_of(parsed)
    program = parsed.programs / f"{parsed.name}_{'ompi' if mpi.is_open_mpi else 'mpich'}"
    app = Application(mpi, str(program), parsed.name, parsed.ranks)
    if parsed.refused:
        for words, said in WRONG[app.name].items():
            check_refused(app, words, said)
        check_help(app)
    else:
        check_answers(app)
        if TOO_FEW[app.name][0] == app.ranks:
            check_refused(app, *TOO_FEW[app.name][1:])
    print(f"{app.name}: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
