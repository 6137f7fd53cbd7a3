"""How each MPI's launcher is told about the lab (hosts, remote shell, network), and that ranks must not spin.

Settings are environment variables wherever an MPI has them, because these are the same in all its versions.
"""

from __future__ import annotations

from dataclasses import dataclass

from hocket import launch
from hocket.lab import tree
from hocket.mpis import Mpi

_no_hardware = "^openib,ofi,uct,usnic"  # btl: what is left is TCP, shared memory and self


@dataclass(frozen=True)
class Placement:
    """Hosts in the order in which they are filled, each with as many ranks."""

    hosts: tuple[str, ...]
    per_node: int

    def open_mpi_lines(self) -> str:
        return "".join(f"{host} slots={self.per_node}\n" for host in self.hosts)

    def hydra_lines(self) -> str:
        return "".join(f"{host}:{self.per_node}\n" for host in self.hosts)


def _is_open_mpi(mpi: Mpi) -> bool:
    return mpi.family == "ompi"


def _is_intel(mpi: Mpi) -> bool:
    return mpi.name == "intel" or "I_MPI_ROOT" in mpi.environment


def host_file(mpi: Mpi, placement: Placement) -> str:
    return placement.open_mpi_lines() if _is_open_mpi(mpi) else placement.hydra_lines()


def _open_mpi_arguments(hosts: str) -> list[str]:
    return ["--allow-run-as-root", "--bind-to", "none", "--map-by", "slot:OVERSUBSCRIBE", "--hostfile", hosts]


def _hydra_arguments(mpi: Mpi, agent: str, hosts: str, per_node: int) -> list[str]:
    launcher = (
        ["-bootstrap", "ssh", "-bootstrap-exec"] if _is_intel(mpi) else ["-launcher", "ssh", "-launcher-exec"]
    )
    return [
        *launcher,
        agent,
        "-iface",
        "eth0",
        "-f",
        hosts,
        *(["-ppn", str(per_node)] if _is_intel(mpi) else []),
    ]


def command(mpi: Mpi, agent: str, hosts: str, ranks: int, per_node: int) -> list[str]:
    """The launcher with all but the program. `agent`: the remote shell; `hosts`: the host file."""
    if _is_open_mpi(mpi):
        arguments = _open_mpi_arguments(hosts)
    else:
        arguments = _hydra_arguments(mpi, agent, hosts, per_node)
    return [str(mpi.launcher), *arguments, "-n", str(ranks)]


def _open_mpi_variables(agent: str) -> dict[str, str]:
    return {
        "OMPI_MCA_plm_rsh_agent": agent,  # version 4
        "PRTE_MCA_plm_ssh_agent": agent,  # version 5
        "OMPI_MCA_oob_tcp_if_include": tree.NETWORK,
        "PRTE_MCA_prte_if_include": tree.NETWORK,
        "OMPI_MCA_btl_tcp_if_include": tree.NETWORK,
        "OMPI_MCA_btl": _no_hardware,
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }


_hydra_variables = {"FI_PROVIDER": "tcp"}
_intel_variables = {"I_MPI_FABRICS": "shm:ofi", "I_MPI_THREAD_YIELD": "3", "I_MPI_THREAD_SLEEP": "50"}


def _variables(mpi: Mpi, agent: str) -> dict[str, str]:
    if _is_open_mpi(mpi):
        return _open_mpi_variables(agent)
    return {**_hydra_variables, **(_intel_variables if _is_intel(mpi) else {})}


def environment(mpi: Mpi, agent: str, **more: str) -> dict[str, str]:
    """Of the launcher, and by the remote shell of all that it starts. What the user has set stays."""
    child = launch.environment(mpi, **more)
    presets = {**_variables(mpi, agent), "HOCKET_ACROSS_NODES": "on", "HOCKET_WAIT": "yield"}
    return {**presets, **child, "TMPDIR": "/tmp"}
