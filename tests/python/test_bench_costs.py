"""What is paid around the collectives: the program, its records, and their place on the page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from built_programs import mpis_with
from hocket import mpis
from hocket.bench import costs, markdown, program, records
from hocket.bench.costs import Cost
from hocket.errors import CommandError

BUILT = mpis_with(program.costs_program)


@pytest.mark.skipif(not BUILT, reason="no MPI with a built benchmark program")
@pytest.mark.parametrize("mpi", BUILT, ids=lambda mpi: mpi.name)
def test_every_cost_has_something_beside_it(mpi: mpis.Mpi) -> None:
    found = costs.run(mpi, 2)
    by_kernel = [row for row in costs.rows(found) if "kernel" in row[0]]
    assert len(costs.rows(found)) - len(by_kernel) == 10
    assert len(by_kernel) in (0, 3)  # none where ranks may not read each other's memory
    for cost in found:
        assert 0 < cost.p10 <= cost.median <= cost.p90


def _cost(side: str, median: float) -> Cost:
    where = ("2026-01-02T03:04:05+00:00", "a processor", 2, "openmpi", "1.2", 2)
    return Cost(*where, "passed_through", side, "ns", median, median, median)


PAIR = [_cost("without", 40.0), _cost("with", 44.5)]


def test_costs_come_back_from_their_file(tmp_path: Path) -> None:
    costs.COSTS.append(tmp_path / "some" / "costs.jsonl", PAIR)
    assert costs.COSTS.read(tmp_path / "some" / "costs.jsonl") == PAIR


def test_the_page_says_what_a_cost_is() -> None:
    date = "2026-01-02T03:04:05+00:00"
    cell = records.Record(
        *(date, "a processor", 2, "openmpi", "1.2", 2, "barrier", 0, "float", 0, "untouched"),
        *(1.0, 1.0, 1.0, 9, 1, True),
    )
    page = markdown.page([cell], PAIR)
    assert "| openmpi | 2 | ns | 40.00 (40.00-40.00) | 44.50 (44.50-44.50) | +4.50 |" in page
    assert "Costs around" not in markdown.page([cell])


@pytest.mark.parametrize("damage", ['{"schema": "other"}', "no json", '{"schema": "hocket-costs-1", "x": 1}'])
def test_a_damaged_file_is_an_error(tmp_path: Path, damage: str) -> None:
    (tmp_path / "costs.jsonl").write_text(damage + "\n")
    with pytest.raises(CommandError, match="line 1"):
        costs.COSTS.read(tmp_path / "costs.jsonl")


def test_one_side_alone_is_no_row() -> None:
    assert costs.rows(PAIR[:1]) == []
    assert costs.rows([dataclasses.replace(PAIR[0], side="hand-over alone"), PAIR[1]])[0][-1] == "+4.50"
