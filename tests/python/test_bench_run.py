"""The benchmark program and its runner on real ranks: one cell, so that it stays quick."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from built_programs import mpis_with
from hocket import mpis
from hocket.bench import program, records, runner
from hocket.bench.records import COLLECTIVES, Record

Hocket = Callable[..., subprocess.CompletedProcess[str]]


INSTALLED = mpis_with(program.bench_program)
pytestmark = pytest.mark.skipif(not INSTALLED, reason="no MPI with a built benchmark program")
each_mpi = pytest.mark.parametrize("mpi", INSTALLED, ids=lambda mpi: mpi.name)


def _untouched(mpi: mpis.Mpi, request: runner.Request) -> list[Record]:
    found: list[Record] = []
    runner.run_untouched(mpi, request, found.extend)
    return found


def _check(found: list[Record], sides: set[str]) -> None:
    assert {record.side for record in found} == sides
    for record in found:
        assert record.valid
        assert 0 < record.p10_us <= record.median_us <= record.p90_us
        assert record.batches >= 5
        assert record.k >= 1


@each_mpi
def test_every_collective_is_timed_and_right_untouched(mpi: mpis.Mpi) -> None:
    found = _untouched(mpi, runner.Request(COLLECTIVES, [8], ranks=2, seconds=0.001))
    assert [record.collective for record in found] == list(COLLECTIVES)
    _check(found, {"untouched"})


@each_mpi
def test_both_sides_run_in_one_process(mpi: mpis.Mpi) -> None:
    found: list[Record] = []
    request = runner.Request(["allreduce"], [8, 4096], ranks=2, seconds=0.01)
    runner.run_side_by_side(mpi, request, found.extend)
    assert len(found) == 4
    _check(found, {"native", "hocket"})
    assert all(record.algorithm for record in found if record.side == "hocket")


def test_other_roots_types_and_odd_ranks_are_right() -> None:
    mpi = INSTALLED[0]
    for kind, root in (("double", 1), ("int", 2)):
        request = runner.Request(COLLECTIVES, [24, 4096], ranks=3, seconds=0.001, type=kind, root=root)
        _check(_untouched(mpi, request), {"untouched"})


def test_the_command_writes_records_and_tables(hocket: Hocket, tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    done = hocket(
        *(
            "bench",
            "allreduce",
            "-n",
            "2",
            "--sizes",
            "8",
            "--seconds",
            "0.01",
            "--against",
            INSTALLED[0].name,
        ),
        *("--untouched", "--out", str(out)),
    )
    assert done.returncode == 0, done.stderr
    assert "allreduce" in done.stdout
    assert [json.loads(line)["side"] for line in out.read_text().splitlines()] == ["untouched"]
    assert records.CELLS.read(out)[0].mpi == INSTALLED[0].name
    assert "allreduce" in hocket("bench", "--show", str(out)).stdout


def test_a_side_is_not_compared_with_itself() -> None:
    mpi = INSTALLED[0]
    command = mpi.command(2, [str(program.bench_program(mpi.family)), "--collectives", "barrier"])
    alone = subprocess.run(
        command,
        env=mpi.child_environment(dict(os.environ)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert alone.returncode != 0
    assert "Hocket is not loaded" in alone.stderr


def test_a_job_that_hangs_is_ended() -> None:
    from hocket.processes import run_captured

    done = run_captured(["sh", "-c", "sleep 60 & wait"], {"PATH": "/usr/bin:/bin"}, seconds=0.3)
    assert done.timed_out
