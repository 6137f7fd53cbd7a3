"""hocket switches: which hosts run the switches that reduce, and which of them each host uses."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer

from hocket.topology import placement, switch_tree, tree
from hocket.topology.switch_tree import MOST_CHILDREN, Placed, Plan


def _command(switch: Placed, key: str) -> str:
    words = ["hocket-switch", "--listen", switch.place]
    words += ["--parent", switch.parent] if switch.parent else []
    return shlex.join([*words, *(["--key", key] if key else [])])


def _text(plan: Plan, key: str) -> list[str]:
    width = max(len(switch.host) for switch in plan.switches)
    lines = ["# on each of these hosts, the switches above first:"]
    lines += [f"{switch.host:{width}}  {_command(switch, key)}" for switch in plan.switches]
    hosts_of: dict[str, list[str]] = defaultdict(list)
    for host, place in plan.place_of.items():
        hosts_of[place].append(host)
    lines.append("# and for the ranks on these hosts:")
    lines += [f"{','.join(hosts)}  HOCKET_SWITCH={place}" for place, hosts in hosts_of.items()]
    return lines


def _json(plan: Plan, key: str) -> str:
    switches = [
        {
            "host": one.host,
            "listen": one.place,
            "parent": one.parent,
            "tree": one.tree,
            "command": _command(one, key),
        }
        for one in plan.switches
    ]
    return json.dumps({"switches": switches, "hosts": plan.place_of})


def switches(
    source: Annotated[
        str, typer.Argument(help="The machine, as `hocket topo` reads it: a file, or 'leaf:4 node:4'.")
    ],
    format: Annotated[str, typer.Option(help="As for `hocket topo`.")] = "",
    hosts: Annotated[
        Path | None, typer.Option(help="File with a host a line: only for these. Default: all nodes.")
    ] = None,
    radix: Annotated[
        int, typer.Option(min=2, max=MOST_CHILDREN, help="Hosts and switches below one switch, at most.")
    ] = MOST_CHILDREN,
    trees: Annotated[int, typer.Option(min=1, max=16, help="So many, which groups are dealt to.")] = 1,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The first on each host.")] = 18516,
    key: Annotated[str, typer.Option(help="The key file that they are started with.")] = "key",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Plan a tree of `hocket-switch` that follows the machine's switches (docs/in-network.md)."""
    machine = tree.read(source, format)
    wanted = placement.read(hosts) if hosts else []
    found = switch_tree.plan(machine, wanted, radix, trees, port)
    print(_json(found, key) if as_json else "\n".join(_text(found, key)))


def register(app: typer.Typer) -> None:
    app.command("switches")(switches)
