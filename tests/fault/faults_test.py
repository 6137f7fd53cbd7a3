"""What happens to a job in which something is wrong: a rank dies, stops, or calls something else; memory is
short; ranks come up without Hocket or with other options. Always the right result or a clear error, within
seconds, and nothing left behind.

usage: faults_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH GROUP
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import EXIT_SKIPPED, Ended, Mpi, arguments, is_root, mpi_of

RANKS = 3
failures: list[str] = []


def expect(condition: bool, what: str, ended: Ended) -> None:
    if not condition:
        failures.append(what)
        print(f"FAILED: {what} (status {ended.status}, {ended.seconds:.1f} s)\n{ended.output}")


def objects_in_shared_memory() -> set[str]:
    return {entry.name for entry in Path("/dev/shm").iterdir() if "hocket" in entry.name}


class Faults:
    def __init__(self, mpi: Mpi, program: Path) -> None:
        self.mpi = mpi
        self.program = str(program)

    def run(self, case: str, *more: str, **how: object) -> Ended:
        before = objects_in_shared_memory()
        ended = self.mpi.launch([self.program, case, *more], RANKS, seconds=40, **how)  # type: ignore[arg-type]
        expect(not ended.hung, f"{case}: ends", ended)
        expect(not ended.left_behind, f"{case}: leaves no process", ended)
        expect(objects_in_shared_memory() <= before, f"{case}: leaves nothing in /dev/shm", ended)
        return ended

    def works(self, case: str = "mixed", **how: object) -> Ended:
        ended = self.run(case, **how)
        expect(ended.status == 0, f"{case} {how}: exit status 0", ended)
        expect(ended.output.count(": success") == RANKS, f"{case} {how}: right results on all ranks", ended)
        return ended


def until_all_have_ended(folder: str) -> str:
    """A launcher ends the others as soon as it hears of one: every rank's end is kept from it until all have
    ended, or for half a minute."""
    count = f'[ "$(ls "{folder}" | wc -l)" -lt {RANKS} ]'
    wait = f"for i in $(seq 300); do {count} || break; sleep 0.1; done"
    return f'"$@"; status=$?; : >"{folder}/$rank"; {wait}; exit $status'


def killed(faults: Faults) -> None:
    killed_in(faults, "kill_small", "kill_large")


def killed_under_way(faults: Faults) -> None:
    """While the others wait or test for a non-blocking collective."""
    killed_in(faults, "kill_in_wait", "kill_in_waitall", "kill_in_test", "kill_in_long_test")


def killed_with_workers(faults: Faults) -> None:
    """The same, by the node's worker: it says so to those that wait, and ends with them."""
    workers = {"HOCKET_WORKERS": "1", "HOCKET_WORKER_CPUS": "0-1"}
    to_workers = {**workers, "HOCKET_FORCE": "allreduce:recursive_doubling"}
    words = r"MPI_Iallreduce, by the node's worker: rank 1 of the job \(pid \d+\) has ended"
    cases = ("kill_in_wait", "kill_in_waitall", "kill_in_test", "kill_in_long_test")
    killed_in(faults, *cases, words=words, environment=to_workers)


def killed_in(
    faults: Faults,
    *cases: str,
    words: str = r"rank 1 \(rank 1 of the job, process \d+ on \S+\) has ended during a collective",
    environment: Mapping[str, str] | None = None,
) -> None:
    """Launchers end the others at once; with a shell in between they notice later, and the others name it."""
    for case in cases:
        for more in ((), ("returned",)):
            with tempfile.TemporaryDirectory() as folder:
                wrapper = until_all_have_ended(folder)
                ended = faults.run(case, *more, wrapper=wrapper, environment=environment)
            expect(ended.status != 0, f"{case}: the job fails", ended)
            expect(ended.seconds < 20, f"{case}: within seconds", ended)
            named = re.search(words, ended.output)
            expect(bool(named), f"{case}: the dead rank is named", ended)


def killed_under_launcher(faults: Faults) -> None:
    for case in ("kill_small", "kill_large"):
        ended = faults.run(case)
        expect(ended.status != 0, f"{case}: the job fails", ended)


def stopped(faults: Faults) -> None:
    ended = faults.works("stop", environment={"HOCKET_STALL_SECONDS": "2"})
    report = (
        r"hocket: call 21 of a communicator of 3 ranks has been waiting for [2-9] s: "
        r"ranks 0,2: MPI_Allreduce\(32 bytes, MPI_SUM\); rank 1: not there yet"
    )
    expect(len(re.findall(report, ended.output)) == 1, "stop: one report names who is missing", ended)


