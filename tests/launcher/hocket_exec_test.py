#!/usr/bin/env python3
"""hocket-exec: what it sets, what it leaves alone, how it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAUNCHER = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path("hocket-exec")
SHOW = ["sh", "-c", 'echo "$LD_PRELOAD|$HOCKET_LAUNCHER_PID"']


class HocketExec(unittest.TestCase):
    """Runs a copy of the launcher in a tree of its own, with an empty stand-in where the library would be."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = Path(folder.name).resolve()
        (self.prefix / "bin").mkdir()
        (self.prefix / "lib" / "hocket").mkdir(parents=True)
        self.library = self.prefix / "lib" / "hocket" / "libhocket.so"
        self.make_library(self.library)
        self.launcher = self.prefix / "bin" / "hocket-exec"
        shutil.copy(LAUNCHER, self.launcher)

    def make_library(self, path: Path) -> None:
        command = [os.environ.get("CC", "cc"), "-shared", "-x", "c", "/dev/null", "-o", str(path)]
        subprocess.run(command, check=True)

    def run_it(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        unset = ("LD_PRELOAD", "HOCKET", "HOCKET_VERBOSE", "HOCKET_LAUNCHER_PID", "PMI_RANK", "PMIX_RANK")
        unset += ("HOCKET_WORKERS", "HOCKET_WORKER", "HOCKET_JOB", "HOCKET_SHARED_HEAP")
        environment = {name: value for name, value in os.environ.items() if name not in unset} | variables
        command = [str(self.launcher), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False, timeout=20
        )

    def test_preloads_the_library_beside_it(self) -> None:
        preload, launcher = self.run_it(*SHOW).stdout.strip().split("|")
        self.assertEqual(preload, str(self.library))
        pid, start = launcher.split(":")
        self.assertEqual(int(pid), os.getpid())
        own_stat = Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()
        self.assertEqual(start, own_stat[19])

    def test_appends_after_another_tool(self) -> None:
        other = self.prefix / "libtool.so"
        self.make_library(other)
        preload = self.run_it(*SHOW, LD_PRELOAD=str(other)).stdout.partition("|")[0]
        self.assertEqual(preload, f"{other}:{self.library}")

    def test_preloads_the_shared_heap_for_workers(self) -> None:
        heap = self.library.with_name("libhocket_heap.so")

        def preload(command: list[str], **variables: str) -> str:
            return self.run_it(*command, HOCKET_JOB="x:1:2", **variables).stdout.partition("|")[0]

        wanted = {"HOCKET_SHARED_HEAP": "on", "HOCKET_WORKERS": "1"}
        self.assertEqual(preload(SHOW, **wanted), str(self.library))  # it is not there
        self.make_library(heap)
        for lacking in wanted:
            self.assertEqual(preload(SHOW, **{**wanted, lacking: "0"}), str(self.library))
        for command in (SHOW, [str(self.launcher), *SHOW]):
            self.assertEqual(preload(command, **wanted), f"{self.library}:{heap}")

    def test_does_not_append_twice(self) -> None:
        preload = self.run_it(str(self.launcher), *SHOW).stdout.partition("|")[0]
        self.assertEqual(preload, str(self.library))

    def identity(self, *command: str) -> str:
        return self.run_it(*command, HOCKET_LAUNCHER_PID="7:9").stdout.strip().rpartition("|")[2]

    def make_proxy(self) -> str:
        """A stand-in for hydra's proxy: runs its arguments as a child, after its own process number."""
        proxy = self.prefix / "hydra_pmi_proxy"
        proxy.write_text('#!/bin/sh\necho $$\n"$@"\nexit\n')
        proxy.chmod(0o755)
        return str(proxy)

    def test_the_identity_of_another_job_is_not_kept(self) -> None:
        self.assertEqual(self.identity(*SHOW).partition(":")[0], str(os.getpid()))

    def test_all_of_a_rank_belongs_to_the_job_of_its_proxy(self) -> None:
        inner = f"{self.launcher} {SHOW[0]} {SHOW[1]} '{SHOW[2]}'; exit"
        for command in ([*SHOW], ["sh", "-c", inner]):
            done = self.run_it("--", self.make_proxy(), str(self.launcher), *command)
            proxy, _, line = done.stdout.partition("\n")
            self.assertEqual(line.strip().rpartition("|")[2].partition(":")[0], proxy)

    def test_a_job_inside_a_job_has_an_identity_of_its_own(self) -> None:
        proxy, launcher = self.make_proxy(), str(self.launcher)
        done = self.run_it("--", proxy, launcher, "--", proxy, launcher, *SHOW)
        outer, inner, line = done.stdout.splitlines()
        self.assertNotEqual(outer, inner)
        self.assertEqual(line.rpartition("|")[2].partition(":")[0], inner)

    def test_works_through_a_symbolic_link(self) -> None:
        link = self.prefix / "link"
        link.symlink_to(self.launcher)
        self.launcher = link
        self.assertEqual(self.run_it(*SHOW).stdout.partition("|")[0], str(self.library))

    def test_off_means_untouched(self) -> None:
        for value in ("off", "OFF", "0", "no", "false"):
            result = self.run_it(*SHOW, HOCKET=value)
            self.assertEqual((result.stdout, result.stderr), ("|\n", ""))

    def test_on_is_what_is_the_case_anyway(self) -> None:
        for value in ("on", "1", "yes", "true", ""):
            self.assertIn(str(self.library), self.run_it(*SHOW, HOCKET=value).stdout)

    def test_missing_library_runs_untouched_and_says_so(self) -> None:
        self.library.unlink()
        result = self.run_it(*SHOW)
        self.assertEqual(result.stdout, "|\n")
        self.assertIn("running untouched", result.stderr)

    def test_only_one_rank_speaks(self) -> None:
        self.library.unlink()
        self.assertEqual(self.run_it(*SHOW, PMI_RANK="1").stderr, "")

    def test_warns_about_a_static_program(self) -> None:
        program = self.prefix / "static"
        source = "int main(void) { return 3; }"
        command = [os.environ.get("CC", "cc"), "-static", "-x", "c", "-", "-o", str(program)]
        if subprocess.run(command, input=source, text=True, check=False, capture_output=True).returncode != 0:
            self.skipTest("no static libc")
        result = self.run_it(str(program))
        self.assertEqual(result.returncode, 3)
        self.assertIn("is statically linked: it runs without Hocket", result.stderr)

    def test_dry_run_runs_nothing(self) -> None:
        result = self.run_it("--dry-run", "touch", str(self.prefix / "made"))
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"LD_PRELOAD={self.library}\n", result.stdout)
        self.assertIn(f"exec touch {self.prefix / 'made'}\n", result.stdout)
        self.assertFalse((self.prefix / "made").exists())

    def test_exit_status_is_the_programs(self) -> None:
        self.assertEqual(self.run_it("sh", "-c", "exit 5").returncode, 5)

    def test_exit_status_when_it_cannot_run(self) -> None:
        self.assertEqual(self.run_it("no-such-program-here").returncode, 127)
        self.assertEqual(self.run_it(str(self.prefix)).returncode, 126)

    def test_usage(self) -> None:
        self.assertEqual(self.run_it().returncode, 125)
        self.assertEqual(self.run_it("--nonsense", "true").returncode, 125)
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        self.assertIn("usage:", self.run_it("--help").stdout)
        self.assertRegex(self.run_it("--version").stdout, r"^hocket-exec \d+\.\d+\.\d+\n$")

    def make_worker(self, says: str = "echo warning >&2; echo ready >&2") -> Path:
        """A stand-in for hocketd, which notes how it was started; `says`: its last words before it serves."""
        notes = self.prefix / "notes"
        worker = self.prefix / "lib" / "hocket" / "hocketd"
        lines = (
            "#!/bin/sh",
            f'echo "$HOCKET_WORKER $* preload=$LD_PRELOAD" >> {notes}',
            "own=$(readlink /proc/$$/fd/0 /proc/$$/fd/1)",
            f'echo "$own" >> {notes}',
            f"{says}",
        )
        worker.write_text("\n".join(lines) + "\n")
        worker.chmod(0o755)
        return notes

    SHOW_WORKER = ("sh", "-c", 'echo "$HOCKET_WORKER $$"')

    def test_starts_a_worker_and_tells_the_program_where(self) -> None:
        notes = self.make_worker()
        result = self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1")
        entrance, pid = result.stdout.split()
        self.assertRegex(entrance, "^[0-9a-f]{32}:[0-9a-f]{32}$")
        started = notes.read_text().splitlines()
        self.assertEqual(started, [f"{entrance} --for {pid} preload=", "/dev/null", "/dev/null"])
        self.assertEqual(result.stderr, "")

    def test_each_worker_has_a_secret_of_its_own(self) -> None:
        self.make_worker()
        told = [self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1").stdout.split()[0] for _ in range(2)]
        self.assertNotEqual(*(text.partition(":")[0] for text in told))
        self.assertNotEqual(*(text.partition(":")[2] for text in told))

    def test_starts_as_many_workers_as_are_asked_for(self) -> None:
        notes = self.make_worker()
        result = self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="3")
        entrances, pid = result.stdout.split()
        started = [line for line in notes.read_text().splitlines() if line != "/dev/null"]
        self.assertEqual(started, [f"{entrance} --for {pid} preload=" for entrance in entrances.split(",")])
        self.assertEqual(len(set(started)), 3)

    def test_one_worker_for_a_rank_that_comes_twice(self) -> None:
        notes = self.make_worker()
        self.run_it(str(self.launcher), *self.SHOW_WORKER, HOCKET_WORKERS="1")
        self.assertEqual(len(notes.read_text().splitlines()), 3)

    def test_only_local_rank_0_starts_one(self) -> None:
        notes = self.make_worker()
        for variable in ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"):
            self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1", **{variable: "1"})
        self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1", HOCKET_JOB="a:b:1:2")
        self.assertFalse(notes.exists())
        self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1", HOCKET_JOB="a:b:0:2")
        self.assertTrue(notes.exists())

    def test_without_a_wish_there_is_no_worker(self) -> None:
        notes = self.make_worker()
        for wish in ({}, {"HOCKET_WORKERS": "0"}, {"HOCKET_WORKERS": "1", "HOCKET": "off"}):
            result = self.run_it(*self.SHOW_WORKER, HOCKET_WORKER="outer:one", **wish)
            self.assertNotIn(":", result.stdout if "HOCKET" not in wish else "")
        self.assertFalse(notes.exists())

    def test_a_worker_that_cannot_serve_is_said(self) -> None:
        self.make_worker('echo "hocketd: no network" >&2; exit 1')
        result = self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1")
        self.assertIn("no worker process: hocketd: no network", result.stderr)
        self.assertNotIn(":", result.stdout)
        self.assertEqual(result.returncode, 0)

    def test_a_worker_that_ends_without_a_word_is_said(self) -> None:
        self.make_worker("true")
        result = self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1")
        self.assertIn("no worker process: hocketd does not start", result.stderr)

    def test_a_missing_worker_is_said(self) -> None:
        result = self.run_it(*self.SHOW_WORKER, HOCKET_WORKERS="1")
        self.assertIn("no worker process: hocketd is not there", result.stderr)

    def test_arguments_pass_unchanged(self) -> None:
        self.assertEqual(self.run_it("printf", "%s,", "a b", "--dry-run", "").stdout, "a b,--dry-run,,")


if __name__ == "__main__":
    unittest.main()
