#!/usr/bin/env python3
"""libsharp_coll.so in front of trees of hocket-switch: the conformance program, area by area.

conformance_test.py PROGRAM LIBRARY SWITCH [unittest's arguments]
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path

PROGRAM, LIBRARY, SWITCH = (
    (Path(sys.argv.pop(1)).resolve() for _ in range(3)) if len(sys.argv) > 3 else (Path(),) * 3
)
SAYS = "hocket-switch: listening on "
WINDOW = 64 << 10
SECONDS = 50  # of an area
NOTREE, JOB, GROUP, QUOTA, LOCK, INVALID = -13, -11, -4, -7, -18, -10


class Tree(unittest.TestCase):
    """Each area runs in front of one of these."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.key = Path(folder.name) / "key"
        self.key.touch(mode=0o600)
        self.key.write_text("k" * 64)

    def switch(self, *words: str, place: str = "127.0.0.1:0") -> tuple[subprocess.Popen[str], str]:
        """One more, and where it listens."""
        switch = subprocess.Popen(
            [str(SWITCH), "--listen", place, "--key", str(self.key), *words],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, switch)
        assert switch.stdout
        line = switch.stdout.readline()
        self.assertTrue(line.startswith(SAYS), line)
        return switch, line.removeprefix(SAYS).strip()

    def end(self, switch: subprocess.Popen[str]) -> None:
        """In order, if it has not ended before."""
        if switch.poll() is None:
            switch.send_signal(signal.SIGCONT)
            switch.terminate()
            self.assertEqual(switch.wait(10), 0)
        if switch.stdout:
            switch.stdout.close()

    def after(self, switch: subprocess.Popen[str], act: Callable[[], object]) -> None:
        """When it has ended, and a moment has passed in which nobody listens there."""

        def wait() -> None:
            switch.wait(SECONDS)
            time.sleep(0.3)
            act()

        waiting = threading.Thread(target=wait)
        waiting.start()
        self.addCleanup(waiting.join)

    def run_ranks(self, area: str, ranks: int, place: str, **variables: str) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("HOCKET", "SHARP"))
        }
        environment |= {"HOCKET_SWITCH": place, "HOCKET_SWITCH_KEY": str(self.key)}
        told = subprocess.run(
            [str(PROGRAM), area, str(ranks)],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            env=environment | {"TEST_WINDOW": str(WINDOW), "TEST_LIBRARY": str(LIBRARY)} | variables,
        )
        self.assertEqual(told.returncode, 0, told.stderr)


