"""What belongs to a lab, as the machine sees it: processes and network namespaces."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hocket.lab.process import Process, running


def _folders() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*"))


def _parents() -> dict[int, int]:
    found = {}
    for folder in _folders():
        with contextlib.suppress(OSError):
            stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            found[int(folder.name)] = int(stat[1])
    return found


def _in_namespace(inode: int) -> set[int]:
    found = set()
    for folder in _folders():
        with contextlib.suppress(OSError):
            if (folder / "ns" / "pid").stat().st_ino == inode:
                found.add(int(folder.name))
    return found


def _with_descendants(ancestors: set[int]) -> set[int]:
    inside, parents = set(ancestors), _parents()
    while more := {pid for pid, parent in parents.items() if parent in inside} - inside:
        inside |= more
    return inside


def _running(pids: set[int]) -> list[Process]:
    return [process for pid in pids if (process := running(pid))]


def of_lab(supervisor: int) -> list[Process]:
    """All processes in the lab's PID namespace and those below."""
    inode = Path(f"/proc/{supervisor}/ns/pid_for_children").stat().st_ino
    return _running(_with_descendants(_in_namespace(inode) | {supervisor}))


def below(ancestor: int) -> list[Process]:
    return _running(_with_descendants({ancestor}) - {ancestor})


def with_variable(name: str, value: str) -> list[Process]:
    """Those that were started with this in their environment."""
    found, wanted = set(), f"{name}={value}".encode()
    for folder in _folders():
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return _running(found)


def network_namespaces() -> set[int]:
    found = set()
    for folder in _folders():
        with contextlib.suppress(OSError):
            found.add((folder / "ns" / "net").stat().st_ino)
    return found


def networks_of(processes: list[Process]) -> set[int]:
    found = set()
    for process in processes:
        with contextlib.suppress(OSError):
            found.add(Path(f"/proc/{process.pid}/ns/net").stat().st_ino)
    return found


def all_gone(processes: list[Process], networks: set[int]) -> bool:
    return not any(each.is_alive() for each in processes) and not networks & network_namespaces()


def named(processes: list[Process], name: str) -> int:
    """How many of them are called so."""
    count = 0
    for process in processes:
        with contextlib.suppress(OSError):
            count += Path(f"/proc/{process.pid}/comm").read_text() == f"{name}\n"
    return count
