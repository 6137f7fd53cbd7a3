"""Which labs are up: one file each in a folder of the user's, with the process that keeps the lab."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hocket.errors import CommandError
from hocket.lab import lab
from hocket.lab.lab import Lab

DEFAULT = "lab"


def folder() -> Path:
    """$XDG_RUNTIME_DIR/hocket-lab, or a folder for temporary files, whose owner is checked."""
    if (runtime := os.environ.get("XDG_RUNTIME_DIR")) and Path(runtime).is_dir():
        return Path(runtime) / "hocket-lab"
    return Path(tempfile.gettempdir()) / f"hocket-lab-{os.geteuid()}"


def _own_folder() -> Path:
    path = folder()
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise CommandError(f"'{path}' belongs to somebody else, and labs are kept there", 1)
    return path


def check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", name):
        raise CommandError(f"'{name}' is no name for a lab; take up to 40 letters, digits, '-', '_' and '.'")
    return name


def _file(name: str) -> Path:
    return folder() / f"{check_name(name)}.json"


def _read(path: Path) -> Lab | None:
    """None where there is no such lab any more; what is left of it goes."""
    try:
        found = lab.from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        found = None
    if found is None or not found.is_up():
        _forget(path)
        return None
    return found


def _forget(path: Path) -> None:
    """The file, and the folder where it was the last one."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two commands do not make, or end, labs at the same time."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def registering() -> Iterator[None]:
    with _locked(_own_folder()):
        yield


def add(wanted: Lab) -> None:
    _own_folder()  # it went with the last lab that was found dead
    path = _file(wanted.name)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(wanted.as_json()))
    new.rename(path)


def find(name: str) -> Lab | None:
    return _read(_file(name))


def get(name: str) -> Lab:
    found = find(name)
    if found:
        return found
    others = ", ".join(each.name for each in all_labs())
    raise CommandError(
        f"no lab named '{name}' is up"
        + (f" (there are: {others})" if others else "")
        + "; 'hocket lab up' makes one"
    )


def all_labs() -> list[Lab]:
    if not folder().is_dir():
        return []
    return [found for path in sorted(folder().glob("*.json")) if (found := _read(path))]


def remove(name: str) -> None:
    _forget(_file(name))
