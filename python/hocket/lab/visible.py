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

_lock = machine.FOLDER / "visible.lock"  # of a lab: jobs may begin at the same time

# What /tmp has on machines of a lab by itself: in a lab within a lab the outer one's have the same names.
_of_the_lab = {machine.FOLDER.name, machine.HOST_TMP.name}

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
    return sorted(top for top in tops if top and top not in _of_the_lab)


def _exists(word: str) -> bool:
    with contextlib.suppress(OSError):  # a script, for example, is too long for a name
        return Path(word).exists()
    return False


def make_report() -> None:
    """A file directly below /tmp is seen from nodes only where it exists."""
    report = Path(os.environ.get("HOCKET_REPORT", ""))
    if report.parent == machine.TMP and not report.exists():
        with contextlib.suppress(OSError):  # the ranks will say that they cannot write it
            report.touch()


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
    """What an earlier job saw under this name may have been replaced since, as a program that was built anew:
    then what it saw gives way. What jobs left there themselves stays.
    """
    source, target = (shlex.quote(str(folder / entry)) for folder in (machine.HOST_TMP, machine.TMP))
    is_hidden = f"{{ test -e {source} || test -L {source}; }} && ! test {source} -ef {target}"
    is_free = f"umount -l {target} 2> /dev/null || ! test -e {target}"
    make = f"{{ test -d {source} && mkdir -p {target} || : > {target}; }}"
    show = f"{make} && mount --bind {source} {target}"
    return f"if {is_hidden}; then if {is_free}; then {show}; fi; fi"


def script(lab: Lab, wanted: Iterable[str]) -> str:
    """For the head node's shell, which does it on all others."""
    commands = " && ".join(_on_one_machine(entry) for entry in wanted)
    lines = [f"exec 9> {_lock} && flock 9", commands]
    for each in (*lab.living(), *lab.living_cards()):
        # -p: umount asks /proc, which knows the processes of its machine
        lines.append(f"nsenter -t {lab.pids[each.name]} -m -p sh -c {shlex.quote(commands)} &")
        lines.append('started="$started $!"')
    return "\n".join([*lines, 'for each in $started; do wait "$each"; done']) + "\n"


def make(lab: Lab, wanted: list[str]) -> None:
    if wanted:
        lab.answer("sh", "-e", text=script(lab, wanted))
