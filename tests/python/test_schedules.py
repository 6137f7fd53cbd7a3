"""Schedules as values on the command line: explain, plan, verify."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket.bench import records

Hocket = Callable[..., subprocess.CompletedProcess[str]]

core = pytest.importorskip("hocket._core")


def _record(side: str, median: float) -> records.Record:
    where = {"cpu": "a processor", "cores": 2, "mpi": "openmpi", "mpi_version": "5.0.11", "ranks": 2}
    what = {"collective": "allreduce", "bytes": 4096, "type": "float", "root": 0, "side": side, "valid": True}
    times = {"median_us": median, "p10_us": median - 0.5, "p90_us": median + 0.5, "batches": 9, "k": 64}
    ran = {"date": "2026-01-02T03:04:05+00:00", "algorithm": "flat" if side == "hocket" else ""}
    return records.CELLS.from_dict({"schema": records.CELLS.schema, **where, **what, **times, **ran})


def test_plan_prints_one_rank(hocket: Hocket) -> None:
    told = hocket("plan", "allreduce:ring", "-n", "4", "--rank", "1")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("schedule allreduce ranks 4 rank 1")
    assert "send 2" in told.stdout


def test_plan_prints_all_ranks_as_json(hocket: Hocket) -> None:
    told = hocket("plan", "bcast:knomial(radix=4)", "-n", "5", "--root", "2", "--json")
    schedules = json.loads(told.stdout)
    assert [schedule["rank"] for schedule in schedules] == [0, 1, 2, 3, 4]
    assert {schedule["root"] for schedule in schedules} == {2}
    sends = [op for rounds in schedules[2]["rounds"] for op in rounds if op["op"] == "send"]
    assert sends


def test_plan_tells_which_messages_are_held(hocket: Hocket) -> None:
    told = hocket("plan", "alltoall:linear(window=2)", "-n", "5", "--rank", "0", "--json")
    schedule = json.loads(told.stdout)
    sends = [op for rounds in schedule["rounds"] for op in rounds if op["op"] == "send"]
    assert [op.get("after", 0) for op in sends] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "allreduce"), "which algorithm? There are: allreduce:"),
        (("plan", "allfold:ring"), "no collective named 'allfold'"),
        (("plan", "allreduce:rings"), "no algorithm for allreduce named 'rings'; there are: "),
        (("plan", "bcast:knomial(radius=3)"), "no parameter of knomial named 'radius'; there are: radix"),
        (("plan", "bcast:knomial(radix=many)"), "needs a whole number"),
        (("plan", "bcast:knomial(radix=-5)"), "must be"),
        (("plan", "bcast:flat", "--rank", "9"), "there is no rank 9 among 4 ranks"),
        (("verify", "allfold"), "no collective named 'allfold'"),
        (("verify", "--ranks", "x"), "'x' is not a number of ranks"),
    ],
)
def test_wrong_words_get_a_clear_answer(hocket: Hocket, arguments: tuple[str, ...], message: str) -> None:
    refused = hocket(*arguments)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_verify_proves_a_collective(hocket: Hocket) -> None:
    told = hocket("verify", "allreduce", "--ranks", "1-5")
    assert told.returncode == 0, told.stdout + told.stderr
    rows = [row for row in core.catalog() if row["collective"] == "allreduce"]
    assert told.stdout.count("proved for") == len(rows)


def test_explain_names_rule_and_alternatives(hocket: Hocket) -> None:
    told = hocket("explain", "allreduce", "--bytes", "64K", "--ranks", "8", "--show", "1")
    assert told.returncode == 0, told.stderr
    assert "because: " in told.stdout
    for row in core.catalog():
        if row["collective"] == "allreduce":
            assert row["name"] in told.stdout


def test_explain_obeys_the_environment(hocket: Hocket) -> None:
    assert "left to the MPI" in hocket("explain", "allreduce", HOCKET_DISABLE="allreduce").stdout
    forced = hocket(
        "explain", "allreduce", "--bytes", "8", "-n", "4", "--show", "1", HOCKET_FORCE="allreduce:ring"
    )
    assert "allreduce: ring" in forced.stdout
    refused = hocket("explain", "allreduce", HOCKET_FORCE="allreduce:rings")
    assert refused.returncode == 2
    assert "rings" in refused.stderr


def test_explain_shows_what_was_measured(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    sides = {"hocket": 2.5, "native": 3.5, "untouched": 4.5}
    records.CELLS.append(file, [_record(side, median) for side, median in sides.items()])
    told = hocket("explain", "allreduce", "--bytes", "4K", "-n", "2", "--measured", str(file)).stdout
    assert "openmpi 5.0.11, Hocket (flat): 2.5 us (2 to 3), 2 cores, a processor" in told
    assert "openmpi 5.0.11, without Hocket: 4.5 us" in told
    assert "3.5 us" not in told
    other = hocket("explain", "allreduce", "--bytes", "8K", "-n", "2", "--measured", str(file)).stdout
    assert "sizes on that many ranks: 4 KiB" in " ".join(other.split())
    assert "nothing on that many ranks" in " ".join(
        hocket("explain", "barrier", "-n", "2", "--measured", str(file)).stdout.split()
    )


def test_explain_knows_what_does_not_fit(hocket: Hocket) -> None:
    told = hocket("explain", "allreduce", "--bytes", "8", "-n", "4", "--non-commutative")
    assert "needs a commutative operation" in told.stdout


@pytest.mark.parametrize("row", core.catalog(), ids=lambda row: f"{row['collective']}-{row['name']}")
def test_text_dict_and_counts_agree(row: dict[str, object]) -> None:
    presets = {p["name"]: p["preset"] for p in row["parameters"]}  # type: ignore[attr-defined]
    request = (row["collective"], row["name"], 6, 0, presets, True)
    if not core.fits(*request):
        pytest.skip("does not fit 6 ranks")
    for rank in (0, 5):
        schedule = core.schedule(*request, rank)
        ops = [op for ops in schedule["rounds"] for op in ops]
        lines = core.schedule_text(*request, rank).splitlines()
        assert len([line for line in lines if line.startswith("round ")]) == len(ops)
        assert core.count(*request, rank)["messages"] == sum(op["op"] == "send" for op in ops)
