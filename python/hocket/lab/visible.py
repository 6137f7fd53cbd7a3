"""Makes what a job needs from the machine's own /tmp visible on the nodes, whose /tmp is their own."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from hocket import _paths
from hocket.lab import machine
from hocket.lab.lab import Lab

_file_variables = (
    "HOCKET_REPORT",
    "HOCKET_RULES",
    "HOCKET_TOPOLOGY",
    "HOCKET_COSTS",
    "HOCKET_WORKER_KEY",
    "HOCKET_SWITCH_KEY",
    "HOCKET_SHARP_LIBRARY",
)


def _top(path: Path) -> str | None:
    """The entry of /tmp that a path is below."""
    try:
        return path.relative_to(machine.TMP).parts[0]
    except (ValueError, IndexError):
        return None


def entries(paths: Iterable[str | Path]) -> list[str]:
    """Entries of /tmp that have to be visible for these paths, links followed as well."""
    absolute = [Path(path).absolute() for path in paths]
    tops = {_top(each) for path in absolute for each in (path, path.resolve())}
    return sorted(top for top in tops if top)


def _exists(word: str) -> bool:
    with contextlib.suppress(OSError):  # a script, for example, is too long for a name
        return Path(word).exists()
    return False


def of_job(words: Iterable[str], more: Iterable[str | Path] = ()) -> list[str]:
    """What every job needs, and the words of a command line that are files."""
    files = [found for word in words if (found := shutil.which(word) or (word if _exists(word) else None))]
    variables = [os.environ[name] for name in _file_variables if "/" in os.environ.get(name, "")]
    searched = os.environ.get("PYTHONPATH", "").split(os.pathsep) + os.environ.get(
        "LD_LIBRARY_PATH", ""
    ).split(":")
    always: list[str | Path] = [Path.cwd(), sys.prefix, sys.base_prefix, _paths.prefix(), Path(__file__)]
    return entries([*always, *files, *variables, *filter(None, searched), *more])


def _on_one_machine(entry: str) -> str:
    source, target = (shlex.quote(str(folder / entry)) for folder in (machine.HOST_TMP, machine.TMP))
    make = f"{{ test -d {source} && mkdir {target} || : > {target}; }}"
    return f"test -e {target} || {{ {make} && mount --bind {source} {target}; }}"


def script(lab: Lab, wanted: Iterable[str]) -> str:
    """For the head node's shell, which does it on all others."""
    commands = " && ".join(_on_one_machine(entry) for entry in wanted)
    lines = [commands]
    for each in (*lab.living(), *lab.living_cards()):
        lines.append(f"nsenter -t {lab.pids[each.name]} -m sh -c {shlex.quote(commands)} &")
        lines.append('started="$started $!"')
    return "\n".join([*lines, 'for each in $started; do wait "$each"; done']) + "\n"


def make(lab: Lab, wanted: list[str]) -> None:
    if wanted:
        lab.answer("sh", "-e", text=script(lab, wanted))
