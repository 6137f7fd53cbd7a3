"""What goes wrong in a cluster: cables that are pulled, nodes that lose their power.

A link is cut at its upper end: the machine below sees no carrier, the one above a port that is down. What is
under way is lost, and connections go silent, as with a cable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from hocket.errors import CommandError
from hocket.lab import machine, tree
from hocket.lab.lab import Lab


def links_of(lab: Lab, name: str, whole_switch: bool) -> list[str]:
    """By the machine at their lower end; a switch, if it is meant as a whole, has several."""
    found = lab.tree.named(name)
    if whole_switch and found.kind != "switch":
        raise CommandError(f"'{name}' is no switch")
    if found.kind == "card":
        raise CommandError(f"'{name}' has its node's link; links are named by nodes and switches")
    if not found.parent and not whole_switch:
        raise CommandError(f"'{name}' has no link above it; --switch means all links of a switch")
    own = [name] if found.parent else []
    return own + ([each.name for each in lab.tree.below(name)] if whole_switch else [])


def _upper_end(lab: Lab, link: str, state: str) -> str:
    above = lab.pids[lab.tree.named(link).parent]
    return f"nsenter -t {above} -n ip link set dev {link} {state}\n"


def _set(lab: Lab, links: Iterable[str], state: str) -> None:
    lab.answer("sh", "-e", text="".join(_upper_end(lab, link, state) for link in links))


def _ask_again(lab: Lab) -> None:
    """Who was asked for its address in vain may be found at once, not only when the kernel gives up."""
    flush = "ip neigh flush all"
    switches = lab.tree.aggregating()
    machines = (*lab.living(), *lab.living_cards(), *switches)
    others = (f"nsenter -t {lab.pids[each.name]} -n {flush}" for each in machines)
    lab.answer("sh", "-e", text="\n".join([flush, *others]) + "\n")


def _chosen(lab: Lab, names: Sequence[str], whole_switch: bool) -> list[str]:
    return list(dict.fromkeys(link for name in names for link in links_of(lab, name, whole_switch)))


def cut(lab: Lab, names: Sequence[str], whole_switch: bool = False) -> Lab:
    """The lab as it is then. What is cut, or dead, stays so."""
    links = [link for link in _chosen(lab, names, whole_switch) if link not in lab.dead]
    _set(lab, links, "down")
    return dataclasses.replace(lab, cut=tuple(dict.fromkeys([*lab.cut, *links])))


def mend(lab: Lab, names: Sequence[str], whole_switch: bool = False) -> Lab:
    links = _chosen(lab, names, whole_switch)
    if not whole_switch:
        lab.check_alive(links)
    _set(lab, [link for link in links if link not in lab.dead], "up")
    _ask_again(lab)
    return dataclasses.replace(lab, cut=tuple(link for link in lab.cut if link not in links))


def _with_cards(lab: Lab, nodes: Iterable[str]) -> list[str]:
    """A card has its power from its node."""
    cards = {node: lab.tree.card_of(node) for node in nodes}
    return [name for node, card in cards.items() for name in (node, *([card.name] if card else []))]


def _without_power(lab: Lab, node: str) -> str:
    """First the link: the kernel closes a dying process's connections, and peers would hear of it."""
    pids = [lab.pids[name] for name in _with_cards(lab, [node])]
    marks = "".join(f": > {machine.FOLDER}/dead.{pid}\n" for pid in pids)
    kills = f"kill -KILL {' '.join(map(str, pids))}\n"
    waits = "".join(f"while kill -0 {pid} 2>/dev/null; do sleep 0.01; done\n" for pid in pids)
    return f"{_upper_end(lab, node, 'down')}{marks}{kills}{waits}"


def kill(lab: Lab, text: str) -> Lab:
    """Nodes, n1,n3 or n0-n3, die with all that runs on them; nobody is told."""
    if text in (switch.name for switch in lab.tree.switches()):
        raise CommandError(f"'{text}' is a switch; 'hocket lab cut --switch {text}' takes it away")
    nodes = choose_nodes(lab, text)
    lab.answer("sh", "-e", text="".join(_without_power(lab, node) for node in nodes))
    cut_still = tuple(link for link in lab.cut if link not in nodes)
    return dataclasses.replace(lab, dead=(*lab.dead, *_with_cards(lab, nodes)), cut=cut_still)


def choose_nodes(lab: Lab, text: str) -> list[str]:
    """As tree.choose_nodes(), but only those that live."""
    chosen = tree.choose_nodes(lab.tree, text)
    if text:
        lab.check_alive(chosen)
    living = [name for name in chosen if name not in lab.dead]
    if not living:
        raise CommandError(f"all nodes of lab '{lab.name}' are dead", 1)
    return living
