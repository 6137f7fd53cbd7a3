"""mpi4py's own test suite, unmodified: what passes without Hocket passes with it.

usage: mpi4py_suite_test.py --family FAMILY --prefix DIR --hocket-exec PATH --cache DIR --ranks N
                            [--corrupt LIBRARY] [--modules REGEX ...]

--modules: only these test modules. --corrupt: a library that damages results stands before Hocket; the
suite must then notice.
A test that fails is run again natively, in its module: only what passes there counts.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, Mpi, arguments, mpi_of
from third_party import mpi4py_suite, skip

ABI = {"openmpi": "openmpi", "debian_openmpi": "openmpi", "mpich": "mpich", "debian_mpich": "mpich"}
PLACE = re.compile(r"^(?:ERROR|FAIL): (\S+) \(([\w.]+)", re.MULTILINE)
COUNT = re.compile(r"Ran (\d+) tests? in")
# Children need more slots than launchers give; one-sided communication takes minutes and is not Hocket's.
NEVER = "test_spawn|test_dynproc|test_ulfm|test_doc|test_util_pool|test_rma"


def run(mpi: Mpi, suite: Path, parsed: argparse.Namespace, modules: Sequence[str], hocket: bool) -> Ended:
    words = [sys.executable, str(suite / "main.py"), "--no-builddir", "-e", NEVER]
    for module in modules:
        words += ["-i", module]
    environment = {"MPI4PY_MPIABI": ABI[parsed.family], "HOCKET_STALL_SECONDS": "20"}
    corrupted = hocket and parsed.corrupt
    wrapper = f'export LD_PRELOAD="{parsed.corrupt}"' if corrupted else ""
    return mpi.launch(
        words,
        parsed.ranks,
        hocket=hocket,
        seconds=parsed.seconds,
        environment=environment,
        wrapper=wrapper,
    )


def bad_tests(ended: Ended) -> set[str]:
    return {
        f"{where}.{name}" if not where.endswith(name) else where
        for name, where in PLACE.findall(ended.output)
    }


def has_passed(ended: Ended) -> bool:
    return ended.status == 0 and bool(COUNT.search(ended.output))


def modules_of(tests: set[str]) -> list[str]:
    return sorted({re.sub(r"^__main__\.", "", test).split(".")[0] for test in tests})


def main(argv: Sequence[str]) -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--corrupt", type=Path)
    parser.add_argument("--modules", nargs="*", default=[])
    parsed = parser.parse_args(argv)
    mpi = mpi_of(parsed)
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        skip("mpi4py is not installed")
    suite = mpi4py_suite(parsed.cache)

    ended = run(mpi, suite, parsed, parsed.modules, hocket=True)
    if parsed.corrupt:
        noticed = not ended.hung and bool(bad_tests(ended))
        print(ended.output[-2000:])
        print(
            "the suite noticed the damage" if noticed else "FAILED: the suite did not notice damaged results"
        )
        return 0 if noticed else 1
    if has_passed(ended):
        print(f"passed: {COUNT.findall(ended.output)} tests in {ended.seconds:.0f} s")
        return 0
    bad = bad_tests(ended)
    print(f"failing under Hocket (status {ended.status}): {sorted(bad)}; now without")
    natively = run(mpi, suite, parsed, modules_of(bad) or parsed.modules, hocket=False)
    worse = bad - bad_tests(natively)
    same_end = bad and not ended.hung
    if natively.status != 0 and same_end and not worse:
        print("the same tests fail without Hocket")
        return 0
    print(ended.output[-12000:])
    print(f"FAILED: only under Hocket: {sorted(worse)} (natively status {natively.status})")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
