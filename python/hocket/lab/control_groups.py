"""Control groups for the cards of a lab: each may use so much of the processors, and what it uses is counted.

Unlike all else of a lab, a group does not end with its processes: it is a folder that somebody has to remove.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hocket.lab import kernel, machine
from hocket.lab.control_places import GroupError, Place, find
from hocket.lab.process import Process, running

_name = "hocket-lab-"  # and the process that removes it: its number, and when it started
_period_us = 10_000  # whoever has used a period's share up stands still until it is over
_least_us = 1_000  # of a share; the kernel refuses less
_procs = "cgroup.procs"
_seen = machine.FOLDER / "groups"


@dataclass(frozen=True)
class Groups:
    """Those of one lab: in each folder one for each card. The first folder limits, the last counts."""

    version: int
    folders: tuple[str, ...]  # two where limiting and counting are apart, which they may be with version 1

    def members(self, card: str) -> list[Path]:
        """Files; who writes 0 into them belongs to the card, with all that it starts from then on."""
        return [Path(folder, card, _procs) for folder in self.folders]

    def seconds(self, card: str) -> float:
        """Processor time of all that belongs to the card, or did."""
        folder = Path(self.folders[-1], card)
        if self.version == 1:
            return int((folder / "cpuacct.usage").read_text()) / 1e9
        words = (folder / "cpu.stat").read_text().split()
        return int(words[words.index("usage_usec") + 1]) / 1e6

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(fields: dict[str, Any]) -> Groups:
    return Groups(fields["version"], tuple(fields["folders"]))


def share_us(cores: float) -> tuple[int, int]:
    """Of each period (the second number), in microseconds of a core."""
    period = max(_period_us, round(_least_us / cores))
    return round(cores * period), period


def _limit(folder: Path, version: int, cores: float) -> None:
    share, period = share_us(cores)
    if version == 1:
        (folder / "cpu.cfs_period_us").write_text(str(period))
        (folder / "cpu.cfs_quota_us").write_text(str(share))
    else:
        (folder / "cpu.max").write_text(f"{share} {period}")


def _make(groups: Groups, cards: Iterable[str], cores: float) -> None:
    for folder in map(Path, groups.folders):
        folder.mkdir()
        if groups.version == 2:
            (folder / "cgroup.subtree_control").write_text("+cpu")
        for card in cards:
            (folder / card).mkdir()
    for card in cards:
        _limit(Path(groups.folders[0], card), groups.version, cores)


def _new(place: Place) -> Groups:
    keeper = running(os.getpid())
    assert keeper
    name = f"{_name}{keeper.pid}-{keeper.start}"
    return Groups(place.version, tuple(str(folder / name) for folder in place.folders))


def create(cards: list[str], cores: float) -> Groups:
    """To be removed by the process that calls this. Throws GroupError."""
    place = find()
    _sweep(place)
    groups = _new(place)
    try:
        _make(groups, cards, cores)
    except OSError as problem:
        remove(groups, 0.0)
        raise GroupError(f"no control groups of {cores:g} cores: {problem}") from problem
    return groups


def _is_gone(folder: Path, deadline: float) -> bool:
    """Processes that have just ended keep it for a moment."""
    while True:
        try:
            folder.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
        time.sleep(0.005)


def _all_in(folder: Path) -> list[Path]:
    """It comes last."""
    inside: list[Path] = []
    with contextlib.suppress(FileNotFoundError):  # somebody else removes it as well
        inside = [each for each in folder.iterdir() if each.is_dir()]
    return [*inside, folder]


def remove(groups: Groups, seconds: float) -> bool:
    """True once they are gone. Groups with processes in them stay."""
    deadline = time.monotonic() + seconds
    folders = [each for folder in groups.folders for each in _all_in(Path(folder))]
    gone = [_is_gone(folder, deadline) for folder in folders]
    return all(gone)


def _is_left_over(folder: Path) -> bool:
    numbers = folder.name.removeprefix(_name).split("-")
    try:
        return not Process(*map(int, numbers)).is_alive()
    except (ValueError, TypeError):  # somebody else's
        return False


def _sweep(place: Place) -> None:
    """Groups of labs whose end nobody was left to see. Where that is wrong they have processes, and stay."""
    found = [each for folder in place.folders for each in folder.glob(f"{_name}*") if _is_left_over(each)]
    for folder in found:
        remove(Groups(place.version, (str(folder),)), 0.0)


def seen(groups: Groups) -> Groups:
    """The same groups under the names that they have in a lab, whose /sys shows none."""
    return replace(groups, folders=tuple(str(_seen / str(i)) for i, _ in enumerate(groups.folders)))


def bind(groups: Groups) -> Groups:
    """Lets the lab see them."""
    inside = seen(groups)
    for source, target in zip(groups.folders, map(Path, inside.folders), strict=True):
        target.mkdir(parents=True)
        kernel.bind(source, target)
    return inside
