"""Where the command line looks for the installed pieces."""

from __future__ import annotations

from pathlib import Path

import pytest
from hocket import _paths


@pytest.fixture
def named_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    library = tmp_path / "lib" / "hocket" / "libhocket.so"
    library.parent.mkdir(parents=True)
    library.touch()
    monkeypatch.setenv("HOCKET_PREFIX", str(tmp_path))
    return tmp_path


def test_a_named_prefix_wins(named_prefix: Path) -> None:
    assert _paths.prefix() == named_prefix
    assert _paths.hocket_exec() == named_prefix / "bin" / "hocket-exec"
    assert _paths.library() == named_prefix / "lib" / "hocket" / "libhocket.so"
    assert _paths.library("mpich") == named_prefix / "lib" / "hocket" / "libhocket_mpich.so"


def test_an_embedded_mpi_is_found_below_the_prefix(named_prefix: Path) -> None:
    (named_prefix / "opt" / "mpich" / "bin").mkdir(parents=True)
    assert _paths.mpi_prefix("mpich") == named_prefix / "opt" / "mpich"


def test_an_mpi_that_is_not_there_is_none() -> None:
    assert _paths.mpi_prefix("no-such-mpi") is None


def test_a_new_mpi_goes_where_it_is_found_again(named_prefix: Path) -> None:
    assert _paths.new_mpi_folder() == named_prefix / "opt"


def test_who_may_not_write_the_installation_has_a_folder_of_his_own(
    named_prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(own))
    monkeypatch.setattr(_paths, "_can_be_written", lambda folder: folder.is_relative_to(own))
    folder = _paths.new_mpi_folder()
    assert folder == own / "hocket" / "opt"
    (folder / "no-such-mpi" / "bin").mkdir(parents=True)
    assert _paths.mpi_prefix("no-such-mpi") == folder / "no-such-mpi"


def test_the_installed_pieces_exist() -> None:
    assert _paths.library().exists()
    assert _paths.hocket_exec().exists()
