"""Helpers of the Python tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Hocket = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hocket() -> Hocket:
    """Runs the command with these arguments and environment variables."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HOCKET")}
        return subprocess.run(
            [sys.executable, "-m", "hocket", *arguments],
            env={**environment, "COLUMNS": "150", **variables},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

    return run


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