# case: what the error must name. Of ranks 0 and 2 one is enough: the other may not be there yet when rank 1
# and the first of them meet.
MISMATCHES = {
    "function": ("rank 1: MPI_Barrier", "MPI_Allreduce(4 bytes, MPI_SUM)"),
    "root_small": ("root 2", "root 0"),
    "root_large": ("root 2", "root 0"),
    "root_of_reduce": ("root 1", "root 0"),
    "operation": ("MPI_MAX", "MPI_SUM"),
    "size_small": ("8 bytes", "12 bytes"),
    "size_large": ("15996 bytes", "16000 bytes"),
    "alltoallw": ("rank 1: MPI_Alltoallw (run by the MPI)", "MPI_Allreduce(4 bytes, MPI_SUM)"),
}


MISMATCHED_STARTS = {
    "start": ("rank 1: MPI_Ibarrier", "MPI_Iallreduce(4 bytes, MPI_SUM)"),
    "start_in_array": ("rank 1: MPI_Ibarrier", "MPI_Iallreduce(4 bytes, MPI_SUM)"),
    "start_tested": ("rank 1: MPI_Ibarrier", "MPI_Iallreduce(4 bytes, MPI_SUM)"),
    "started_operation": ("MPI_MAX", "MPI_SUM"),
    "started_size_small": ("8 bytes", "12 bytes"),
    "started_size_large": ("15996 bytes", "16000 bytes"),
    "started_before": ("(call 21)", "MPI_MAX", "MPI_SUM"),
    "one_of_many": ("(call 21)", "MPI_MAX", "MPI_SUM"),
    "persistent_start": ("MPI_Allreduce_init(8 bytes", "MPI_Allreduce_init(12 bytes"),
    "started_by_one": ("MPI_Allreduce(4 bytes, MPI_SUM)", "rank 1: MPI_Iallreduce(4 bytes, MPI_SUM)"),
    "started_by_others": ("MPI_Iallreduce(4 bytes, MPI_SUM)", "rank 1: MPI_Allreduce(4 bytes, MPI_SUM)"),
    "started_by_one_later": ("rank 1: MPI_Iallreduce(4 bytes, MPI_SUM)", "MPI_Allreduce(4 bytes, MPI_SUM)"),
}


def mismatched(faults: Faults) -> None:
    mismatched_in(faults, MISMATCHES)


def mismatched_starts(faults: Faults) -> None:
    mismatched_in(faults, MISMATCHED_STARTS)


def mismatched_in(faults: Faults, cases: Mapping[str, tuple[str, ...]]) -> None:
    for case, names in cases.items():
        for more in ((), ("returned",)):
            ended = faults.run(case, *more)
            expect(ended.status != 0, f"{case}: the job fails", ended)
            expect(ended.seconds < 20, f"{case}: within seconds", ended)
            expect("call different collectives" in ended.output, f"{case}: says what is wrong", ended)
            for name in names:
                expect(name in ended.output, f"{case}: names {name}", ended)
            if more:
                expect(
                    "error: the ranks of a communicator call" in ended.output,
                    f"{case}: MPI_Error_string",
                    ended,
                )
            else:
                expect("error: " not in ended.output, f"{case}: the default handler ends the program", ended)


def short_of_memory(faults: Faults) -> None:
    for budget in ("64K", "1M"):
        ended = faults.works("big", environment={"HOCKET_MEMORY": budget, "HOCKET_REPORT": "1"})
        expect("budget" in ended.output, f"HOCKET_MEMORY={budget}: the report says why", ended)
    if not is_root() or not can("unshare", "-m", "true"):
        print("not root: a tiny /dev/shm is not tried")
        return
    # A mount namespace per rank, with a tiny /dev/shm: an MPI that keeps memory there may not start.
    mount = "mount -t tmpfs -o size=64k tmpfs /dev/shm 2>/dev/null"
    natively = faults.mpi.launch(
        [faults.program, "mixed"], RANKS, hocket=False, wrapper=f"{in_namespace(mount)}"
    )
    if natively.status != 0:
        print("this MPI does not start with a tiny /dev/shm")
        return
    faults.works("mixed", wrapper=in_namespace(mount))


