"""Records, comparisons and the pages made of them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hocket import mpis
from hocket.bench import comparison, markdown, records, runner
from hocket.bench.comparison import Cell
from hocket.bench.records import Record
from hocket.commands import bench_choices
from hocket.errors import CommandError
from hocket.reports import Report, ReportRow


def record(
    mpi: str, side: str, median: float, collective: str = "allreduce", size: int = 8, valid: bool = True
) -> Record:
    times = {"median_us": median, "p10_us": median * 0.9, "p90_us": median * 1.1}
    where = {"cpu": "a processor", "cores": 2, "mpi": mpi, "mpi_version": "1.2", "ranks": 2}
    what = {"collective": collective, "bytes": size, "type": "float", "root": 0, "side": side, "valid": valid}
    ran = {"batches": 9, "k": 64, "algorithm": "flat" if side == "hocket" else ""}
    date = "2026-01-02T03:04:05+00:00"
    return records.CELLS.from_dict(
        {"schema": records.CELLS.schema, "date": date, **where, **what, **times, **ran}
    )


SAMPLE = [
    record("openmpi", "untouched", 2.0),
    record("openmpi", "native", 2.2),
    record("openmpi", "hocket", 1.0),
    record("intel", "untouched", 0.5),
    record("openmpi", "untouched", 9.0, "bcast", 4096),
    record("openmpi", "native", 9.0, "bcast", 4096),
    record("openmpi", "hocket", 10.0, "bcast", 4096),
]


def test_records_survive_a_file(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "records.jsonl"
    records.CELLS.append(file, SAMPLE[:3])
    records.CELLS.append(file, SAMPLE[3:])
    assert records.CELLS.read(file) == SAMPLE


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema": "other"}, "schema is 'other'"),
        ({"median_us": "fast"}, "field 'median_us' is 'fast'"),
        ({"surprise": 1}, "unknown field 'surprise'"),
        ({"side": "left"}, "no such cell"),
        ({"collective": "allfold"}, "no such cell"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, object], what: str) -> None:
    file = tmp_path / "records.jsonl"
    bad = {**dataclasses.asdict(SAMPLE[0]), **change}
    file.write_text(json.dumps(dataclasses.asdict(SAMPLE[1])) + "\n" + json.dumps(bad) + "\n")
    with pytest.raises(CommandError, match=rf"line 2: .*{what}"):
        records.CELLS.read(file)


def test_ratios_compare_with_the_mpi_below_and_with_the_fastest() -> None:
    first = comparison.cells(SAMPLE)[0]
    assert first.to_below() == pytest.approx(2.2)
    assert first.fastest and first.fastest.mpi == "intel"
    assert first.to_fastest() == pytest.approx(0.5)


def test_the_last_measurement_of_a_cell_counts() -> None:
    cells = comparison.cells([*SAMPLE, record("openmpi", "hocket", 0.1)])
    assert cells[0].to_below() == pytest.approx(22)


def test_means_are_geometric_and_losses_are_listed() -> None:
    cells = comparison.cells(SAMPLE)
    assert comparison.mean(cells, Cell.to_below) == pytest.approx((2.2 * 0.9) ** 0.5)
    assert [cell.collective for cell in comparison.lost(cells, Cell.to_below)] == ["bcast"]
    worst = comparison.worst(cells, Cell.to_below)
    assert worst and worst.collective == "bcast"
    assert comparison.mean([], Cell.to_below) is None


def test_the_page_says_where_hocket_loses() -> None:
    page = markdown.page(SAMPLE)
    losses = page.split("## Where Hocket loses")[1].split("## ")[0]
    assert "| openmpi | 2 | bcast | 4 KiB | flat | 0.90x |" in losses
    assert "allreduce" not in losses
    assert "| openmpi | 2 | 1.41x |" in page
    assert "1.000 (0.900-1.100)" in page


def _pair(mpi: str, ranks: int, collective: str, size: int, ratio: float) -> list[Record]:
    both = [record(mpi, "native", ratio, collective, size), record(mpi, "hocket", 1.0, collective, size)]
    return [dataclasses.replace(one, ranks=ranks) for one in both]


def test_targets_stand_beside_what_was_measured() -> None:
    measured = [
        *_pair("openmpi", 8, "allreduce", 8, 1.0),
        *_pair("openmpi", 8, "allreduce", 32768, 4.0),
        *_pair("openmpi", 8, "bcast", 32768, 0.5),
        *_pair("mpich", 4, "barrier", 0, 200.0),
    ]
    table = markdown.page([*SAMPLE, *measured]).split("## Targets")[1].split("## ")[0]
    assert (
        "| openmpi | 2 | 1.41x (target 1.3x) | 0.67x (target 1.1x) | - | 1.41x | 1 of 2 (target 0) |" in table
    )
    assert "| openmpi | 8 | 1.26x (target 1.3x) | - | 4.00x (target 2x) | 1.00x | 1 of 3 |" in table
    assert "| mpich | 4 | 200.00x | - | - | 200.00x (target 100x) | 0 of 1 |" in table


def test_the_page_shows_wrong_results() -> None:
    assert "**wrong result**" in markdown.page([*SAMPLE[:2], record("openmpi", "hocket", 1.0, valid=False)])


def test_an_empty_page_claims_nothing() -> None:
    assert "Nothing has been measured yet." in markdown.page([])


def test_every_line_of_a_table_has_the_same_columns() -> None:
    for block in markdown.page(SAMPLE).split("\n\n"):
        columns = {line.count("|") for line in block.splitlines() if line.startswith("|")}
        assert len(columns) <= 1, block


def test_what_ran_is_found_by_agreed_bytes() -> None:
    request = runner.Request(["allreduce", "allgatherv", "gatherv", "barrier"], [8, 4096], ranks=4)
    rows = [
        ReportRow("allreduce", 8, "flat", "a rule", 3, 24, 0.0),
        ReportRow("allreduce", 8, "native", "switched off", 99, 24, 0.0),
        ReportRow("allreduce", 4096, "ring", "a rule", 3, 24, 0.0),
        ReportRow("allgatherv", 16384, "direct", "a rule", 3, 24, 0.0),
        ReportRow("gatherv", 0, "linear", "a rule", 6, 24, 0.0),
        ReportRow("barrier", 0, "dissemination", "a rule", 6, 0, 0.0),
    ]
    found = runner.algorithms_of(Report(rows), request)
    assert found["allreduce", 8] == "flat"
    assert found["allreduce", 4096] == "ring"
    assert found["allgatherv", 4096] == "direct"
    assert found["allgatherv", 8] == ""
    assert found["gatherv", 8] == found["gatherv", 4096] == "linear"
    assert found["barrier", 0] == "dissemination"


def test_a_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hocket.bench.plot import plot

    plot(comparison.cells(SAMPLE), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(CommandError, match="nothing to plot"):
        plot(comparison.cells([record("openmpi", "hocket", 1.0, "barrier", 0)]), tmp_path / "none.png")


def _everything(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = [mpis.Mpi(name, "ompi", Path("/x")) for name in names]
    monkeypatch.setattr(mpis, "discover", lambda: found)


def test_mpis_that_are_not_installed_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _everything(monkeypatch, "openmpi", "debian-mpich")
    assert [mpi.name for mpi in bench_choices.chosen_mpis("mpich,openmpi,intel")] == ["openmpi"]
    said = " ".join(capsys.readouterr().out.split())
    assert "left out: the MPI 'mpich' is not installed" in said
    assert "left out: the MPI 'intel' is not installed" in said
    assert [mpi.name for mpi in bench_choices.chosen_mpis("")] == ["openmpi"]


def test_no_mpi_at_all_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _everything(monkeypatch)
    for wanted in ("", "mpich,intel"):
        with pytest.raises(CommandError, match="none of these MPIs is installed; to get one: "):
            bench_choices.chosen_mpis(wanted)


def test_a_name_of_no_mpi_is_an_error_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    _everything(monkeypatch, "openmpi")
    with pytest.raises(CommandError, match="no MPI named 'mvapich'"):
        bench_choices.chosen_mpis("openmpi,mvapich")
