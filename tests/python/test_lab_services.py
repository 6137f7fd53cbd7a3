"""Services of a lab: how they are started and waited for. All without namespaces."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hocket.errors import CommandError
from hocket.lab import machine, services
from hocket.lab.tree import Machine
from waiting import until

LEAF = Machine("leaf0", "switch", address="10.77.252.1")
CARD = Machine("n0-card", "card", "leaf0", address="10.77.253.1")

Program = Callable[[str], services.Started]


@pytest.fixture
def started(tmp_path: Path) -> Program:
    """A shell's script as the service of leaf0."""

    def run(script: str) -> services.Started:
        log = tmp_path / "log"
        with log.open("wb") as said:
            process = subprocess.Popen(["sh", "-c", script], stdout=said, stderr=said)
        return services.Started("leaf0", process, log)

    return run


def _end(service: services.Started) -> None:
    service.process.kill()
    service.process.wait()


def test_a_service_is_ready_when_it_says_so(started: Program) -> None:
    service = started("sleep 0.1; echo I am ready >&2; exec sleep 60")
    service.wait_for("am ready", services.deadline())
    _end(service)


def test_a_service_that_says_nothing_is_not_waited_for(started: Program) -> None:
    service = started("exec sleep 60")
    with pytest.raises(services.ServiceError, match="service of leaf0 does not say 'ready', but: nothing"):
        service.wait_for("ready", time.monotonic() + 0.05)
    _end(service)


def test_what_a_service_says_instead_is_quoted(started: Program) -> None:
    service = started("echo thinking; exec sleep 60")
    assert until(lambda: "thinking" in service.log.read_text())
    with pytest.raises(services.ServiceError, match="does not say 'ready', but: thinking"):
        service.wait_for("ready", time.monotonic() + 0.05)
    _end(service)


def test_a_service_that_has_ended_is_not_ready(started: Program) -> None:
    service = started("echo ready; echo goodbye; exit 3")
    service.process.wait(timeout=20)
    with pytest.raises(services.ServiceError, match=r"leaf0 ended with status 3: ready\s+goodbye"):
        service.wait_for("ready", services.deadline())


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[list[str], dict[str, Any]]]:
    """What is started instead of starting it."""
    found: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **more: found.append((command, more)))
    monkeypatch.setattr(machine, "FOLDER", tmp_path)
    return found


def test_switches_share_their_processes_with_the_head(
    commands: list[tuple[list[str], dict[str, Any]]], tmp_path: Path
) -> None:
    service = services.Service("served", LEAF, Path("/opt/served"), ("--fast",))
    assert services.start(service, 7).log == tmp_path / "served.leaf0"
    (command, more), *_ = commands
    assert command == ["nsenter", "-t", "7", "-m", "-u", "-n", "--", "/opt/served", "--fast"]
    assert more["preexec_fn"] is None


def test_cards_have_their_own_and_control_groups(
    commands: list[tuple[list[str], dict[str, Any]]], tmp_path: Path
) -> None:
    members = tmp_path / "members"
    members.touch()
    service = services.Service("served", CARD, Path("/tmp/built/served"), (), {"DEVICE": "net0"})
    services.start(service, 8, [members])
    (command, more), *_ = commands
    assert command[3:] == ["-m", "-u", "-n", "-i", "-p", "--", "/tmp/.host/built/served"]
    assert more["env"]["DEVICE"] == "net0"
    more["preexec_fn"]()
    assert members.read_text() == "0"


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nothing is missing, which leaves run; 'make build' puts it"):
        services.installed(tmp_path / "nothing", "leaves")


def test_the_key_is_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "KEY", tmp_path / "key")
    services.write_key()
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert len((tmp_path / "key").read_text()) == 64
    with pytest.raises(FileExistsError):
        services.write_key()
