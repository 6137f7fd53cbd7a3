"""The report of a run, read and shown."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Hocket = Callable[..., subprocess.CompletedProcess[str]]

ROWS = [
    ("allreduce", 8, 10, 2e-5, "flat", "bytes<=2K"),
    ("bcast", 0, 5, 0.0, "native", "several nodes"),
]
FIELDS = ("collective", "bytes_from", "calls", "seconds", "algorithm", "why")
HANDED = {
    "handed_starts": 7,
    "handed_start_bytes": 168,
    "handed_buffers": 2,
    "handed_buffer_bytes": 700,
    "handed_mapped": 1,
}
AGGREGATED = {"aggregated_calls": 6, "aggregated_groups": 1, "aggregated_repaired": 2}
PLANS = {"plan_hits": 9, "plan_misses": 1, "plan_evictions": 0}
LINES = [
    *(dict(zip(FIELDS, row, strict=True), bytes=80) for row in ROWS),
    PLANS,
    HANDED,
    AGGREGATED,
    {"note": "no CMA: EPERM"},
]


def test_a_report_is_shown(hocket: Hocket, tmp_path: Path) -> None:
    file = tmp_path / "report.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    shown = hocket("report", str(file))
    assert shown.returncode == 0
    assert "10 of 15 collective calls ran in Hocket" in shown.stdout
    assert "8 B .. 16 B" in shown.stdout
    assert "2.00 us" in shown.stdout
    assert "several nodes" in shown.stdout
    assert "1 plans made, used again by 9 calls, 0 given up for others" in shown.stdout
    assert "handed 7 calls in 168 B, and told of 2 sets of buffers in 700 B" in shown.stdout
    assert "6 calls in the network; 2 of them were finished by messages" in shown.stdout
    assert "note: no CMA: EPERM" in shown.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no Hocket report"),
        ("not json\n", "line 1 is no line of a Hocket report"),
        ('{"calls": 1}\n', "line 1 is no line of a Hocket report"),
        ("[1]\n", "line 1 is no line of a Hocket report"),
    ],
)
def test_what_is_no_report_is_refused(hocket: Hocket, tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "report.jsonl"
    file.write_text(content)
    refused = hocket("report", str(file))
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_missing_file_is_named(hocket: Hocket) -> None:
    refused = hocket("report", "/nowhere/at/all")
    assert refused.returncode == 2
    assert "cannot read '/nowhere/at/all'" in refused.stderr
