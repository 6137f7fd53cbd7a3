"""Labs with cards that are really up: who reaches whom over which link, quotas, and that nothing stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hocket import _paths, mpis
from hocket.errors import CommandError
from hocket.lab import control_groups, control_places, slurm, state, statistics
from hocket.lab.lab import Lab
from lab_needs import why_no_lab
from lab_processes import all_gone, below, named, network_namespaces, networks_of, of_lab, with_variable
from waiting import until

Hocket = Callable[..., subprocess.CompletedProcess[str]]
Executable = Callable[[str, str], Path]


def _why_no_cards() -> str:
    if why := why_no_lab():
        return why
    try:
        control_places.find()
    except control_places.GroupError as problem:
        return str(problem)
    return ""


_reason = _why_no_cards()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(_reason), reason=_reason),
    pytest.mark.usefixtures("own_labs"),
]

_SERVICE = """\
echo "$* $UCX_NET_DEVICES" > /tmp/told
echo 'hocketd: listening on 192.168.255.2:18515'
exec sleep 1000
"""

_BUSY = """
import time
began = time.monotonic()
while time.monotonic() < began + 1.5:
    pass
print(time.process_time(), time.monotonic() - began)
"""

_SINK = """
import socket, sys, threading, time
with socket.create_server(("", 7000)) as server:
    print("ready", flush=True)
    connections = [server.accept()[0] for _ in range(int(sys.argv[1]))]
began = time.monotonic()
def drain(connection):
    while connection.recv(1 << 16):
        pass
threads = [threading.Thread(target=drain, args=(each,)) for each in connections]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(time.monotonic() - began)
"""

_SOURCE = """
import socket, sys
with socket.create_connection((sys.argv[1], 7000), timeout=30) as sink:
    sink.sendall(bytes(int(sys.argv[2])))
"""

_ALLTOALL = """
from mpi4py import MPI
from pathlib import Path
world = MPI.COMM_WORLD
mine, theirs = bytearray(200000 * world.size), bytearray(200000 * world.size)
world.Alltoall([mine, MPI.BYTE], [theirs, MPI.BYTE])
sent = [int(Path(f"/sys/class/net/{name}/statistics/tx_bytes").read_text()) for name in ("eth0", "card0")]
told = world.gather(sent)
if world.rank == 0:
    import json
    print("SENT " + json.dumps(told))
"""


@pytest.fixture
def prefix(executable: Executable) -> str:
    """Where a stand-in for hocketd is installed, and what a lab's jobs need."""
    service = executable("prefix/lib/hocket/hocketd", _SERVICE)
    (service.parent / "libhocket_lab.so").symlink_to(_paths.library("lab"))
    return str(service.parents[2])


@pytest.fixture
def up(own_labs: None, hocket: Hocket, prefix: str) -> Lab:
    made = hocket("lab", "up", "--dpu", HOCKET_PREFIX=prefix)
    assert made.returncode == 0, made.stderr
    assert "4 nodes with cards of 0.5 cores" in made.stdout
    return state.get("lab")


def _any_mpi() -> str:
    names = [mpi.name for mpi in mpis.discover() if mpi.name in ("openmpi", "mpich")]
    if not names:
        pytest.skip("neither Open MPI nor MPICH is installed")
    return names[-1]


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "hocket", "lab", *words]


def _started(*words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        _command(*words), stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
    )


def _groups_left(made: Lab) -> list[str]:
    assert made.groups
    return [folder for folder in made.groups.folders if Path(folder).exists()]


def _answers(hocket: Hocket, machine: str, address: str) -> bool:
    """Somebody is there to refuse."""
    connect = (
        f"import socket,sys; s=socket.socket(); s.settimeout(3); sys.exit(s.connect_ex(('{address}', 1)))"
    )
    return hocket("lab", "shell", machine, "--", sys.executable, "-c", connect).returncode == 111


def _sent(target: str, address: str, sources: list[str], count: int) -> float:
    """Seconds in which a machine received so many bytes from each of the others, all at a time."""
    with _started("shell", target, "--", sys.executable, "-c", _SINK, str(len(sources))) as sink:
        assert sink.stdout
        assert sink.stdout.readline() == "ready\n"
        source = (sys.executable, "-c", _SOURCE, address, str(count))
        senders = [_started("shell", name, "--", *source) for name in sources]
        assert [sender.wait(timeout=60) for sender in senders] == [0] * len(sources)
        return float(sink.stdout.readline())


