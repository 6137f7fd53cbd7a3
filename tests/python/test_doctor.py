"""What the doctor says of machines that are not this one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import processes
from hocket.doctor import installation, machine, sharing
from hocket.doctor.finding import Verdict

Hocket = Callable[..., subprocess.CompletedProcess[str]]


def _write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(("text", "cores"), [("150000 100000\n", 1.5), ("max 100000\n", None)])
def test_quota_of_control_groups_version_2(tmp_path: Path, text: str, cores: float | None) -> None:
    _write(tmp_path, "sys/fs/cgroup/cpu.max", text)
    assert machine.cpu_quota(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [("200000", 2.0), ("-1", None)])
def test_quota_of_control_groups_version_1(tmp_path: Path, quota: str, cores: float | None) -> None:
    _write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota)
    _write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert machine.cpu_quota(tmp_path) == cores


def test_no_control_group_is_no_limit(tmp_path: Path) -> None:
    assert machine.cpu_quota(tmp_path) is None
    assert machine.memory_limit(tmp_path) is None


def test_memory_limit(tmp_path: Path) -> None:
    _write(tmp_path, "sys/fs/cgroup/memory.max", "1073741824\n")
    assert machine.memory_limit(tmp_path) == 1 << 30


def test_a_denied_read_comes_with_the_way_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_sibling_read", lambda: 1)
    finding = sharing.kernel_reads()
    assert finding.verdict is Verdict.weak
    assert "Operation not permitted" in finding.found
    assert "ptrace" in finding.mend.lower()


def test_the_command_reports_every_subject(hocket: Hocket) -> None:
    told = hocket("doctor", "--quick", HOCKET_WAIT="spin")
    assert told.returncode in (0, 1)
    for subject in (
        "workers",
        "shared memory",
        "rendezvous",
        "CMA",
        "cores",
        "memory",
        "kernels",
        "HOCKET_WAIT",
    ):
        assert subject in told.stdout
    assert "Traceback" not in told.stderr


def test_a_broken_installation_is_an_error(hocket: Hocket, tmp_path: Path) -> None:
    told = hocket("doctor", "--quick", HOCKET_PREFIX=str(tmp_path))
    assert told.returncode == 1
    assert "missing" in told.stdout
    assert "make build" in told.stdout


@pytest.mark.parametrize(
    ("told", "verdict", "words"),
    [
        (
            processes.Finished(0, "self/memory0 within this process; tcp/card0 to 1\n", ""),
            Verdict.good,
            "by tcp/card0",
        ),
        (
            processes.Finished(1, "", "hocketd: 10.0.0.2:1: Connection refused\n"),
            Verdict.bad,
            "none at 10.0.0.2:1",
        ),
    ],
)
def test_workers_elsewhere(
    monkeypatch: pytest.MonkeyPatch, told: processes.Finished, verdict: Verdict, words: str
) -> None:
    monkeypatch.setenv("HOCKET_WORKER_HOST", "10.0.0.2:1")
    monkeypatch.setattr(processes, "run_captured", lambda *_: told)
    finding = installation.workers()
    assert finding.verdict is verdict
    assert words in finding.found
