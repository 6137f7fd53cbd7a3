"""The applications in all their forms, under each MPI untouched and with Hocket in front, in turns."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hocket import applications, launch, processes
from hocket.bench import machine, runner
from hocket.bench.jsonl import Kind
from hocket.bench.nonblocking import PRESET, Settings
from hocket.bench.records import Origin
from hocket.mpis import Mpi

SIDES = ("untouched", "hocket")
FORMS = ("blocking", "nonblocking")
_bound_seconds = 300.0  # of one launch: far more than any takes
_bound_per_rank = 60.0


@dataclass(frozen=True)
class Timed(Origin):
    """One form of one application on one side. Seconds of the slowest rank."""

    ranks: int
    application: str
    problem: str  # its words
    form: str
    variant: str  # which solver, decomposition, tile: "" where there is but one
    side: str
    runs: int
    median_s: float
    p10_s: float
    p90_s: float
    communication_share: float  # median
    valid: bool
    variables: str = ""  # of the environment, for both sides
    progress: str = ""  # HOCKET_PROGRESS, HOCKET_NODE_SIZE and HOCKET_WORKERS, of Hocket's side
    node_size: int = 0
    workers: int = 0
    shared_heap: int = 0
    link: str = ""  # machine.link()
    schema: str = "hocket-applications-1"


def _refusal(timed: Timed) -> str:
    known = timed.application in applications.NAMES and timed.side in SIDES and timed.form in FORMS
    return "" if known else f"no such run: {timed.application}, {timed.form}, {timed.side}"


RUNS = Kind(Timed, _refusal)


@dataclass(frozen=True)
class Experiment:
    """A problem, and launches that solve it in all forms that are worth a comparison. The blocking form is
    also given the tile of the other: it may be faster in small pieces by itself."""

    application: str
    problem: str
    launches: tuple[str, ...] = ("",)
    repeat: int = 3  # runs of each form per launch: many where one is short, since the first ones set up


# What takes longest comes last: that is what a limit of time cuts off.
EXPERIMENTS = (
    Experiment("poisson_cg", "--points 16", ("--solver cg,pipelined --halo neighbor,alltoallv",), repeat=15),
    Experiment("poisson_cg", "--points 32", ("--solver cg,pipelined --halo neighbor,alltoallv",)),
    Experiment("compress", "--megabytes 16 --level 3", ("", "--tile 4"), repeat=10),
    Experiment("compress", "--megabytes 16 --level -20", ("", "--tile 4"), repeat=20),
    Experiment("fft3d", "--nx 32 --ny 32 --nz 32", ("--decomposition slab,pencil", "--tile 4"), repeat=15),
    Experiment("fft3d", "--nx 64 --ny 64 --nz 64", ("--decomposition slab,pencil", "--tile 4")),
    Experiment("fft3d", "--nx 128 --ny 128 --nz 128", ("--decomposition slab,pencil", "--tile 8")),
    Experiment("poisson_cg", "--points 64", ("--solver cg,pipelined --halo neighbor,alltoallv",)),
    Experiment("poisson_cg", "--points 96", ("--solver cg --halo neighbor,alltoallv",)),
)
_variant_keys = ("solver", "halo", "decomposition")
_variant_numbers = ("tile", "window")


@dataclass(frozen=True)
class Request:
    experiments: Sequence[Experiment]
    ranks: int
    rounds: int = 5  # each launches both sides
    settings: Settings = PRESET
    variables: Sequence[str] = ()  # NAME=VALUE

    def environment(self, side: str) -> dict[str, str]:
        ours = self.settings.variables() if side == "hocket" else {}
        return {**dict(entry.split("=", 1) for entry in self.variables), **ours}


def chosen(names: Sequence[str]) -> list[Experiment]:
    return [one for one in EXPERIMENTS if not names or one.application in names]


_Result = dict[str, Any]  # what a run printed


def _variant(result: _Result) -> str:
    words = [str(result[key]) for key in _variant_keys if result.get(key)]
    return ", ".join(words + [f"{key} {result[key]}" for key in _variant_numbers if result.get(key)])


def _launch(mpi: Mpi, request: Request, experiment: Experiment, words: str, side: str) -> list[_Result]:
    """What every run printed, wrong answers included."""
    program = [str(applications.built_for(mpi, experiment.application)), *experiment.problem.split()]
    program += [*words.split(), "--repeat", str(experiment.repeat)]
    command = launch.with_hocket(program) if side == "hocket" else program
    bound = _bound_seconds + _bound_per_rank * request.ranks
    environment = launch.environment(mpi, **request.environment(side))
    done = processes.run_captured(mpi.command(request.ranks, command), environment, bound)
    results = [json.loads(line) for line in done.output.splitlines() if line.startswith('{"app"')]
    if not results or (done.status != 0 and all(result["right"] for result in results)):
        raise runner.failure(mpi, done)
    return results


def turns(rounds: int) -> Iterator[str]:
    """A B B A: what gets slower with time does so for both."""
    for index in range(rounds):
        yield from SIDES if index % 2 == 0 else reversed(SIDES)


_Key = tuple[str, str, str]  # side, form, variant


def _summary(key: _Key, results: Sequence[_Result]) -> _Result:
    side, form, variant = key
    seconds = sorted(result["seconds"] for result in results)
    tenths = statistics.quantiles(seconds, n=10, method="inclusive") if len(seconds) > 1 else seconds * 9
    return {
        **{"side": side, "form": form, "variant": variant, "runs": len(seconds)},
        **{"median_s": statistics.median(seconds), "p10_s": tenths[0], "p90_s": tenths[8]},
        "communication_share": statistics.median(result["communication_share"] for result in results),
        "valid": all(result["right"] for result in results),
    }


def summaries(results: Iterable[tuple[str, _Result]]) -> list[_Result]:
    """One per side, form and variant, in the order in which they first ran."""
    found: dict[_Key, list[_Result]] = {}
    for side, result in results:
        found.setdefault((side, result["form"], _variant(result)), []).append(result)
    return [_summary(key, some) for key, some in found.items()]


def run(mpi: Mpi, request: Request, experiment: Experiment) -> list[Timed]:
    load = machine.load()
    results = [
        (side, result)
        for side in turns(request.rounds)
        for words in experiment.launches
        for result in _launch(mpi, request, experiment, words, side)
    ]
    common = {
        **runner.where_and_when(mpi, load),
        **{"ranks": request.ranks, "application": experiment.application, "problem": experiment.problem},
        "variables": " ".join(request.variables),
    }
    ours = {"hocket": dataclasses.asdict(request.settings), "untouched": {}}
    return [Timed(**common, **ours[one["side"]], **one) for one in summaries(results)]
