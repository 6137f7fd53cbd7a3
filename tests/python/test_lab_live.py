"""Labs that are really up: MPI jobs, counted bytes, and that nothing stays behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import _paths, mpis
from hocket.errors import CommandError
from hocket.lab import lab, slurm, state, statistics
from hocket.lab.shape import Shape
from hocket.topology import tree
from lab_needs import why_no_lab
from lab_processes import all_gone, below, named, network_namespaces, networks_of, of_lab
from waiting import until

Hocket = Callable[..., subprocess.CompletedProcess[str]]

_source = Path(__file__).resolve().parents[2]
_somebody = 12345


_reason = why_no_lab()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(_reason), reason=_reason),
    pytest.mark.usefixtures("own_labs"),
]

_GROUPS = """
from mpi4py import MPI
import os
world = MPI.COMM_WORLD
node = world.Split_type(MPI.COMM_TYPE_SHARED)
memory = os.stat("/dev/shm").st_dev
mine = (os.uname().nodename, memory, node.allgather(world.rank), world.allreduce(world.rank))
all = world.gather(mine)
if world.rank == 0:
    import json
    print("GROUPS " + json.dumps(all))
"""

_TRANSFER = """
from mpi4py import MPI
import sys
world, data = MPI.COMM_WORLD, bytearray(int(sys.argv[1]))
if world.rank == 0:
    world.Send(data, world.size - 1)
if world.rank == world.size - 1:
    world.Recv(data, 0)
world.Barrier()
"""


def _mpi_names() -> list[str]:
    return [mpi.name for mpi in mpis.discover() if mpi.name in ("openmpi", "mpich")]


def _any_mpi() -> str:
    names = _mpi_names()
    if not names:
        pytest.skip("neither Open MPI nor MPICH is installed")
    return names[-1]


def _script(folder: Path, text: str) -> list[str]:
    pytest.importorskip("mpi4py")
    file = folder / "program.py"
    file.write_text(text)
    return [sys.executable, str(file)]


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("with_hocket", [True, False])
def test_a_job_on_four_nodes(hocket: Hocket, tmp_path: Path, name: str, with_hocket: bool) -> None:
    if name not in _mpi_names():
        pytest.skip(f"{name} is not installed")
    if with_hocket and not _paths.hocket_exec().exists():
        pytest.skip("Hocket is not built")
    hidden = [] if with_hocket else ["--no-hocket"]
    words = ("run", "--up", "-q", "-n", "8", "--ppn", "2", *hidden, "--mpi", name, "--")
    done = hocket("lab", *words, *_script(tmp_path, _GROUPS))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.split("GROUPS ")[1])
    assert [node for node, _, _, _ in found] == ["n0", "n0", "n1", "n1", "n2", "n2", "n3", "n3"]
    assert [group for _, _, group, _ in found] == [[i - i % 2, i - i % 2 + 1] for i in range(8)]
    assert len({device for _, device, _, _ in found}) == 4
    assert {total for _, _, _, total in found} == {28}


@pytest.mark.parametrize("name", ["intel", "debian"])
def test_other_mpis_start(hocket: Hocket, name: str) -> None:
    """Intel MPI, and Debian's Open MPI 4."""
    if name not in [mpi.name for mpi in mpis.discover()]:
        pytest.skip(f"{name} is not installed")
    small = ("apps/poisson_cg", "--points", "8")
    done = hocket("lab", "run", "--up", "-n", "4", "--mpi", name, "--", *small)
    if "is not built" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert "the job is on 4 nodes under 2 switches" in done.stdout


def test_the_status_of_the_program_is_kept(hocket: Hocket) -> None:
    words = ("run", "--leaves", "1", "--nodes", "1", "--no-hocket", "--mpi", _any_mpi())
    assert hocket("lab", *words, "--", "sh", "-c", "exit 7").returncode == 7


