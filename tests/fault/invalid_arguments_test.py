"""Calls with wrong arguments: the error class is the one that the MPI gives without Hocket.

usage: invalid_arguments_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH
One launch runs many cases. A call that ends the MPI natively (assertion, segmentation fault) may do what it
likes under Hocket.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Ended, Mpi, arguments, mpi_of

RANKS = 2
Answers = dict[int, list[str]]  # case: what each rank says


def read_answers(folder: Path, rank: int) -> dict[int, str]:
    file = folder / str(rank)
    lines = file.read_text().splitlines() if file.exists() else []
    return {int(number): text for number, _, text in (line.partition(" ") for line in lines)}


class Cases:
    def __init__(self, mpi: Mpi, program: Path) -> None:
        self.mpi, self.program = mpi, str(program)
        listed = subprocess.run([self.program], capture_output=True, text=True, check=True, timeout=60)
        self.texts = listed.stdout.splitlines()

    def launch(self, cases: Sequence[int], hocket: bool) -> tuple[Answers, Ended]:
        """Answers of the cases that all ranks got through. A call that does not return natively is not waited
        for as long as one that has to return."""
        with tempfile.TemporaryDirectory() as folder:
            words = [self.program, folder, "60" if hocket else "5", *map(str, cases)]
            ended = self.mpi.launch(words, RANKS, hocket=hocket, seconds=150)
            by_rank = [read_answers(Path(folder), rank) for rank in range(RANKS)]
        return {
            case: [by[case] for by in by_rank] for case in cases if all(case in by for by in by_rank)
        }, ended

    def run(self, cases: Sequence[int], hocket: bool) -> tuple[Answers, dict[int, Ended]]:
        """The answers, and how the job ended for those that have none. After a case that ends the job, a new
        one goes on; whether it was that case is seen when it runs alone."""
        answers: Answers = {}
        fatal: dict[int, Ended] = {}
        left = list(cases)
        while left:
            some, ended = self.launch(left, hocket)
            answers |= some
            missing = [case for case in left if case not in some]
            if not missing and ended.status != 0:  # it fell after the last answer
                missing = left[-1:]
            if missing and len(left) > 1:
                some, ended = self.launch(missing[:1], hocket)
                answers |= some
            if missing and ended.status != 0:
                fatal[missing[0]] = ended
            left = missing[1:]
        return {case: answers[case] for case in answers if case not in fatal}, fatal

    def compare(self, cases: Sequence[int]) -> tuple[int, dict[int, str]]:
        """How many there are that the MPI survives, and which of them went otherwise under Hocket."""
        natively, _ = self.run(cases, hocket=False)
        under_hocket, failed = self.run(list(natively), hocket=True)
        differ = {
            case: f"ends the job, status {ended.status}\n{ended.output}" for case, ended in failed.items()
        }
        for case, said in under_hocket.items():
            if said != natively[case]:
                differ[case] = f"natively {natively[case]}, under Hocket {said}"
        return len(natively), differ


def main() -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--program", type=Path, required=True)
    parsed = parser.parse_args()
    cases = Cases(mpi_of(parsed), parsed.program)
    compared, suspects = cases.compare(range(len(cases.texts)))
    failed = 0
    for case in suspects:  # alone: an MPI that checks no arguments may have been damaged by an earlier case
        for differs in cases.compare([case])[1].values():
            failed += 1
            print(f"FAILED: {cases.texts[case]}: {differs}")
    print(f"{compared} of {len(cases.texts)} cases compared, {failed} differ")
    return 1 if failed or 2 * compared < len(cases.texts) else 0


if __name__ == "__main__":
    sys.exit(main())