def without_memfd(faults: Faults) -> None:
    """As in a sandbox that does not know the call: there is no arena, so the MPI runs everything, at once."""
    filtered = Path(faults.program).parent / "without_memfd"
    if not can(str(filtered), "true"):
        print("SKIPPED: no seccomp filters here")
        sys.exit(EXIT_SKIPPED)
    wrapper = f'set -- {filtered} "$@"'
    natively = faults.mpi.launch([faults.program, "mixed"], RANKS, hocket=False, wrapper=wrapper)
    if natively.status != 0:
        print("SKIPPED: this MPI does not start without memfd_create")
        sys.exit(EXIT_SKIPPED)
    bound = "300"  # far more than the job may take: nobody waits for an arena that cannot come
    ended = faults.works(wrapper=wrapper, environment={"HOCKET_REPORT": "1", "HOCKET_SETUP_SECONDS": bound})
    expect(bool(re.search(r"allreduce .* native ", ended.output)), "without memfd_create: natively", ended)
    said = "cannot create a memfd: Operation not permitted"
    expect(said in ended.output, "without memfd_create: the report says why", ended)


def in_namespace(command: str) -> str:
    return f'''set -- unshare -m sh -c '{command}; exec "$@"' sh "$@"'''


def can(*command: str) -> bool:
    return (
        bool(shutil.which(command[0]))
        and subprocess.run(command, check=False, capture_output=True).returncode == 0
    )


def partial_launch(faults: Faults) -> None:
    """One rank has no Hocket, or other options: all go on with the MPI's collectives, the report names it."""
    mpi = faults.mpi
    report = {"HOCKET_REPORT": "1", "HOCKET_SETUP_SECONDS": "3"}
    program = [str(mpi.hocket_exec), faults.program, "mixed"]
    cases = {
        "no hocket-exec": ('[ "$rank" != 1 ] || shift', "local rank 1"),
        "HOCKET=off": ('[ "$rank" != 1 ] || export HOCKET=off', "local rank 1"),
        "no hocket-exec on rank 0": ('[ "$rank" != 0 ] || shift', ""),
        "another HOCKET_FORCE": ('[ "$rank" != 1 ] || export HOCKET_FORCE=allreduce:ring', "HOCKET_FORCE"),
        "another HOCKET_MEMORY": ('[ "$rank" != 2 ] || export HOCKET_MEMORY=99M', "HOCKET_MEMORY"),
        "a value that is none": ('[ "$rank" != 1 ] || export HOCKET_WAIT=perhaps', "local rank 1"),
    }
    for name, (wrapper, named) in cases.items():
        ended = mpi.launch(program, RANKS, hocket=False, wrapper=wrapper, environment=report, seconds=40)
        expect(ended.status == 0, f"{name}: exit status 0", ended)
        expect(ended.output.count(": success") == RANKS, f"{name}: right results", ended)
        expect(ended.seconds < 20, f"{name}: set-up is bounded", ended)
        if named:
            expect(named in ended.output, f"{name}: the reason names {named}", ended)
            expect(bool(re.search(r"allreduce .* native ", ended.output)), f"{name}: natively", ended)


def wrong_options(faults: Faults) -> None:
    cases = {
        "HOCKET": "maybe",
        "HOCKET_WAIT": "perhaps",
        "HOCKET_MEMORY": "lots",
        "HOCKET_STALL_SECONDS": "soon",
        "HOCKET_FORCE": "allreduce:nonsense",
        "HOCKET_DISABLE": "alreduce",
        "HOCKET_RULES": "/nonexistent/rules",
        "HOCKET_CHEKC": "1",
    }
    for variable, value in cases.items():
        ended = faults.works(environment={variable: value})
        expect(
            ("hocket: " in ended.output and value in ended.output) or variable in ended.output,
            f"{variable}={value}: says what is wrong",
            ended,
        )
        expect(ended.output.count("hocket: ") == 1, f"{variable}={value}: once", ended)
    disabled = faults.works(environment={"HOCKET_DISABLE": "allreduce", "HOCKET_REPORT": "1"})
    expect(
        bool(re.search(r"allreduce .*native .*", disabled.output)),
        "HOCKET_DISABLE=allreduce: native",
        disabled,
    )
    forced = faults.works(environment={"HOCKET_FORCE": "allreduce:ring", "HOCKET_REPORT": "1"})
    expect(bool(re.search(r"allreduce .*ring", forced.output)), "HOCKET_FORCE=allreduce:ring: ring", forced)
    off = faults.works(environment={"HOCKET": "off", "HOCKET_REPORT": "1"})
    expect("collective" not in off.output, "HOCKET=off: nothing of Hocket", off)


