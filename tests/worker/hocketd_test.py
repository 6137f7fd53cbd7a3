#!/usr/bin/env python3
"""hocketd as a service for other hosts: what it says, whom it refuses, and that nothing of it stays."""

from __future__ import annotations

import contextlib
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

HOCKETD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path("hocketd")
SAYS = "hocketd: listening on "


def _until(holds: Callable[[], bool], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


class Service(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.key = Path(folder.name) / "key"
        self.key.touch(mode=0o600)
        self.key.write_text("k" * 64)

    def run_it(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HOCKET")}
        return subprocess.run(
            [str(HOCKETD), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
            env=environment | variables,
        )

    def listen(self) -> tuple[subprocess.Popen[str], tuple[str, int]]:
        service = subprocess.Popen(
            [str(HOCKETD), "--listen", "127.0.0.1:0", "--key", str(self.key)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, service)
        assert service.stdout
        line = service.stdout.readline()
        self.assertTrue(line.startswith(SAYS), line)
        host, _, port = line.removeprefix(SAYS).strip().rpartition(":")
        return service, (host, int(port))

    def end(self, service: subprocess.Popen[str]) -> None:
        with contextlib.suppress(ProcessLookupError):
            service.kill()
        service.communicate()

    def workers(self, service: subprocess.Popen[str]) -> list[int]:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text()
            return [int(pid) for pid in text.split()]
        return []

    def test_what_is_asked_wrongly_is_told(self) -> None:
        for words in (["--listen"], ["--listen", "127.0.0.1:0"], ["--listen", "a:1", "--kye", "b"], []):
            told = self.run_it(*words)
            self.assertEqual(told.returncode, 2, words)
            self.assertIn("usage: hocketd", told.stderr)
        for place, words in (("nowhere", "not HOST:PORT"), ("127.0.0.1:x", "127.0.0.1:x: ")):
            told = self.run_it("--listen", place, "--key", str(self.key))
            self.assertEqual(told.returncode, 1)
            self.assertIn(words, told.stderr)

    def test_ranks_that_need_all_cores_have_no_worker(self) -> None:
        job = {"HOCKET_JOB": f"test{os.getpid()}:0:4000", "HOCKET_WORKER": "a" * 32 + ":" + "b" * 32}
        told = self.run_it("--for", str(os.getpid()), **job)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertIn("no core is free for it", told.stderr)
        self.assertIn("for 4000 ranks on this node", told.stderr)
        self.assertNotIn("ready", told.stderr)

    def test_cpus_that_are_no_list_are_told(self) -> None:
        job = {"HOCKET_JOB": f"test{os.getpid()}:0:1", "HOCKET_WORKER": "a" * 32 + ":" + "b" * 32}
        for cpus, words in (("x", "no list of CPUs: x"), ("8191", "cannot run on HOCKET_WORKER_CPUS=8191")):
            told = self.run_it("--for", str(os.getpid()), HOCKET_WORKER_CPUS=cpus, **job)
            self.assertEqual(told.returncode, 1, told.stderr)
            self.assertIn(words, told.stderr)

    def test_a_key_that_others_can_read_is_refused(self) -> None:
        self.key.chmod(0o644)
        told = self.run_it("--listen", "127.0.0.1:0", "--key", str(self.key))
        self.assertEqual(told.returncode, 1)
        self.assertIn("chmod 600", told.stderr)

    def test_a_place_that_is_taken_is_told(self) -> None:
        _, (host, port) = self.listen()
        told = self.run_it("--listen", f"{host}:{port}", "--key", str(self.key))
        self.assertEqual(told.returncode, 1)
        self.assertIn("Address already in use", told.stderr)

    def test_a_host_with_the_key_is_linked(self) -> None:
        service, (host, port) = self.listen()
        where = {"HOCKET_WORKER_HOST": f"{host}:{port}", "HOCKET_WORKER_KEY": str(self.key)}
        told = self.run_it("--network", **where)
        if "built without UCX" in told.stderr:
            self.skipTest("built without UCX")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("tcp/lo", told.stdout)
        self.assertTrue(_until(lambda: not self.workers(service)), "the worker ends with its host")

    def test_a_host_with_another_key_is_refused(self) -> None:
        service, (host, port) = self.listen()
        other = self.key.with_name("other")
        other.touch(mode=0o600)
        other.write_text("o" * 64)
        told = self.run_it("--network", HOCKET_WORKER_HOST=f"{host}:{port}", HOCKET_WORKER_KEY=str(other))
        if "built without UCX" in told.stderr:
            self.skipTest("built without UCX")
        self.assertEqual(told.returncode, 1)
        self.assertIn("has another key", told.stderr)
        self.assertTrue(_until(lambda: not self.workers(service)))

    def test_who_says_nothing_is_seen_off(self) -> None:
        service, place = self.listen()
        with socket.create_connection(place), socket.create_connection(place):
            self.assertTrue(_until(lambda: len(self.workers(service)) == 2))
            self.assertTrue(_until(lambda: not self.workers(service)), "not for ever")
        self.assertIsNone(service.poll())

    def test_nonsense_harms_nobody(self) -> None:
        service, place = self.listen()
        for said in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(5000)):
            with socket.create_connection(place) as visitor, contextlib.suppress(ConnectionError):
                visitor.settimeout(15)
                visitor.sendall(said)
                visitor.shutdown(socket.SHUT_WR)
                while visitor.recv(4096):
                    pass
        self.assertTrue(_until(lambda: not self.workers(service)))
        self.assertIsNone(service.poll())

    def test_a_stopped_worker_ends_after_its_host(self) -> None:
        service, place = self.listen()
        with socket.create_connection(place):
            self.assertTrue(_until(lambda: len(self.workers(service)) == 1))
            os.kill(self.workers(service)[0], signal.SIGSTOP)
        self.assertTrue(_until(lambda: not self.workers(service)))

    def test_its_workers_end_with_it(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            service, place = self.listen()
            with socket.create_connection(place) as visitor:
                self.assertTrue(_until(lambda: len(self.workers(service)) == 1))  # noqa: B023
                service.send_signal(number)
                status = service.wait(10)
                self.assertEqual(status, -number if number == signal.SIGKILL else 0)
                visitor.settimeout(10)
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(visitor.recv(1), b"", "nobody has the other end any more")


if __name__ == "__main__":
    unittest.main()
