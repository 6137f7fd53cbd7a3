"""Helpers of the Python tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hocket.lab import state

for _name in [name for name in os.environ if name.startswith("HOCKET")]:
    del os.environ[_name]  # whoever runs the tests may have set some, and each changes what is tested

Hocket = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With --dist loadgroup: a file's tests are one process's, and those of all files that make labs: labs
    share the machine's cores, and the kernel gives the numbers of one's namespaces to the next."""
    for item in items:
        module = item.getparent(pytest.Module)
        makes_labs = module is not None and hasattr(module.obj, "why_no_lab")
        item.add_marker(pytest.mark.xdist_group("labs" if makes_labs else str(item.path)))


@pytest.fixture
def hocket() -> Hocket:
    """Runs the command with these arguments and environment variables, for so many seconds at most."""

    def run(*arguments: str, limit: float = 110, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hocket", *arguments],
            env={**os.environ, "COLUMNS": "150", **variables},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )

    return run


@pytest.fixture
def own_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Labs of the user are left alone; whatever a test leaves up ends with it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    yield
    for each in state.all_labs():
        each.end()
        state.remove(each.name)


@pytest.fixture
def executable(tmp_path: Path) -> Callable[[str, str], Path]:
    """Makes a small shell script below the test's folder."""

    def make(name: str, body: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return make