@pytest.mark.usefixtures("up")
def test_cards_are_on_the_network_and_beside_their_nodes(hocket: Hocket) -> None:
    for machine, address in (
        ("n0-card", "10.77.0.1"),
        ("n0-card", "10.77.1.2"),
        ("n0-card", "10.77.253.4"),
        ("n0", "10.77.253.1"),
        ("n0", "10.77.253.3"),
        ("n0", "10.77.1.1"),
        ("n0", "192.168.255.2"),
        ("n0-card", "192.168.255.1"),
    ):
        assert _answers(hocket, machine, address), (machine, address)


def test_a_card_is_a_machine_of_its_own(hocket: Hocket, up: Lab) -> None:
    script = "hostname; echo $$; cat /tmp/told; ls /tmp /dev/shm; cat /proc/self/cgroup"
    told = hocket("lab", "shell", "n2-card", "--", "sh", "-c", script).stdout.split("\n")
    assert told[0] == "n2-card"
    assert int(told[1]) < 50  # processes are counted anew
    assert told[2] == "--listen 192.168.255.2:18515 --key /tmp/.hocket-lab/key net0"
    assert up.groups
    folder = Path(up.groups.folders[0]).name
    assert any(line.endswith(f"/{folder}/n2-card") for line in told)
    on_node = hocket("lab", "shell", "n2", "--", "sh", "-c", "ls /tmp; cat /proc/self/cgroup").stdout
    assert "told" not in on_node
    assert folder not in on_node


def test_node_and_card_share_one_shaped_link(hocket: Hocket, up: Lab) -> None:
    count = 4_000_000
    seconds = _sent("n2", "10.77.1.1", ["n0", "n0-card"], count)
    assert seconds > 2 * count * 8 / up.shape.rate * 0.9
    links = {link["lower"]: link for link in json.loads(hocket("lab", "stats", "--json").stdout)}
    for lower, way in (("n0", "up"), ("leaf0", "up"), ("leaf1", "down"), ("n2", "down")):
        assert links[lower][way]["bytes"] == pytest.approx(2 * count, rel=0.1), (lower, way)
    assert all(link[way]["dropped"] == 0 for link in links.values() for way in ("up", "down"))
    assert links["n0"]["card_seconds"] > 0
    assert "card_seconds" not in links["leaf0"]


def test_what_goes_to_the_own_card_is_on_no_link(up: Lab) -> None:
    count = 40_000_000
    assert _sent("n0-card", "192.168.255.2", ["n0"], count) < count * 8 / up.shape.rate * 0.8
    assert all(link.up.bytes + link.down.bytes < 100_000 for link in statistics.read(up))


def test_a_card_has_its_share_of_a_core(hocket: Hocket, up: Lab) -> None:
    before = up.card_seconds()
    assert list(before) == ["n0", "n1", "n2", "n3"]
    used, passed = map(
        float, hocket("lab", "shell", "n0-card", "--", sys.executable, "-c", _BUSY).stdout.split()
    )
    assert 0.05 < used / passed < 0.75
    after = up.card_seconds()
    assert after["n0"] - before["n0"] > 0.9 * used
    assert after["n1"] - before["n1"] < 0.5 * used
    files = f"cd {up.card_groups()}/n0-card && cat cpuacct.usage || cat cpu.stat"
    seen = hocket("lab", "shell", "n0", "--", "sh", "-c", files).stdout
    assert float(seen.removeprefix("usage_usec ").split()[0]) > 0.9 * used * 1e6
    assert "processor seconds" in hocket("lab", "stats").stdout