class OneSwitch(Tree):
    def setUp(self) -> None:
        super().setUp()
        self.process, self.place = self.switch("--window", str(WINDOW))

    def run_area(self, area: str, ranks: int = 3, **variables: str) -> None:
        self.run_ranks(area, ranks, self.place, **variables)

    def test_as_ucc(self) -> None:
        self.run_area("as_ucc", 4, SHARP_COLL_ENABLE_SAT="1")

    def test_as_nccl(self) -> None:
        self.run_area("as_nccl")

    def test_as_mvapich2(self) -> None:
        self.run_area("as_mvapich2")

    def test_types(self) -> None:
        self.run_area("types", SHARP_COLL_ENABLE_SAT="1")

    def test_sizes(self) -> None:
        self.run_area("sizes", SHARP_COLL_ENABLE_SAT="1")

    def test_sizes_in_pieces(self) -> None:
        self.run_area("sizes", 2)

    def test_limits_of_the_environment(self) -> None:
        limits = {"SHARP_COLL_OSTS_PER_GROUP": "2", "SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST": "128"}
        self.run_area("shapes", 4, **limits)
        self.run_area("too_many", 2, SHARP_COLL_JOB_QUOTA_MAX_GROUPS="3")

    def test_pairs(self) -> None:
        self.run_area("pairs", 5)

    def test_windows(self) -> None:
        self.run_area("windows", SHARP_COLL_ENABLE_SAT="1")
        self.run_area("windows")

    def test_one_rank(self) -> None:
        self.run_area("types", 1, SHARP_COLL_ENABLE_SAT="1")

    def test_locks_for_batches(self) -> None:
        for batch in ("1", "3"):
            self.run_area("outstanding", SHARP_COLL_ENABLE_SAT="1", SHARP_COLL_SAT_LOCK_BATCH_SIZE=batch)

    def test_threads(self) -> None:
        self.run_area("threads", 2, SHARP_COLL_ENABLE_SAT="1")

    def test_wrong_arguments(self) -> None:
        self.run_area("wrong_arguments")

    def test_a_lock_of_another_job(self) -> None:
        self.run_area("lock_is_taken", 4, SHARP_COLL_ENABLE_SAT="1", SHARP_COLL_LOCK_ON_COMM_INIT="1")

    def test_faults(self) -> None:
        faults = {
            "job": ("init_is_refused", JOB),
            "group": ("group_is_refused", GROUP),
            "quota": ("group_is_refused", QUOTA),
        }
        for fault, (area, code) in faults.items():
            for words in (fault, fault + ":1", "delay=1," + fault + ":2"):
                self.run_area(area, TEST_CODE=str(code), HOCKET_SHARP_FAULTS=words)
        self.run_area("init_is_refused", TEST_CODE=str(INVALID), HOCKET_SHARP_FAULTS="qouta:0")

    def test_a_lock_that_is_refused(self) -> None:
        self.run_area("lock_is_refused", SHARP_COLL_ENABLE_SAT="1", HOCKET_SHARP_FAULTS="lock:1")
        self.run_area(
            "group_is_refused",
            SHARP_COLL_ENABLE_SAT="1",
            SHARP_COLL_LOCK_ON_COMM_INIT="1",
            HOCKET_SHARP_FAULTS="lock:0",
            TEST_CODE=str(LOCK),
        )

    def test_a_rank_that_is_cut_off(self) -> None:
        for operations in ("0", "5", "6"):
            self.run_area(
                "rank_is_cut_off",
                SHARP_COLL_ENABLE_SAT="1",
                HOCKET_SHARP_FAULTS=f"disconnect={operations}:1",
                TEST_LASTS=operations,
            )

    def test_a_peer_that_never_comes(self) -> None:
        self.run_area("peer_never_comes")

    def test_a_switch_that_is_lost(self) -> None:
        self.run_area("switch_is_lost", TEST_SWITCH_PID=str(self.process.pid))

    def run_with_another(self, area: str, *words: str) -> None:
        """The switch is killed, and another one started in its place."""
        self.after(self.process, lambda: self.switch(*words, place=self.place))
        self.run_area(
            area,
            SHARP_COLL_ENABLE_SAT="1",
            TEST_SWITCH_PID=str(self.process.pid),
            TEST_MOST_SECONDS="5",
        )

    def test_a_switch_that_comes_back(self) -> None:
        self.run_with_another("switch_comes_back", "--window", str(WINDOW))

    def test_a_switch_that_comes_back_with_less(self) -> None:
        self.run_with_another("switch_does_not_come_back", "--payload", "128")

    def test_a_switch_that_comes_back_with_another_key(self) -> None:
        self.run_with_another("switch_does_not_come_back", "--key", str(self.other_key()))

    def test_a_place_that_swallows_all(self) -> None:
        """Connections are made, and nobody says anything."""
        host, _, port = self.place.rpartition(":")
        hole = socket.socket()
        self.addCleanup(hole.close)

        def listen() -> None:
            hole.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            hole.bind((host, int(port)))
            hole.listen()

        self.after(self.process, listen)
        self.run_area(
            "switch_does_not_come_back",
            SHARP_COLL_ENABLE_SAT="1",
            TEST_SWITCH_PID=str(self.process.pid),
            TEST_MOST_SECONDS="5",
        )

    def test_a_switch_that_does_not_answer(self) -> None:
        pid = str(self.process.pid)
        self.run_area("switch_does_not_answer", TEST_SWITCH_PID=pid, TEST_MOST_SECONDS="5")

    def other_key(self) -> Path:
        other = self.key.with_name("other")
        other.touch(mode=0o600)
        other.write_text("o" * 64)
        return other

    def test_another_key(self) -> None:
        other = self.other_key()
        self.run_area("init_is_refused", TEST_CODE=str(JOB), HOCKET_SWITCH_KEY=str(other))

    def test_the_least_of_everything(self) -> None:
        _, place = self.switch("--window", "4096", "--osts-per-group", "1", "--payload", "128")
        for area in ("types", "outstanding", "windows"):
            self.run_ranks(area, 3, place, SHARP_COLL_ENABLE_SAT="1")
        self.run_ranks("outstanding", 3, place)

    def test_a_switch_that_does_not_stream(self) -> None:
        _, place = self.switch("--no-streaming")
        self.run_ranks("types", 2, place, SHARP_COLL_ENABLE_SAT="1")

    def test_a_member_that_leaves(self) -> None:
        _, place = self.switch("--max-groups", "2")
        self.run_ranks("member_leaves", 3, place)

    def test_no_groups_left(self) -> None:
        _, place = self.switch("--max-groups", "4")
        self.run_ranks("too_many", 3, place)
        _, place = self.switch("--osts", "24")
        self.run_ranks("too_many", 3, place)


class NoSwitch(Tree):
    def test_nobody_listens(self) -> None:
        switch, place = self.switch()
        self.end(switch)
        self.run_ranks("init_is_refused", 3, place, TEST_CODE=str(JOB))

    def test_nobody_says_where(self) -> None:
        self.run_ranks("init_is_refused", 3, "", TEST_CODE=str(NOTREE))


