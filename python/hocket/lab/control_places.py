"""Where control groups can be made that limit processors and count their use: version 2, else version 1."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class GroupError(Exception):
    """Why there are no control groups."""


@dataclass(frozen=True)
class Place:
    """The first folder limits, the last counts: with version 1 these may be two hierarchies."""

    version: int
    folders: tuple[Path, ...]


@dataclass(frozen=True)
class _Mount:
    kind: str  # cgroup, cgroup2
    root: str  # the group that is seen at the top
    top: Path
    options: frozenset[str]


def _mounts(text: str) -> Iterator[_Mount]:
    """Of /proc/self/mountinfo. What is mounted later covers what was there before."""
    for line in reversed(text.splitlines()):
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            where = left.split(" ")
            yield _Mount(kind, where[3], Path(where[4]), frozenset(options.split(",")))


def _own_group(text: str, controller: str) -> str:
    """Of /proc/self/cgroup; "" is version 2."""
    for line in text.splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            return group
    return "/"


def _outward(mount: _Mount, group: str) -> Iterator[Path]:
    """This process's own group and those around it, as far as they are seen."""
    inside = os.path.relpath(group, mount.root)
    folder = mount.top if inside.startswith("..") else mount.top / inside
    yield folder
    while folder != mount.top:
        folder = folder.parent
        yield folder


def _is_open(folder: Path) -> bool:
    """For new groups."""
    return os.access(folder, os.W_OK | os.X_OK) and (folder / "cgroup.procs").exists()


def _hands_on(folder: Path, controller: str) -> bool:
    """Version 2: groups in it have the controller."""
    try:
        return controller in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _second(mounts: list[_Mount], membership: str) -> Place | None:
    for mount in mounts:
        if mount.kind == "cgroup2":
            for folder in _outward(mount, _own_group(membership, "")):
                if _hands_on(folder, "cpu") and _is_open(folder):
                    return Place(2, (folder,))
    return None


def _first_open(mounts: list[_Mount], membership: str, controller: str) -> Path | None:
    for mount in mounts:
        if mount.kind == "cgroup" and controller in mount.options:
            for folder in _outward(mount, _own_group(membership, controller)):
                if _is_open(folder):
                    return folder
    return None


def _first(mounts: list[_Mount], membership: str) -> Place | None:
    limiting, counting = (_first_open(mounts, membership, name) for name in ("cpu", "cpuacct"))
    return Place(1, tuple(dict.fromkeys((limiting, counting)))) if limiting and counting else None


def _looked_at(mounts: list[_Mount]) -> str:
    tops = (str(mount.top) for mount in mounts if mount.kind == "cgroup2" or "cpu" in mount.options)
    return ", ".join(sorted(tops)) or "nothing: no hierarchy for processors is mounted"


def find_in(mountinfo: str, membership: str) -> Place:
    """By the texts of /proc/self/mountinfo and /proc/self/cgroup. Throws GroupError where there is none."""
    mounts = list(_mounts(mountinfo))
    found = _second(mounts, membership) or _first(mounts, membership)
    if found is None:
        raise GroupError(
            "no control group (cgroup v2 or v1) may be made that limits processors. Looked at "
            f"{_looked_at(mounts)}. It takes root, and for v2 'cpu' in cgroup.subtree_control; "
            "containers mostly have neither"
        )
    return found


def find() -> Place:
    return find_in(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
