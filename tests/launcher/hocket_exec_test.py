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

    def test_arguments_pass_unchanged(self) -> None:
        self.assertEqual(self.run_it("printf", "%s,", "a b", "--dry-run", "").stdout, "a b,--dry-run,,")


if __name__ == "__main__":
    unittest.main()