@pytest.mark.usefixtures("up")
def test_ranks_are_told_of_the_card(hocket: Hocket) -> None:
    script = "echo $HOCKET_WORKER_HOST $HOCKET_WORKER_KEY $(stat -c %a:%s $HOCKET_WORKER_KEY)"
    words = ("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "-n", "2", "--", "sh", "-c", script)
    expected = "192.168.255.2:18515 /tmp/.hocket-lab/key 600:64"
    assert hocket(*words).stdout.splitlines() == [expected] * 2
    own = hocket(*words, HOCKET_WORKER_HOST="elsewhere:1").stdout.splitlines()
    assert own == [expected.replace("192.168.255.2:18515", "elsewhere:1")] * 2


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_mpis_leave_the_link_to_the_card_alone(hocket: Hocket, tmp_path: Path, name: str) -> None:
    pytest.importorskip("mpi4py")
    if name not in [mpi.name for mpi in mpis.discover()]:
        pytest.skip(f"{name} is not installed")
    program = tmp_path / "program.py"
    program.write_text(_ALLTOALL)
    done = hocket("lab", "run", "--no-hocket", "--mpi", name, "--", sys.executable, str(program))
    assert done.returncode == 0, done.stderr
    sent = json.loads(done.stdout.split("SENT ")[1])
    assert all(network > 2 * 200_000 and card < 10_000 for network, card in sent), sent


def test_a_lab_without_cards_tells_of_none(hocket: Hocket) -> None:
    assert hocket("lab", "up").returncode == 0
    assert state.get("lab").card_seconds() == {}
    script = "echo none $HOCKET_WORKER_HOST $HOCKET_WORKER_KEY $UCX_NET_DEVICES"
    words = ("lab", "run", "--no-hocket", "--mpi", _any_mpi(), "-n", "1", "--", "sh", "-c", script)
    assert hocket(*words).stdout == "none\n"


def test_cards_of_a_lab_with_slurm(hocket: Hocket, prefix: str) -> None:
    try:
        slurm.check_installed()
    except CommandError as problem:
        pytest.skip(str(problem))
    made = hocket("lab", "up", "--slurm", "--dpu", HOCKET_PREFIX=prefix)
    assert made.returncode == 0, made.stderr
    script = "echo $(hostname) $HOCKET_WORKER_HOST"
    words = ("--slurm", "--no-hocket", "--mpi", _any_mpi(), "--", "sh", "-c", script)
    told = sorted(hocket("lab", "run", *words).stdout.splitlines())
    assert told == [f"n{i} 192.168.255.2:18515" for i in range(4)]


@pytest.mark.usefixtures("up")
def test_a_cut_link_is_the_nodes_and_the_cards(hocket: Hocket) -> None:
    assert hocket("lab", "cut", "n0").returncode == 0
    assert not _answers(hocket, "n0", "10.77.1.1")
    assert not _answers(hocket, "n0-card", "10.77.1.1")
    assert _answers(hocket, "n0", "192.168.255.2")
    assert hocket("lab", "mend", "n0").returncode == 0
    assert _answers(hocket, "n0", "10.77.1.1")
    assert _answers(hocket, "n0-card", "10.77.1.1")


def test_a_killed_node_takes_its_card_along(hocket: Hocket, up: Lab) -> None:
    assert until(lambda: named(of_lab(up.supervisor.pid), "sleep") == 4)
    assert hocket("lab", "kill", "n1").returncode == 0
    assert until(lambda: named(of_lab(up.supervisor.pid), "sleep") == 3)
    refused = hocket("lab", "shell", "n1-card", "true")
    assert refused.returncode == 1
    assert "n1-card of lab 'lab' is dead" in refused.stderr
    assert hocket("lab", "stats").returncode == 0
    assert hocket("lab", "shell", "n0-card", "true").returncode == 0


def test_nothing_is_left_when_a_lab_is_taken_down(hocket: Hocket, up: Lab) -> None:
    inside = of_lab(up.supervisor.pid)
    networks = networks_of(inside)
    assert len(networks) >= 12  # 4 nodes, 4 cards, 3 switches, the head
    assert len(_groups_left(up)) == len(up.groups.folders if up.groups else ())
    assert hocket("lab", "down").returncode == 0
    assert not _groups_left(up)
    assert until(lambda: all_gone(inside, networks))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_lab_whose_supervisor_is_killed(up: Lab, number: signal.Signals) -> None:
    inside = of_lab(up.supervisor.pid)
    networks = networks_of(inside)
    os.kill(up.supervisor.pid, number)
    assert until(lambda: all_gone(inside, networks))
    assert until(lambda: not _groups_left(up))


def _kill_keeper(made: Lab) -> None:
    assert made.groups
    os.kill(int(Path(made.groups.folders[0]).name.split("-")[2]), signal.SIGKILL)


def test_control_groups_are_removed_without_their_keeper(hocket: Hocket, up: Lab, prefix: str) -> None:
    _kill_keeper(up)
    assert up.is_up()
    assert hocket("lab", "down").returncode == 0
    assert not _groups_left(up)
    assert hocket("lab", "up", "--dpu", HOCKET_PREFIX=prefix).returncode == 0
    second = state.get("lab")
    _kill_keeper(second)
    os.kill(second.supervisor.pid, signal.SIGKILL)
    assert until(lambda: not second.is_up())
    assert _groups_left(second)
    assert hocket("lab", "up", "--dpu", HOCKET_PREFIX=prefix).returncode == 0
    assert not _groups_left(second)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_lab_of_one_command_ends_with_it(prefix: str, number: signal.Signals) -> None:
    before = network_namespaces()
    words = ("run", "--dpu", "--no-hocket", "--mpi", _any_mpi(), "--", "sleep", "60")
    with _started(*words, HOCKET_PREFIX=prefix) as job:
        assert until(lambda: named(below(job.pid), "sleep") >= 8, 30)  # ranks and services
        inside = below(job.pid)
        networks = networks_of(inside) - before
        keeper = next(each for each in inside if named([each], "lab groups"))
        job.send_signal(number)
        job.wait(timeout=30)
    assert networks
    assert until(lambda: all_gone(inside, networks))
    assert not _folders_of(keeper.pid)


def _folders_of(keeper: int) -> list[Path]:
    return [
        found for folder in control_places.find().folders for found in folder.glob(f"hocket-lab-{keeper}-*")
    ]


def _left_over() -> list[Path]:
    """Control groups of labs that have ended."""
    found = [each for folder in control_places.find().folders for each in folder.glob("hocket-lab-*")]
    return [each for each in found if control_groups._is_left_over(each)]


def _refused(command: list[str], **variables: str) -> str:
    """What is said by a command that makes no lab, and leaves nothing."""
    environment = {**os.environ, "COLUMNS": "500", **variables}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as refused:
        said = refused.communicate(timeout=60)[1]
    assert refused.returncode == 1
    assert not state.all_labs()
    assert until(lambda: not with_variable("XDG_RUNTIME_DIR", os.environ["XDG_RUNTIME_DIR"]))
    assert not _left_over()
    return said


def test_a_service_that_ends_is_quoted(executable: Executable) -> None:
    service = executable("prefix/lib/hocket/hocketd", "echo 'hocketd: the key is nonsense' >&2; exit 3")
    said = _refused(_command("up", "--dpu"), HOCKET_PREFIX=str(service.parents[2]))
    assert "service of n0-card ended with status 3: hocketd: the key is nonsense" in said


def test_without_a_control_group_there_are_no_cards(prefix: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can hide control groups")
    script = f"umount -R /sys/fs/cgroup && exec {' '.join(_command('up', '--dpu'))}"
    said = _refused(["unshare", "-m", "sh", "-c", script], HOCKET_PREFIX=prefix)
    assert "the lab did not come up: no control group (cgroup v2 or v1) may be made" in said


def test_the_real_service_listens(hocket: Hocket) -> None:
    worker = _paths.worker()
    if not worker.exists():
        pytest.skip("Hocket is not built")
    usage = subprocess.run([worker], capture_output=True, text=True, timeout=20, check=False).stderr
    if "--listen" not in usage:
        pytest.skip("the hocketd that is installed has no --listen")
    made = hocket("lab", "up", "--dpu", "--nodes", "1")
    assert made.returncode == 0, made.stderr
    connect = "import socket; socket.create_connection(('192.168.255.2', 18515), timeout=5); print('there')"
    told = hocket("lab", "shell", "n1", "--", sys.executable, "-c", connect)
    assert told.stdout == "there\n", told.stderr
