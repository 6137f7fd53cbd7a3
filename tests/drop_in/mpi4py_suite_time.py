#!/usr/bin/env python3
"""How long mpi4py's own test suite takes with Hocket and without, in turns, as costs for bench/results/costs.

suite_time.py --family openmpi --prefix DIR --hocket-exec PATH --cache DIR [--ranks 5] [--rounds 2] --out FILE
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "harness"), str(TESTS.parent / "python")]

import mpi4py_suite_test as suite  # noqa: E402
from hocket import mpis  # noqa: E402
from hocket.bench import costs  # noqa: E402
from launched import arguments, mpi_of  # noqa: E402
from third_party import mpi4py_suite  # noqa: E402


def _line(side: str, ranks: int, seconds: list[float]) -> str:
    times = {"median": statistics.median(seconds), "p10": min(seconds), "p90": max(seconds)}
    return json.dumps({"what": "mpi4py_suite", "side": side, "ranks": ranks, "unit": "s", **times})


def main() -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--ranks", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    parsed = parser.parse_args()
    parsed.seconds, parsed.corrupt = 1800.0, None
    folder = mpi4py_suite(parsed.cache)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * parsed.rounds):
        hocket = turn % 4 in (1, 2)
        ended = suite.run(mpi_of(parsed), folder, parsed, [], hocket)
        print(f"{'with' if hocket else 'without'}: {ended.seconds:.1f} s, status {ended.status}", flush=True)
        if not suite.has_passed(ended):
            print(ended.output[-4000:])
            return 1
        seconds[hocket].append(ended.seconds)
    lines = [
        _line("without", parsed.ranks, seconds[False]),
        _line("with", parsed.ranks, seconds[True]),
    ]
    version = next((mpi.version() for mpi in mpis.discover() if mpi.name == parsed.family), "")
    costs.COSTS.append(parsed.out, costs.of_lines(parsed.family, version, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
