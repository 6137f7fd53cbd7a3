"""What a registration cache saves: the program, its records, and their place on the page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hocket.bench import program, registration
from hocket.bench.registration import Operation
from hocket.errors import CommandError


def _is_built() -> bool:
    try:
        return program.registration_program().exists()
    except CommandError:
        return False


@pytest.mark.skipif(not _is_built(), reason="no built benchmark program")
def test_every_lane_has_two_sides() -> None:
    try:
        found = registration.run(0, [4096, 65536], 0.001)
    except CommandError as refused:
        pytest.skip(str(refused))
    lanes = registration.lanes(found)
    assert [(one.buffers, one.to, one.bytes) for one in lanes] == [
        (buffers, to, size)
        for size in (4096, 65536)
        for buffers, to in (("same", "nothing"), ("same", "memory"), ("fresh", "nothing"))
    ]
    assert all(len(one.times()) == 1 for one in lanes)


def _runs(side: str, *medians: float) -> list[Operation]:
    first = Operation(
        *("2026-01-02T03:04:05+00:00", "a processor", 2, 0.5, 0, "same", "nothing", 1 << 20, side),
        *(9, 1.0, 1.0, 1.0, True),
    )
    return [dataclasses.replace(first, run=run, median_us=us) for run, us in enumerate(medians)]


RUNS = _runs("without", 30.0, 40.0, 20.0) + _runs("cache", 2.0, 2.0, 2.0)


def test_a_row_is_the_median_of_runs_and_what_they_span(tmp_path: Path) -> None:
    registration.OPERATIONS.append(tmp_path / "some.jsonl", RUNS)
    (row,) = registration.rows(registration.OPERATIONS.read(tmp_path / "some.jsonl"))
    assert row[2:] == ["1 MiB", "3", "30.0 (20.0-40.0)", "2.0 (2.0-2.0)", "15.00 (10.00-20.00)"]


def test_the_page_says_what_missed_its_target(tmp_path: Path) -> None:
    slow = _runs("without", 5.0) + _runs("cache", 2.0)
    assert "**2.50 (2.50-2.50), missed**" in "\n".join(registration.section(slow, tmp_path))
    assert registration.section([], tmp_path) == []
