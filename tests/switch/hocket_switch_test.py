#!/usr/bin/env python3
"""hocket-switch as a program: what it says, what it refuses, its statistics, and that nothing of it stays."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

SWITCH = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path("hocket-switch")
SAYS = "hocket-switch: listening on "
STATISTICS = "hocket-switch: statistics on "
ANYWHERE = "127.0.0.1:0"

Place = tuple[str, int]


def _until(holds: Callable[[], bool], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def _name(place: Place) -> str:
    return f"{place[0]}:{place[1]}"


def _get(place: Place, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(*place, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()


def _statistics(place: Place) -> dict[str, Any]:
    status, text = _get(place, "/stats.json")
    assert status == 200, text
    found: dict[str, Any] = json.loads(text)
    return found


class Switch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.key = Path(folder.name) / "key"
        self.key.touch(mode=0o600)
        self.key.write_text("k" * 64)

    def run_it(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SWITCH), *arguments], capture_output=True, text=True, check=False, timeout=30
        )

    def start(self, *arguments: str) -> tuple[subprocess.Popen[str], Place]:
        switch = subprocess.Popen(
            [str(SWITCH), "--listen", ANYWHERE, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, switch)
        return switch, self.place_in(switch, SAYS)

    def start_with_statistics(self, *arguments: str) -> tuple[Place, Place]:
        switch, place = self.start("--stats", ANYWHERE, *arguments)
        return place, self.place_in(switch, STATISTICS)

    def place_in(self, switch: subprocess.Popen[str], says: str) -> Place:
        assert switch.stdout
        line = switch.stdout.readline()
        self.assertTrue(line.startswith(says), line)
        host, _, port = line.removeprefix(says).strip().rpartition(":")
        return host, int(port)

    def end(self, switch: subprocess.Popen[str]) -> None:
        with contextlib.suppress(ProcessLookupError):
            switch.kill()
        switch.communicate()

    def test_what_is_asked_wrongly_is_told(self) -> None:
        wrong = (
            ([], "--listen HOST:PORT is missing"),
            (["--listen"], "--listen needs HOST:PORT"),
            (["--listen", "nowhere"], "not HOST:PORT"),
            (["--listen", ANYWHERE, "--parrent", ANYWHERE], "unknown: --parrent"),
            (["--listen", ANYWHERE, "--radix", "0"], "--radix: not a number from 1"),
            (["--listen", ANYWHERE, "--radix", "7x"], "7x"),
            (["--listen", ANYWHERE, "--radix", "-1"], "-1"),
            (["--listen", ANYWHERE, "--payload", "4096"], "from 128 to 2048"),
            (["--listen", ANYWHERE, "--window", "99999999999999999999"], "--window"),
            (["--listen", ANYWHERE, "--window", "16777215M"], "--window"),
            (["--listen", ANYWHERE, "--window", "5000"], "multiple of 64"),
        )
        for words, answer in wrong:
            told = self.run_it(*words)
            self.assertEqual(told.returncode, 2, words)
            self.assertIn(answer, told.stderr)
            self.assertIn("usage: hocket-switch", told.stderr)

    def test_help_names_what_there_is(self) -> None:
        told = self.run_it("--help")
        self.assertEqual(told.returncode, 0)
        for option in (
            "--listen",
            "--parent",
            "--key",
            "--stats",
            "--busy-poll",
            "--window",
            "--join-seconds",
        ):
            self.assertIn(option, told.stdout)

    def test_without_a_key_it_is_of_one_machine(self) -> None:
        for words in (["--listen", "0.0.0.0:0"], ["--listen", ANYWHERE, "--parent", "192.0.2.1:7"]):
            told = self.run_it(*words)
            self.assertEqual(told.returncode, 1, words)
            self.assertIn("--key FILE is needed", told.stderr)

    def test_a_key_that_others_can_read_is_refused(self) -> None:
        self.key.chmod(0o644)
        told = self.run_it("--listen", ANYWHERE, "--key", str(self.key))
        self.assertEqual(told.returncode, 1)
        self.assertIn("chmod 600", told.stderr)

    def test_a_place_that_is_taken_is_told(self) -> None:
        _, place = self.start()
        for words in (["--listen", _name(place)], ["--listen", ANYWHERE, "--stats", _name(place)]):
            told = self.run_it(*words)
            self.assertEqual(told.returncode, 1)
            self.assertIn("Address already in use", told.stderr)

    def test_statistics_are_answered(self) -> None:
        _, stats = self.start_with_statistics()
        self.assertEqual(_statistics(stats)["children"], 0)
        status, text = _get(stats, "/metrics")
        self.assertEqual(status, 200)
        for line in text.splitlines():
            name, value = line.rsplit(" ", 1)
            self.assertTrue(name.startswith(("hocket_switch_", "# TYPE hocket_switch_")), line)
            self.assertTrue(line.startswith("#") or float(value) >= 0, line)
        self.assertEqual(_get(stats, "/")[0], 404)

    def test_clients_of_statistics_cannot_block_it(self) -> None:
        place, stats = self.start_with_statistics()
        with contextlib.ExitStack() as crowd:
            for _ in range(16):
                crowd.enter_context(socket.create_connection(stats))
            with socket.create_connection(stats) as endless, contextlib.suppress(ConnectionError):
                endless.sendall(b"GET /" + b"x" * 100_000)
            self.assertTrue(_until(lambda: self.answers(stats)), "the silent ones are seen off")
        with socket.create_connection(place) as visitor:
            visitor.settimeout(10)
            self.assertEqual(visitor.recv(1), b"", "and so is who says nothing at the other door")

    def answers(self, stats: Place) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return _get(stats, "/stats.json")[0] == 200
        return False

    def test_switches_find_their_parent_and_find_it_again(self) -> None:
        key = ("--key", str(self.key))
        parent, place = self.start(*key)
        _, stats = self.start_with_statistics("--parent", _name(place), *key)
        self.assertTrue(_until(lambda: _statistics(stats)["bytes_from_parent"] >= 0))
        parent.send_signal(signal.SIGTERM)
        self.assertEqual(parent.wait(10), 0)
        self.assertEqual(_statistics(stats)["children"], 0, "it goes on")
        again = subprocess.Popen(
            [str(SWITCH), "--listen", _name(place), "--stats", ANYWHERE, *key],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, again)
        self.place_in(again, SAYS)
        its_stats = self.place_in(again, STATISTICS)
        self.assertTrue(_until(lambda: _statistics(its_stats)["children"] == 1))

    def test_a_switch_with_another_key_is_not_let_in(self) -> None:
        place, stats = self.start_with_statistics("--key", str(self.key))
        other = self.key.with_name("other")
        other.touch(mode=0o600)
        other.write_text("o" * 64)
        self.start("--parent", _name(place), "--key", str(other))
        self.assertTrue(_until(lambda: _statistics(stats)["connections_not_admitted"] > 0))
        self.assertEqual(_statistics(stats)["children"], 0)

    def test_a_parent_that_allows_less_is_told_of(self) -> None:
        _, place = self.start("--window", "64K")
        switch, _ = self.start("--parent", _name(place))
        assert switch.stderr
        self.assertIn("start both with the same limits", switch.stderr.readline())

    def test_nonsense_harms_nobody(self) -> None:
        place, stats = self.start_with_statistics()
        for said in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(5000)):
            for door in (place, stats):
                with socket.create_connection(door) as visitor, contextlib.suppress(OSError):
                    visitor.settimeout(15)
                    visitor.sendall(said)
                    visitor.shutdown(socket.SHUT_WR)
                    while visitor.recv(4096):
                        pass
        self.assertEqual(_statistics(stats)["children"], 0)

    def test_it_ends_in_order(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            switch, place = self.start()
            with socket.create_connection(place) as visitor:
                switch.send_signal(number)
                self.assertEqual(switch.wait(10), 0)
                visitor.settimeout(10)
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(visitor.recv(1), b"")
            _, stderr = switch.communicate()
            self.assertEqual(stderr, "")

    def test_it_polls_when_asked_and_sleeps_when_not(self) -> None:
        for arguments, polls in ((("--busy-poll",), True), ((), False)):
            switch, _ = self.start(*arguments)
            before = self.processor_seconds(switch)
            time.sleep(0.6)
            used = self.processor_seconds(switch) - before
            self.assertEqual(used > 0.04, polls, used)

    def processor_seconds(self, switch: subprocess.Popen[str]) -> float:
        fields = Path(f"/proc/{switch.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
