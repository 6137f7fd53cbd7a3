"""What lies directly below /tmp is seen on the nodes of a lab as it is when a job begins, also by jobs that
begin at the same time; what jobs leave in a node's own /tmp stays.

usage: visible_test.py --family FAMILY --prefix DIR --build DIR
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from hocket import reports
from in_lab import RunningLab, Setting, arguments, expect, lab, result, setting_of

AT_ONCE = 6


@contextlib.contextmanager
def _name() -> Iterator[Path]:
    """Of a file that does not exist yet, directly below /tmp whatever TMPDIR says."""
    with tempfile.TemporaryDirectory(prefix="hocket-visible-", dir="/tmp") as folder:
        path = Path(f"{folder}.file")
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)


def _write(program: Path, word: str) -> None:
    """As compilers do: another file takes the name."""
    program.unlink(missing_ok=True)
    program.write_text(f"#!/bin/sh\necho {word}\n")
    program.chmod(0o755)


def _a_program_built_anew(where: RunningLab, _setting: Setting) -> None:
    with _name() as program:
        for word in ("first", "second"):
            _write(program, word)
            for node in ("n0", "head"):
                done = where.do("shell", node, "--", str(program))
                expect(done.output == f"{word}\n", f"{word} on {node}", done.output)


def _several_at_once(where: RunningLab, _setting: Setting) -> None:
    with _name() as program:
        _write(program, "here")
        command = where.command("shell", "n1", "--", str(program))
        started = [
            subprocess.Popen(command, env=where.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for _ in range(AT_ONCE)
        ]
        for each in started:
            output, _ = each.communicate(timeout=30)
            expect(output == b"here\n", "several at once", output.decode())


def _what_a_job_left(where: RunningLab, _setting: Setting) -> None:
    with _name() as file:
        where.do("shell", "n0", "--", "sh", "-c", f"echo own > {file}")
        file.write_text("of the machine\n")
        for node, content in (("n0", "own\n"), ("n1", "of the machine\n")):
            done = where.do("shell", node, "--", "cat", str(file))
            expect(done.output == content, f"what a job left, on {node}", done.output)


def _a_report(where: RunningLab, setting: Setting) -> None:
    with _name() as report:
        program = setting.program("mpi_differential")
        done = where.run("-n", "2", "--", program, "1", "5", seconds=30, HOCKET_REPORT=str(report))
        expect(done.status == 0, "a report: status", done.output)
        rows = reports.read(report).rows if report.exists() and report.stat().st_size else []
        expect(bool(rows), "a report has rows", done.output)


CASES: tuple[Callable[[RunningLab, Setting], None], ...] = (
    _a_program_built_anew,
    _several_at_once,
    _what_a_job_left,
    _a_report,
)


def main() -> int:
    setting = setting_of(arguments().parse_args())
    with lab(setting, "--leaves", "1", "--nodes", "2", "--rate", "500mbit") as where:
        for case in CASES:
            case(where, setting)
    return result("visible", CASES)


if __name__ == "__main__":
    sys.exit(main())