class TwoLeaves(Tree):
    """Rank i is at leaf i % 2, as TEST_PLACES says."""

    leaves: list[tuple[subprocess.Popen[str], str]]

    def switch_below(self, parent: str, place: str = "127.0.0.1:0") -> tuple[subprocess.Popen[str], str]:
        return self.switch("--window", str(WINDOW), "--parent", parent, place=place)

    def run_area(self, area: str, ranks: int = 4, **variables: str) -> None:
        places = " ".join(place for _, place in self.leaves)
        self.run_ranks(area, ranks, self.leaves[0][1], TEST_PLACES=places, **variables)

    def run_until_it_is_back(self, process: subprocess.Popen[str], place: str, *words: str) -> None:
        self.after(process, lambda: self.switch("--window", str(WINDOW), *words, place=place))
        self.run_area(
            "switch_comes_back",
            SHARP_COLL_ENABLE_SAT="1",
            TEST_SWITCH_PID=str(process.pid),
            TEST_MOST_SECONDS="8",
        )


class ThreeSwitches(TwoLeaves):
    """The leaves are under the root."""

    def setUp(self) -> None:
        super().setUp()
        self.root, self.root_place = self.switch("--window", str(WINDOW))
        self.leaves = [self.switch_below(self.root_place) for _ in range(2)]

    def test_as_ucc(self) -> None:
        self.run_area("as_ucc", SHARP_COLL_ENABLE_SAT="1")

    def test_as_nccl(self) -> None:
        self.run_area("as_nccl")

    def test_types(self) -> None:
        self.run_area("types", 3, SHARP_COLL_ENABLE_SAT="1")

    def test_sizes(self) -> None:
        self.run_area("sizes", 3, SHARP_COLL_ENABLE_SAT="1")

    def test_shapes(self) -> None:
        self.run_area("shapes", 7, SHARP_COLL_ENABLE_SAT="1")
        self.run_area("shapes", 7)

    def test_many(self) -> None:
        self.run_area("many")

    def test_outstanding(self) -> None:
        self.run_area("outstanding", SHARP_COLL_ENABLE_SAT="1")
        self.run_area("outstanding")

    def test_too_many(self) -> None:
        self.run_area("too_many")

    def test_a_member_that_leaves(self) -> None:
        self.run_area("member_leaves")

    def test_a_lock_of_another_job(self) -> None:
        self.run_area("lock_is_taken", SHARP_COLL_ENABLE_SAT="1", SHARP_COLL_LOCK_ON_COMM_INIT="1")

    def test_a_rank_that_is_cut_off(self) -> None:
        fault = "disconnect=7:3"
        self.run_area("rank_is_cut_off", SHARP_COLL_ENABLE_SAT="1", HOCKET_SHARP_FAULTS=fault, TEST_LASTS="7")

    def test_a_root_that_is_lost(self) -> None:
        self.run_area("switch_is_lost", TEST_SWITCH_PID=str(self.root.pid))

    def test_a_root_that_comes_back(self) -> None:
        self.run_until_it_is_back(self.root, self.root_place)

    def test_a_leaf_that_comes_back(self) -> None:
        process, place = self.leaves[1]
        self.run_until_it_is_back(process, place, "--parent", self.root_place)


class FiveSwitches(TwoLeaves):
    """Each leaf is under an inner switch of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.root, self.root_place = self.switch("--window", str(WINDOW))
        self.inner = [self.switch_below(self.root_place) for _ in range(2)]
        self.leaves = [self.switch_below(place) for _, place in self.inner]

    def test_types(self) -> None:
        self.run_area("types", 3, SHARP_COLL_ENABLE_SAT="1")

    def test_shapes(self) -> None:
        self.run_area("shapes", 7, SHARP_COLL_ENABLE_SAT="1")
        self.run_area("shapes", 7)

    def test_too_many(self) -> None:
        self.run_area("too_many")

    def test_a_lock_of_another_job(self) -> None:
        self.run_area("lock_is_taken", SHARP_COLL_ENABLE_SAT="1", SHARP_COLL_LOCK_ON_COMM_INIT="1")

    def test_an_inner_switch_that_is_lost(self) -> None:
        self.run_area("switch_is_lost", TEST_SWITCH_PID=str(self.inner[1][0].pid))

    def test_an_inner_switch_that_comes_back(self) -> None:
        process, place = self.inner[1]
        self.run_until_it_is_back(process, place, "--parent", self.root_place)


class TwoTrees(Tree):
    def test_groups_are_dealt_to_both(self) -> None:
        places = [self.switch()[1] for _ in range(2)]
        self.run_ranks("shapes", 4, ",".join(places), SHARP_COLL_ENABLE_SAT="1")
        self.run_ranks("outstanding", 3, ",".join(places), SHARP_COLL_ENABLE_SAT="1")

    def test_one_of_them_comes_back(self) -> None:
        (process, place), (_, other) = self.switch(), self.switch()
        self.after(process, lambda: self.switch(place=place))
        self.run_ranks(
            "switch_comes_back",
            3,
            f"{other},{place}",
            SHARP_COLL_ENABLE_SAT="1",
            TEST_SWITCH_PID=str(process.pid),
            TEST_MOST_SECONDS="5",
            TEST_TREES="2",
        )


if __name__ == "__main__":
    unittest.main()