def namespaces(faults: Faults) -> None:
    """Ranks that cannot see each other's process numbers, as in one container per rank."""
    if not is_root() or not can("unshare", "-p", "-f", "true"):
        print("SKIPPED: PID namespaces need root")
        sys.exit(EXIT_SKIPPED)
    wrapper = 'set -- unshare -p -f --mount-proc --kill-child "$@"'
    natively = faults.mpi.launch([faults.program, "mixed"], RANKS, hocket=False, wrapper=wrapper)
    if natively.status != 0:
        print("SKIPPED: this MPI does not start with a PID namespace per rank")
        sys.exit(EXIT_SKIPPED)
    faults.works(wrapper=wrapper, environment={"HOCKET_REPORT": "1"})
    faults.works("big", wrapper=wrapper)


EACH_ON_ITS_NODE = {
    "HOCKET_NODE_SIZE": "1",
    "HOCKET_FORCE": "allreduce:recursive_doubling,bcast:knomial,reduce:knomial,"
    "barrier:message_dissemination,allgather:ring",
}


def across_nodes(faults: Faults) -> None:
    """Every rank on a pretended node of its own: the ranks see nothing of each other but messages."""
    faults.works("mixed", environment=EACH_ON_ITS_NODE)
    faults.works("big", environment=EACH_ON_ITS_NODE)
    for case, names in MISMATCHES.items():
        if case == "alltoallw":  # the rank that is in the MPI's own call sends nothing that could be compared
            continue
        ended = faults.run(case, "returned", environment=EACH_ON_ITS_NODE)
        expect(ended.status != 0, f"{case}: the job fails", ended)
        expect(ended.seconds < 20, f"{case}: within seconds", ended)
        expect("call different collectives" in ended.output, f"{case}: says what is wrong", ended)
        for name in names:
            expect(name in ended.output, f"{case}: names {name}", ended)
    for case in ("kill_small", "kill_large"):
        with tempfile.TemporaryDirectory() as folder:
            ended = faults.run(case, environment=EACH_ON_ITS_NODE, wrapper=until_all_have_ended(folder))
        expect(ended.status != 0, f"{case}: the job fails", ended)
        expect(ended.seconds < 20, f"{case}: within seconds", ended)
        named = re.search(r"rank 1 \(rank 1 of the job on \S+\) has ended", ended.output)
        expect(bool(named), f"{case}: names the dead rank and its host", ended)
    ended = faults.works("stop", environment={**EACH_ON_ITS_NODE, "HOCKET_STALL_SECONDS": "2"})
    expect("ranks on several nodes has been waiting for rank" in ended.output, "stop: says who waits", ended)


def disagreed_about_nodes(faults: Faults) -> None:
    """Not all ranks have the same options, or Hocket at all."""
    report = {**EACH_ON_ITS_NODE, "HOCKET_REPORT": "1"}
    other = '[ "$rank" != 1 ] || export HOCKET_FORCE=allreduce:ring'
    ended = faults.works("mixed", environment=report, wrapper=other)
    expect(bool(re.search(r"allreduce .* native ", ended.output)), "another HOCKET_FORCE: natively", ended)
    expect("not all ranks have this version and these options" in ended.output, "the reason", ended)
    program = [str(faults.mpi.hocket_exec), faults.program, "mixed"]
    without = '[ "$rank" != 1 ] || shift'
    ended = faults.mpi.launch(
        program, RANKS, hocket=False, wrapper=without, environment=EACH_ON_ITS_NODE, seconds=30
    )
    expect(
        "waits in MPI_Init" in ended.output and "HOCKET_ACROSS_NODES needs Hocket" in ended.output,
        "a rank without Hocket: the others say for what they wait",
        ended,
    )


GROUPS: dict[str, Callable[[Faults], None]] = {
    "killed": killed,
    "killed_under_way": killed_under_way,
    "killed_with_workers": killed_with_workers,
    "killed_under_launcher": killed_under_launcher,
    "stopped": stopped,
    "mismatched": mismatched,
    "mismatched_starts": mismatched_starts,
    "memory": short_of_memory,
    "without_memfd": without_memfd,
    "partial_launch": partial_launch,
    "options": wrong_options,
    "namespaces": namespaces,
    "across_nodes": across_nodes,
    "disagreed_about_nodes": disagreed_about_nodes,
}


def main(argv: Sequence[str]) -> int:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("group", choices=sorted(GROUPS))
    parsed = parser.parse_args(argv)
    GROUPS[parsed.group](Faults(mpi_of(parsed), parsed.program))
    print(f"{parsed.group}: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main(sys.argv[1:]))
