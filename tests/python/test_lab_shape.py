"""The lab as a value: rates, the tree and its addresses, what ip, tc and the launchers are told."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hocket.errors import CommandError
from hocket.lab import batches, drawing, jobs, launchers, naps, shape, slurm, tree
from hocket.lab.lab import Lab
from hocket.lab.process import Process
from hocket.lab.quantities import format_latency, format_rate, parse_latency, parse_rate
from hocket.mpis import Mpi

SIXTEEN = shape.Shape(leaves=4, nodes=4)
THREE_LEVELS = shape.Shape(leaves=4, nodes=1, levels=3, pods=2, core=5 * 10**7, latency_us=200)


def _lab(wanted: shape.Shape) -> Lab:
    pids = {machine.name: 100 + i for i, machine in enumerate(tree.build(wanted).machines)}
    return Lab("test", Process(1, 1), False, wanted, pids)


@pytest.mark.parametrize(
    ("text", "bits"), [("100mbit", 10**8), ("2.5gbit", 2_500_000_000), ("500 kbit", 500_000)]
)
def test_rates_are_written_as_tc_writes_them(text: str, bits: int) -> None:
    assert parse_rate(text) == bits
    assert parse_rate(format_rate(bits)) == bits


@pytest.mark.parametrize("text", ["100", "100mb", "fast", "-1mbit", "1bit", "9999gbit", ""])
def test_wrong_rates_are_refused(text: str) -> None:
    with pytest.raises(CommandError, match="is not a rate"):
        parse_rate(text)


@pytest.mark.parametrize(("text", "microseconds"), [("200us", 200), ("1ms", 1000), ("1.5ms", 1500), ("0", 0)])
def test_delays(text: str, microseconds: int) -> None:
    assert parse_latency(text) == microseconds
    assert not microseconds or parse_latency(format_latency(microseconds)) == microseconds


@pytest.mark.parametrize("text", ["200", "1us", "2s", "soon"])
def test_wrong_delays_are_refused(text: str) -> None:
    with pytest.raises(CommandError, match="is not a delay"):
        parse_latency(text)


def test_words_become_a_shape() -> None:
    wanted = shape.from_words({"leaves": 4, "rate": "1gbit", "uplink": "2gbit", "core": None, "nodes": None})
    assert (wanted.leaves, wanted.nodes, wanted.rate, wanted.uplink) == (4, 2, 10**9, 2 * 10**9)
    assert wanted.core == wanted.uplink


def test_a_shape_survives_json() -> None:
    assert shape.from_json(THREE_LEVELS.as_json()) == THREE_LEVELS


@pytest.mark.parametrize(
    "words",
    [{"leaves": 0}, {"nodes": 0}, {"levels": 4}, {"leaves": 300}, {"leaves": 2, "levels": 3, "pods": 3}],
)
def test_impossible_shapes_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(CommandError):
        shape.Shape(**words)


def test_latency_needs_two_leaves() -> None:
    with pytest.raises(CommandError, match="one leaf"):
        shape.Shape(leaves=1, latency_us=200)


def test_names_and_addresses_follow_the_tree() -> None:
    plan = tree.build(SIXTEEN)
    assert [node.name for node in plan.nodes()] == [f"n{i}" for i in range(16)]
    assert plan.named("n5").address == "10.77.1.2"
    assert plan.named("n5").parent == "leaf1"
    assert plan.root().name == "spine"
    addresses = [machine.address for machine in plan.machines if machine.address]
    assert len(set(addresses)) == 17


def test_parents_come_before_their_children() -> None:
    seen: set[str] = {""}
    for machine in tree.build(THREE_LEVELS).machines:
        assert machine.parent in seen
        seen.add(machine.name)


def test_three_levels_spread_leaves_over_pods() -> None:
    plan = tree.build(shape.Shape(leaves=5, nodes=1, levels=3, pods=2))
    assert [plan.named(f"leaf{i}").parent for i in range(5)] == ["pod0", "pod0", "pod0", "pod1", "pod1"]


def test_a_single_leaf_needs_no_spine() -> None:
    plan = tree.build(shape.Shape(leaves=1, nodes=3))
    assert [switch.name for switch in plan.switches()] == ["leaf0"]
    assert plan.named(tree.HEAD).parent == "leaf0"


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("", ["n0", "n1", "n2", "n3"]), ("n3,n1", ["n3", "n1"]), ("n1-n3", ["n1", "n2", "n3"])],
)
def test_nodes_are_chosen_in_the_order_written(text: str, chosen: list[str]) -> None:
    assert tree.choose_nodes(tree.build(shape.Shape()), text) == chosen


@pytest.mark.parametrize("text", ["n4", "x", "n0,n0", "n2-n1", "leaf0", ",", "-n1"])
def test_wrong_nodes_are_refused(text: str) -> None:
    with pytest.raises(CommandError):
        tree.choose_nodes(tree.build(shape.Shape()), text)


def test_a_switch_makes_the_links_below_it() -> None:
    lab = _lab(shape.Shape())
    text = batches.switch_links(lab.tree, lab.tree.named("leaf1"), lab.pids, batches.packets(0))
    assert f"link add name n2 mtu 1500 type veth peer name eth0 mtu 1500 netns {lab.pids['n2']}" in text
    assert "link set dev n3 gso_max_size 15000 master br0 up" in text
    assert "n0" not in text


def test_both_ends_of_a_link_are_shaped() -> None:
    plan = tree.build(shape.Shape(rate=5 * 10**7))
    down = batches.switch_shaping(plan, plan.named("leaf0"), batches.packets(0))
    up = batches.own_shaping(plan.named("n0"), batches.packets(0))
    assert "qdisc replace dev n0 root tbf rate 50000000bit burst 16kb limit 32mb" in down
    assert up == "qdisc replace dev eth0 root tbf rate 50000000bit burst 16kb limit 32mb\n"


def test_delayed_links_have_large_packets() -> None:
    assert batches.packets(200).mtu == 9000


def test_hosts_name_every_node_and_the_head() -> None:
    text = batches.hosts(tree.build(shape.Shape()))
    assert "10.77.1.2 n3\n" in text
    assert "10.77.255.1 head\n" in text


def test_the_remote_shell_knows_hosts_by_name_and_address(tmp_path: Path) -> None:
    lab = _lab(shape.Shape())
    script = tmp_path / "rsh"
    script.write_text(batches.remote_shell(lab.pids, lab.tree))
    answers = [
        subprocess.run(["sh", script, *words], capture_output=True, text=True, timeout=20, check=False)
        for words in (["-x", "-l", "me", "head", "echo", "here;", "exit 5"], ["n9", "true"])
    ]
    assert (answers[0].stdout, answers[0].returncode) == ("here\n", 5)
    assert (answers[1].stderr, answers[1].returncode) == ("hocket lab: no node named n9\n", 255)
    assert f"n3|10.77.1.2) pid={lab.pids['n3']} ;;" in script.read_text()


def test_slurm_knows_the_switches() -> None:
    plan = tree.build(shape.Shape(leaves=3, nodes=2, levels=3))
    assert slurm.topology(plan).splitlines() == [
        "SwitchName=spine Switches=pod0,pod1",
        "SwitchName=pod0 Switches=leaf0,leaf1",
        "SwitchName=pod1 Switches=leaf2",
        "SwitchName=leaf0 Nodes=n0,n1",
        "SwitchName=leaf1 Nodes=n2,n3",
        "SwitchName=leaf2 Nodes=n4,n5",
    ]
    assert "SlurmctldHost=head(10.77.255.1)\n" in slurm.configuration(plan)
    assert "NodeName=n0,n1,n2,n3,n4,n5 " in slurm.configuration(plan)


def test_a_missing_slurm_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(slurm, "_needed", ("slurmctld-of-nowhere",))
    with pytest.raises(CommandError, match=r"slurmctld-of-nowhere not found.*slurm-wlm munge"):
        slurm.check_installed()


def test_slurm_needs_root() -> None:
    lab = dataclasses.replace(_lab(shape.Shape()), own_users=True)
    with pytest.raises(CommandError, match="need root"):
        slurm.start(lab)


def test_slurm_is_started_by_valid_shell() -> None:
    script = slurm.start_script(_lab(SIXTEEN))
    assert subprocess.run(["sh", "-n"], input=script, text=True, timeout=20, check=False).returncode == 0
    assert script.count("slurmd -N") == 16


def test_slurm_starts_ranks_where_the_mpi_knows_it() -> None:
    placement = launchers.Placement(("n0", "n2"), 2)
    by_srun = slurm.command(Mpi("openmpi", "ompi", Path("mpirun")), 4, placement)
    assert " ".join(by_srun) == "srun --mpi=pmix -n 4 -N 2 -w n0,n2 --ntasks-per-node=2"
    by_hydra = slurm.command(Mpi("mpich", "mpich", Path("/mpiexec")), 4, placement)
    assert by_hydra[0] == "salloc"
    assert "/mpiexec -bootstrap slurm" in " ".join(by_hydra)


def test_the_tree_is_drawn() -> None:
    drawn = drawing.lines(tree.build(THREE_LEVELS), THREE_LEVELS)
    assert drawn[:4] == [
        "spine",
        "├─ pod0  50mbit  200us down",
        "│  ├─ leaf0  100mbit  200us down",
        "│  │  └─ n0  10.77.0.1  100mbit",
    ]
    assert drawn[-1] == "└─ head  10.77.255.1  100mbit"


def test_the_tree_as_json() -> None:
    found = drawing.as_json(tree.build(SIXTEEN), SIXTEEN)
    leaves = [child for child in found["tree"]["below"] if child["kind"] == "switch"]
    assert [len(leaf["below"]) for leaf in leaves] == [4, 4, 4, 4]
    assert found["shape"]["rate"] == 10**8


@pytest.mark.parametrize(
    ("wanted", "ranks", "hosts", "per_node"),
    [
        (jobs.Wanted(), 4, "n0 n1 n2 n3", 1),
        (jobs.Wanted(ranks=8), 8, "n0 n1 n2 n3", 2),
        (jobs.Wanted(ranks=5, per_node=2), 5, "n0 n1 n2", 2),
        (jobs.Wanted(per_node=3), 12, "n0 n1 n2 n3", 3),
        (jobs.Wanted(ranks=2, on="n3,n1"), 2, "n3 n1", 1),
        (jobs.Wanted(placement="cyclic"), 4, "n0 n2 n1 n3", 1),
    ],
)
def test_ranks_are_placed(wanted: jobs.Wanted, ranks: int, hosts: str, per_node: int) -> None:
    assert jobs.place(_lab(shape.Shape()), wanted) == (
        ranks,
        launchers.Placement(tuple(hosts.split()), per_node),
    )


def test_a_scattered_placement_is_the_same_every_time() -> None:
    lab = _lab(SIXTEEN)
    first = jobs.place(lab, jobs.Wanted(placement="scattered"))[1].hosts
    assert first == jobs.place(lab, jobs.Wanted(placement="scattered"))[1].hosts
    assert sorted(first) == sorted(jobs.place(lab, jobs.Wanted())[1].hosts)


def test_too_many_ranks_are_refused() -> None:
    with pytest.raises(CommandError, match="9 ranks with 2 on a node need 5 nodes, and there are 4"):
        jobs.place(_lab(shape.Shape()), jobs.Wanted(ranks=9, per_node=2))


@pytest.mark.parametrize(("ranks", "us"), [(1, 50), (16, 50), (32, 150), (64, 350)])
def test_ranks_that_share_a_core_nap_longer(ranks: int, us: int) -> None:
    assert naps.nap_us(ranks, cores=2) == us


def test_an_unknown_placement_is_refused() -> None:
    with pytest.raises(
        CommandError, match="no placement named 'random'; there are: block, cyclic, scattered"
    ):
        jobs.place(_lab(shape.Shape()), jobs.Wanted(placement="random"))


def test_each_mpi_gets_hosts_in_its_own_words() -> None:
    placement = launchers.Placement(("n0", "n1"), 2)
    assert (
        launchers.host_file(Mpi("openmpi", "ompi", Path("mpirun")), placement) == "n0 slots=2\nn1 slots=2\n"
    )
    assert launchers.host_file(Mpi("mpich", "mpich", Path("mpiexec")), placement) == "n0:2\nn1:2\n"


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FI_PROVIDER", "sockets")
    variables = launchers.environment(Mpi("mpich", "mpich", Path("mpiexec")), "/rsh")
    assert variables["FI_PROVIDER"] == "sockets"
    assert variables["HOCKET_ACROSS_NODES"] == "on"


def test_every_mpi_is_told_the_remote_shell_and_not_to_spin() -> None:
    open_mpi = launchers.environment(Mpi("openmpi", "ompi", Path("mpirun")), "/rsh")
    assert open_mpi["OMPI_MCA_plm_rsh_agent"] == open_mpi["PRTE_MCA_plm_ssh_agent"] == "/rsh"
    assert open_mpi["OMPI_MCA_mpi_yield_when_idle"] == "1"
    intel = Mpi("intel", "mpich", Path("mpiexec.hydra"))
    assert launchers.environment(intel, "/rsh")["I_MPI_THREAD_YIELD"] == "3"
    assert launchers.command(intel, "/rsh", "/hosts", 4, 2)[1:4] == ["-bootstrap", "ssh", "-bootstrap-exec"]


def test_a_job_is_told_the_switches_above_its_nodes() -> None:
    two = tree.build(shape.Shape(leaves=2, nodes=1))
    assert two.as_rack_file() == "n0 /leaf0\nn1 /leaf1\n"
    three = tree.build(shape.Shape(leaves=2, nodes=1, levels=3, pods=2))
    assert three.as_rack_file() == "n0 /pod0/leaf0\nn1 /pod1/leaf1\n"
