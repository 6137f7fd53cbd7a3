"""The table of targets: of each, how many cells reach it with the best recipe, and by the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hocket.bench import topology_cells, topology_experiments
from hocket.bench.topology_cells import Cell, Group
from hocket.bench.topology_experiments import ASKED_RUNS, LONG_RUNS, Target
from hocket.bench.topology_verdicts import State, Verdict, verdicts
from hocket.quantities import format_bytes

TEXT = f"""\
Of the cells for which there is a target, small and large ones apart. *Best recipe*: the fastest of those
that Hocket was forced to take; *by the rules*: what it takes by itself. A ratio over *the best* is over the
best of the MPI. A verdict needs {ASKED_RUNS} runs of each side that it is about, and of every algorithm
that the MPI was to be forced to; {LONG_RUNS} where one call takes more than a few seconds (16 MiB). With
fewer there is none. *Out of reach* is a miss that nothing could help: at the bound, too, the ratio would be
less. With traffic of others the bound of a gather or scatter is what the traffic was seen to leave of the
links ([below](#what-traffic-leaves-of-the-links))."""

HEADER = (
    *("experiment", "MPI", "situation", "collective", "target"),
    *("best recipe", "by the rules", "missed by most"),
)

_Judged = tuple[Cell, Verdict]


def _reached(judged: Sequence[_Judged]) -> str:
    """2 of 4, 1 missed, 1 out of reach"""
    if not judged:
        return "not measured"
    states = Counter(verdict.state for _, verdict in judged)
    words = [f"{states[State.REACHED]} of {len(judged)}"]
    words += [f"{states[state]} {state.value}" for state in list(State)[1:] if states[state]]
    text = ", ".join(words)
    return f"**{text}**" if states[State.MISSED] else text


def _missed_by_most(judged: Sequence[_Judged]) -> str:
    missed = [one for one in judged if one[1].state == State.MISSED]
    if not missed:
        return "-"
    cell, verdict = max(missed, key=lambda one: one[1].shortfall)
    who = " by the rules" if verdict.by_rules else ""
    return f"{format_bytes(cell.bytes)}{who}: {verdict}"


def _by_target(judged: Iterable[_Judged]) -> dict[Target, list[_Judged]]:
    found: dict[Target, list[_Judged]] = {}
    for cell, verdict in judged:
        found.setdefault(verdict.target, []).append((cell, verdict))
    return found


def with_planned(experiment: str, measured: Sequence[Cell]) -> list[Cell]:
    """And those that were to be measured and were not, under the MPIs with which something was."""
    known = {(cell.group, cell.bytes) for cell in measured}
    found = list(measured)
    for name in dict.fromkeys(cell.group.mpi for cell in measured):
        for situation, case in topology_experiments.parts(experiment):
            group = Group(name, situation, case.collective)
            found += [Cell(group, size, ()) for size in case.sizes if (group, size) not in known]
    return found


def rows(experiment: str, measured: Sequence[Cell]) -> list[list[str]]:
    """One per target of a table: what it is, what both reached, and the worst miss."""
    found = []
    for group, cells in topology_cells.by_group(with_planned(experiment, measured)).items():
        judged = [(cell, verdict) for cell in cells for verdict in verdicts(experiment, cell)]
        for target, some in _by_target(judged).items():
            best = [one for one in some if not one[1].by_rules]
            rules = [one for one in some if one[1].by_rules]
            found.append([
                *(experiment, group.mpi, group.situation.in_short(), group.collective, str(target)),
                *(_reached(best), _reached(rules), _missed_by_most(some)),
            ])  # fmt: skip
    return found