def test_bytes_on_links_are_those_sent(hocket: Hocket, tmp_path: Path) -> None:
    """From n0 to n3 over both leaves and the spine; what is sent beside it must not pass n1 and n2."""
    count = 4_000_000
    assert hocket("lab", "up").returncode == 0
    program = _script(tmp_path, _TRANSFER)
    done = hocket("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "--", *program, str(count))
    assert done.returncode == 0, done.stderr
    told = json.loads(hocket("lab", "stats", "--json").stdout)
    links = {link["lower"]: link for link in told}
    carried = [("n0", "up"), ("leaf0", "up"), ("leaf1", "down"), ("n3", "down")]
    for lower, way in carried:
        assert links[lower][way]["bytes"] == pytest.approx(count, rel=0.1), (lower, way)
    for lower in ("n1", "n2"):
        assert links[lower]["up"]["bytes"] + links[lower]["down"]["bytes"] < 0.1 * count
    assert all(link[way]["dropped"] == 0 for link in told for way in ("up", "down"))


def test_a_named_lab_from_up_to_down(hocket: Hocket) -> None:
    assert "lab 'one' is up: 2 nodes" in hocket("lab", "up", "--name", "one", "--nodes", "1").stdout
    again = hocket("lab", "up", "--name", "one")
    assert again.returncode == 1
    assert "lab 'one' is already up" in again.stderr
    assert hocket("lab", "topo", "--name", "one").stdout.startswith("spine\n├─ leaf0  100mbit\n")
    assert hocket("lab", "list").stdout == "one: 2 nodes, 2 leaves, 100mbit, uplinks 100mbit\n"
    assert hocket("lab", "down", "--name", "one").returncode == 0
    assert hocket("lab", "down", "--name", "one").returncode == 2
    assert not state.folder().exists()


def test_a_node_is_a_machine_of_its_own(hocket: Hocket, tmp_path: Path) -> None:
    hocket("lab", "up")
    script = "hostname; echo $$; touch /tmp/mine /dev/shm/mine; ls /sys/class/net | tr '\\n' ' '; pwd"
    told = hocket("lab", "shell", "n2", "--", "sh", "-c", script).stdout.split("\n")
    assert told[0] == "n2"
    assert int(told[1]) < 50  # processes are counted anew
    assert told[2].split()[:2] == ["eth0", "lo"]
    assert told[2].endswith(str(Path.cwd()))
    other = hocket("lab", "shell", "n3", "--", "ls", "/tmp", "/dev/shm").stdout
    assert "mine" not in other
    assert hocket("lab", "shell", "n1", "--", "sh", "-c", "exit 3").returncode == 3
    assert not Path("/tmp/mine").exists()


def test_nodes_reach_each_other_and_nothing_else(hocket: Hocket) -> None:
    hocket("lab", "up")
    routes = hocket("lab", "shell", "n0", "ip", "route").stdout
    assert re.fullmatch(r"10\.77\.0\.0/16 dev eth0 [^\n]*src 10\.77\.0\.1 *\n", routes)


def test_traffic_runs_until_it_is_ended(hocket: Hocket) -> None:
    hocket("lab", "up")
    done = hocket("lab", "traffic", "--nodes", "n0,n2", "--bytes", "32K", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    links = {link.lower: link for link in statistics.read(state.get("lab"))}
    assert min(links["n0"].up.bytes, links["n2"].up.bytes, links["leaf0"].up.bytes) > 10 * 32768
    assert links["n1"].up.bytes < 32768


def test_three_levels_with_latency(hocket: Hocket) -> None:
    up = hocket("lab", "up", "--leaves", "2", "--nodes", "1", "--levels", "3", "--latency", "200us")
    if "cannot delay links" in up.stderr:
        pytest.skip("this kernel cannot delay links")
    assert up.returncode == 0, up.stderr
    done = hocket("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "--", "hostname")
    assert sorted(done.stdout.split()) == ["n0", "n1"]


def test_latencies_of_a_lab_tell_its_switches(hocket: Hocket, tmp_path: Path) -> None:
    up = hocket("lab", "up", "--leaves", "2", "--nodes", "4", "--latency", "2ms")
    if "cannot delay links" in up.stderr:
        pytest.skip("this kernel cannot delay links")
    matrix = tmp_path / "latencies"
    measured = hocket("loggp", "--lab", "lab", "--against", _any_mpi(), "--latencies", str(matrix))
    assert measured.returncode == 0, measured.stderr
    groups = tree.read(str(matrix)).children  # inside of them there is noise
    names = [sorted(each.name for each in group.below() if each.kind == "node") for group in groups]
    assert sorted(names) == [["n0", "n1", "n2", "n3"], ["n4", "n5", "n6", "n7"]], matrix.read_text()


def _with_slurm() -> None:
    try:
        slurm.check_installed()
    except CommandError as problem:
        pytest.skip(str(problem))


_race = "mca_pml_ob1_recv_frag_callback_match"  # of Open MPI 5 in MPI_Init under srun: open-mpi/ompi#12495


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("with_hocket", [True, False])
def test_a_job_under_slurm(hocket: Hocket, tmp_path: Path, name: str, with_hocket: bool) -> None:
    """Which tells Hocket of the switches: nothing else does."""
    _with_slurm()
    if name not in _mpi_names():
        pytest.skip(f"{name} is not installed")
    hidden = [] if with_hocket else ["--no-hocket"]
    words = ("run", "--up", "--slurm", *hidden, "-n", "8", "--ppn", "2", "--mpi", name, "--")
    done = hocket("lab", *words, *_script(tmp_path, _GROUPS))
    if _race in done.stderr:
        pytest.skip("Open MPI crashed in MPI_Init, as it sometimes does under srun (open-mpi/ompi#12495)")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.split("GROUPS ")[1].split("\n")[0])
    assert [group for _, _, group, _ in found] == [[i - i % 2, i - i % 2 + 1] for i in range(8)]
    assert {total for _, _, _, total in found} == {28}
    assert ("the job is on 4 nodes under 2 switches" in done.stdout) == with_hocket


def test_slurm_tells_tasks_where_they_are(hocket: Hocket) -> None:
    _with_slurm()
    up = hocket("lab", "up", "--slurm")
    assert up.returncode == 0, up.stderr
    told = hocket("lab", "shell", "head", "--", "srun", "-N4", "sh", "-c", "echo $SLURM_TOPOLOGY_ADDR")
    expected = ["spine.leaf0.n0", "spine.leaf0.n1", "spine.leaf1.n2", "spine.leaf1.n3"]
    assert sorted(told.stdout.split()) == expected, told.stderr
    without = hocket("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "--", "hostname")
    assert sorted(without.stdout.split()) == ["n0", "n1", "n2", "n3"]


def test_a_lab_without_slurm_says_so(hocket: Hocket) -> None:
    hocket("lab", "up")
    refused = hocket("lab", "run", "--slurm", "--no-hocket", "--mpi", _any_mpi(), "--", "hostname")
    assert refused.returncode == 2
    assert "lab 'lab' was made without --slurm" in refused.stderr


def _job_under_way(more: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "hocket",
            "lab",
            "run",
            *more,
            "--no-hocket",
            "--mpi",
            _any_mpi(),
            "--",
            "sleep",
            "60",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_all_ends_with_the_supervisor(hocket: Hocket, number: signal.Signals) -> None:
    hocket("lab", "up")
    supervisor = state.get("lab").supervisor
    with _job_under_way([]) as job:
        assert until(lambda: named(of_lab(supervisor.pid), "sleep") >= 4, 30)
        inside = of_lab(supervisor.pid)
        networks = networks_of(inside)
        assert len(networks) >= 8  # 4 nodes, 3 switches, the head
        os.kill(supervisor.pid, number)
        assert job.wait(timeout=30) != 0
    assert until(lambda: all_gone(inside, networks))
    assert "no lab named" in hocket("lab", "stats").stderr
    assert not state.folder().exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_lab_of_one_command_ends_with_it(number: signal.Signals) -> None:
    before = network_namespaces()
    with _job_under_way(["--up"]) as job:
        assert until(lambda: named(below(job.pid), "sleep") >= 4, 30)
        inside = below(job.pid)
        networks = networks_of(inside) - before
        job.send_signal(number)
        job.wait(timeout=30)
    assert networks
    assert until(lambda: all_gone(inside, networks))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_ended_run_leaves_the_lab_and_no_job(hocket: Hocket, number: signal.Signals) -> None:
    hocket("lab", "up")
    supervisor = state.get("lab").supervisor
    with _job_under_way([]) as job:
        assert until(lambda: named(of_lab(supervisor.pid), "sleep") >= 4, 30)
        job.send_signal(number)
        job.wait(timeout=30)
    assert until(lambda: named(of_lab(supervisor.pid), "sleep") == 0)
    assert supervisor.is_alive()


def _interpreter(environment: dict[str, str]) -> str | None:
    """One that somebody else may run, too."""
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run(
            [*_as_somebody(), python, "-c", "import hocket.cli"],
            env=environment,
            capture_output=True,
            timeout=20,
            check=False,
        )
        if tried.returncode == 0:
            return python
    return None


def _as_somebody() -> list[str]:
    """Through env, because what setpriv itself starts may still be found with root's rights."""
    return ["setpriv", f"--reuid={_somebody}", f"--regid={_somebody}", "--clear-groups", "env"]


def test_an_ordinary_user_needs_no_root() -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become somebody else; without root all tests here are that user's")
    packages = Path(pytest.__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": folder,
            "HOME": folder,
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{_source / 'python'}:{packages}",
            "HOCKET_PREFIX": str(_paths.prefix()),
        }
        python = _interpreter(environment)
        if not python:
            pytest.skip("no Python here that other users may run")

        def by_somebody(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*_as_somebody(), python, "-m", "hocket", "lab", *words],
                env=environment,
                cwd="/",
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        up = by_somebody("up")
        if up.returncode == lab.EXIT_NO_NAMESPACES:
            pytest.skip(up.stderr)
        assert up.returncode == 0, up.stderr
        try:
            ran = by_somebody("run", "--no-hocket", "--mpi", _any_mpi(), "--", "uname", "-n")
            assert sorted(ran.stdout.split()) == ["n0", "n1", "n2", "n3"], ran.stderr
            assert "n3" in by_somebody("stats").stdout
        finally:
            assert by_somebody("down").returncode == 0


def test_what_is_refused_is_named() -> None:
    """In a user namespace that may have no network namespaces."""
    script = f'echo 0 > /proc/sys/user/max_net_namespaces && exec "{sys.executable}" -m hocket lab up'
    refused = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    if "max_net_namespaces" in refused.stderr or "unshare" in refused.stderr:
        pytest.skip(refused.stderr)
    assert refused.returncode == lab.EXIT_NO_NAMESPACES
    assert "does not allow the namespaces" in refused.stderr
    assert "new namespaces: network: No space left on device" in refused.stderr
    assert not state.all_labs()


def test_how_long_sixteen_nodes_take(capsys: pytest.CaptureFixture[str]) -> None:
    """Reported, not asserted: other work on the machine decides as well."""
    began = time.monotonic()
    started = lab.start("timed", Shape(leaves=4, nodes=4))
    made = time.monotonic() - began
    assert len(started.lab.pids) == 22
    began = time.monotonic()
    started.lab.end()
    with capsys.disabled():
        print(f"\n16 nodes under 4 leaves: up in {made:.2f} s, down in {time.monotonic() - began:.2f} s")


def test_a_link_is_cut_and_mended(hocket: Hocket) -> None:
    hocket("lab", "up")
    script = (
        "import socket,sys; s=socket.socket(); s.settimeout(1.5); sys.exit(s.connect_ex(('10.77.1.1', 1)))"
    )
    reach = ("lab", "shell", "n0", "--", sys.executable, "-c", script)
    refused = 111  # somebody is there to refuse
    assert hocket(*reach).returncode == refused
    for words in (["n2"], ["leaf1"], ["--switch", "leaf0"]):
        assert hocket("lab", "cut", *words).returncode == 0
        assert "cut" in hocket("lab", "topo").stdout
        assert hocket(*reach).returncode != refused, words
        assert hocket("lab", "mend", *words).returncode == 0
        assert "cut" not in hocket("lab", "topo").stdout
        assert hocket(*reach).returncode == refused, words
    assert hocket("lab", "stats").returncode == 0


def test_a_killed_node_is_gone_with_all_in_it(hocket: Hocket) -> None:
    hocket("lab", "up")
    made = state.get("lab")
    on_node = hocket("lab", "shell", "n1", "--", "sh", "-c", "(sleep 77 >/dev/null 2>&1 </dev/null &)")
    assert on_node.returncode == 0
    assert until(lambda: named(of_lab(made.supervisor.pid), "sleep") == 1)
    assert hocket("lab", "kill", "n1").returncode == 0
    assert until(lambda: named(of_lab(made.supervisor.pid), "sleep") == 0)
    assert "n1  10.77.0.2  100mbit  dead" in hocket("lab", "topo").stdout
    assert [link.lower for link in statistics.read(state.get("lab"))].count("n1") == 0
    for words in (("kill", "n1"), ("shell", "n1", "true"), ("mend", "n1"), ("traffic", "--nodes", "n0,n1")):
        refused = hocket("lab", *words)
        assert refused.returncode == 1
        assert "n1 of lab 'lab' is dead" in refused.stderr
    ran = hocket("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "--", "hostname")
    assert sorted(ran.stdout.split()) == ["n0", "n2", "n3"]
