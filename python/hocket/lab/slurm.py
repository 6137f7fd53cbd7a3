"""Slurm in a lab: slurmctld on the head, slurmd on every node, the switches as its tree topology."""

from __future__ import annotations

import shlex
import shutil

from hocket.errors import CommandError
from hocket.lab import kernel, machine
from hocket.lab.lab import Lab
from hocket.lab.launchers import Placement
from hocket.lab.tree import HEAD, HEAD_ADDRESS, Machine, Tree
from hocket.mpis import Mpi

FOLDER = machine.FOLDER / "slurm"
CONFIGURATION = FOLDER / "slurm.conf"

_needed = ("slurmctld", "slurmd", "srun", "munged", "mungekey")
_cores = 64  # of a node, as Slurm is told: ranks share the machine's anyway
_socket = FOLDER / "munge.sock"
_patience = 200  # tenths of a second for the nodes to come up

# Each node has a /tmp of its own, so all may use the same names there.
_settings = f"""\
ClusterName=lab
SlurmctldHost={HEAD}({HEAD_ADDRESS})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={_socket}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TopologyPlugin=topology/tree
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={FOLDER}/state
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdSpoolDir=/tmp/slurmd
SlurmdPidFile=/tmp/slurmd.pid
SlurmdLogFile=/tmp/slurmd.log
"""


def check_installed() -> None:
    path = kernel.search_path()
    if missing := [name for name in _needed if not shutil.which(name, path=path)]:
        raise CommandError(
            f"{', '.join(missing)} not found, which a lab with Slurm needs; "
            "to get it: apt-get install slurm-wlm munge"
        )


def configuration(tree: Tree) -> str:
    nodes = ",".join(node.name for node in tree.nodes())
    return (
        f"{_settings}NodeName={nodes} CPUs={_cores} State=UNKNOWN\n"
        "PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    )


def _switch_line(tree: Tree, switch: Machine) -> str:
    below = {
        kind: ",".join(m.name for m in tree.below(switch.name) if m.kind == kind)
        for kind in ("node", "switch")
    }
    what = f"Nodes={below['node']}" if below["node"] else f"Switches={below['switch']}"
    return f"SwitchName={switch.name} {what}\n"


def topology(tree: Tree) -> str:
    """topology.conf."""
    return "".join(_switch_line(tree, switch) for switch in tree.switches())


def _file(name: str, text: str) -> str:
    return f"printf %s {shlex.quote(text)} > {FOLDER}/{name}\n"


def _start_node(lab: Lab, node: Machine) -> str:
    # slurmd asks for a cgroup hierarchy although nothing here uses it
    command = "mount -t tmpfs tmpfs /sys/fs/cgroup && mkdir -p /tmp/slurmd && slurmd"
    return f"{lab.remote_shell} {node.name} {shlex.quote(f'{command} -N {node.name}')}\n"


def start_script(lab: Lab) -> str:
    """For the head's shell. Daemons leave it and belong to the lab."""
    munge = " ".join(f"--{name}-file={FOLDER}/munge.{name}" for name in ("log", "pid", "seed"))
    parts = [
        "exec </dev/null\n",
        f"mkdir -p {FOLDER}/state\n",
        _file("slurm.conf", configuration(lab.tree)),
        _file("topology.conf", topology(lab.tree)),
        _file("cgroup.conf", "CgroupPlugin=cgroup/v1\n"),
        f"export SLURM_CONF={CONFIGURATION}\n",
        f"mungekey -c -k {FOLDER}/key\n",
        f"munged --force --key-file={FOLDER}/key --socket={_socket} {munge} 2>{FOLDER}/munged.err\n",
        "slurmctld -c\n",
        *(_start_node(lab, node) for node in lab.tree.nodes()),
        _wait_for(len(lab.tree.nodes())),
    ]
    return "".join(parts)


def _wait_for(nodes: int) -> str:
    return (
        f"tries=0; until [ \"$(sinfo -h -N -o %t 2>/dev/null | grep -c '^idle$')\" = {nodes} ]; do\n"
        f"  tries=$((tries + 1)); [ $tries -lt {_patience} ] || {{ sinfo -N >&2; exit 1; }}\n"
        "  sleep 0.1\n"
        "done\n"
    )


def start(lab: Lab) -> None:
    if lab.own_users:
        raise CommandError("Slurm's daemons need root: as an ordinary user's they may not drop groups", 1)
    lab.answer("sh", "-e", "-c", start_script(lab))


def command(mpi: Mpi, ranks: int, placement: Placement) -> list[str]:
    """srun starts ranks where the MPI knows PMIx; hydra has srun start its proxies, in an allocation."""
    size = ["-n", str(ranks), "-N", str(len(placement.hosts)), "-w", ",".join(placement.hosts)]
    size += [f"--ntasks-per-node={placement.per_node}"]
    if mpi.family == "ompi":
        return ["srun", "--mpi=pmix", *size]
    hydra = [str(mpi.launcher), "-bootstrap", "slurm", "-iface", "eth0", "-n", str(ranks)]
    # Hydra's own srun starts one proxy on a node, and would be told another number
    return ["salloc", "-Q", *size, "env", "-u", "SLURM_NTASKS_PER_NODE", *hydra]


def environment() -> dict[str, str]:
    return {"SLURM_CONF": str(CONFIGURATION)}
