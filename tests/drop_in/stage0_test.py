"""Stage 0 in front of programs it knows nothing of: a fake MPI of each family, and processes without any MPI.

usage: stage0_test.py LIBHOCKET SOURCE_ROOT [unittest arguments]
The fakes are compiled here, each test then runs them as processes of their own with LD_PRELOAD set.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
HERE = ROOT / "tests" / "drop_in"
FAMILIES = {  # folder: (soname, macro, family)
    "openmpi": ("libmpi.so.40", "-DFAKE_OPEN_MPI", "ompi"),
    "mpich": ("libmpi.so.12", "-DFAKE_OTHER", "mpich"),
    "debian_mpich": ("libmpich.so.12", "-DFAKE_OTHER", "mpich"),
    "cray": ("libmpi_cray.so.1", "-DFAKE_MPICH", "mpich"),
    "standard": ("libmpi_abi.so.1", "-DFAKE_MPICH", "abi"),
    "unknown": ("libmpi.so.7", "-DFAKE_OTHER", None),
}


def compile_c(source: str, output: Path, *flags: str) -> Path:
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [
        os.environ.get("CC", "cc"),
        "-O1",
        "-w",
        "-D_GNU_SOURCE",
        f"-I{ROOT}/src",
        str(HERE / source),
        "-o",
        str(output),
    ]
    subprocess.run([*command, *flags], check=True)
    return output


def build(folder: Path) -> None:
    shared = ("-shared", "-fPIC")
    for name, (soname, macro, _) in FAMILIES.items():
        mpi = compile_c("fake_mpi.c", folder / name / soname, *shared, macro, f"-Wl,-soname,{soname}")
        compile_c(
            "fake_app.c", folder / name / "app", "-pthread", "-ldl", str(mpi), f"-Wl,-rpath,{mpi.parent}"
        )
    mpi = folder / "openmpi" / "libmpi.so.40"
    against = (*shared, str(mpi), f"-Wl,-rpath,{mpi.parent}")
    for name in ("user.so", "mca_io.so", "libmpi_mpifh.so", "libopen-rte.so"):
        compile_c("fake_caller.c", folder / "callers" / name, *against)
    compile_c(
        "fake_app.c",
        folder / "openmpi" / "app_static",
        "-pthread",
        "-ldl",
        "-no-pie",
        str(mpi),
        f"-Wl,-rpath,{mpi.parent}",
    )
    compile_c(
        "fake_app.c",
        folder / "openmpi" / "app_now",
        "-pthread",
        "-ldl",
        "-Wl,-z,now,-z,relro",
        str(mpi),
        f"-Wl,-rpath,{mpi.parent}",
    )
    # a program without MPI which loads one out of the global scope, as Python does with mpi4py
    compile_c("fake_host.c", folder / "local" / "host", "-ldl")
    compile_c("fake_tool.c", folder / "tool.so", *shared)
    for family in ("ompi", "mpich", "abi"):
        compile_c("fake_plugin.c", folder / "with" / f"libhocket_{family}.so", *shared, "-ldl")
    compile_c("fake_caller.c", folder / "empty" / "libhocket_ompi.so", *shared)
    for where in ("with", "without", "broken", "empty"):
        (folder / where).mkdir(exist_ok=True)
        shutil.copy(LIBRARY, folder / where / "libhocket.so")
    (folder / "broken" / "libhocket_ompi.so").write_text("not a library")


class Stage0(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory(prefix="hocket-stage0-")
        cls.folder = Path(cls.scratch.name)
        build(cls.folder)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.cleanup()

    def run_preloaded(
        self,
        *command: object,
        plugin: str = "with",
        before: tuple[Path, ...] = (),
        after: tuple[Path, ...] = (),
        **settings: str,
    ) -> subprocess.CompletedProcess[str]:
        preload = ":".join(str(p) for p in (*before, self.folder / plugin / "libhocket.so", *after))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOCKET")}
        environment |= {"LD_PRELOAD": preload, "LC_ALL": "C", **settings}
        return subprocess.run(
            [str(c) for c in command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def answer(self, *command: object, plugin: str = "with", **how: object) -> str:
        """What it prints. On standard error, only a plugin that cannot be loaded is worth a line."""
        done = self.run_preloaded(*command, plugin=plugin, **how)  # type: ignore[arg-type]
        complaint = (
            ""
            if plugin == "with"
            else r"hocket: pass-through: the plugin cannot be loaded: \S*libhocket_.*\n"
        )
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, f"^{complaint}$", done)
        return done.stdout.strip()

    def app(self, *what: object, mpi: str = "openmpi", binary: str = "app", **how: object) -> str:
        return self.answer(self.folder / mpi / binary, *what, **how)

    # -- processes without MPI

    def test_processes_without_mpi_inherit_the_preload_and_work(self) -> None:
        self.assertEqual(self.answer("/bin/true"), "")
        self.assertEqual(self.answer("bash", "-c", "true; echo $(echo inner | cat)"), "inner")
        self.assertEqual(
            self.answer(
                sys.executable, "-c", "import ctypes, subprocess; subprocess.run(['true']); print(6*7)"
            ),
            "42",
        )

    def test_asking_for_the_status_before_any_call_does_not_attach(self) -> None:
        self.assertIn("idle", self.app("idle"))

    # -- which MPI

    def test_the_family_is_recognised(self) -> None:
        for name, (soname, _, family) in FAMILIES.items():
            with self.subTest(name):
                expected = "attached: " if family else "pass-through: unknown kind of MPI: "
                self.assertEqual(self.app(mpi=name), f"{expected}{self.folder}/{name}/{soname}")

    def test_each_family_gets_its_own_plugin(self) -> None:
        for name, (_, _, family) in FAMILIES.items():
            with self.subTest(name):
                if family:
                    self.assertIn(f"libhocket_{family}.so", self.app(mpi=name, plugin="without"))

    def test_an_mpi_outside_the_global_scope_is_found(self) -> None:
        for caller, expected in (("user.so", "1001"), ("libmpi_mpifh.so", "1001"), ("mca_io.so", "2001")):
            with self.subTest(caller):
                self.assertEqual(
                    self.answer(self.folder / "local" / "host", self.folder / "callers" / caller), expected
                )
                self.assertEqual(
                    self.answer(
                        self.folder / "local" / "host", self.folder / "callers" / caller, plugin="without"
                    ),
                    "1",
                )

    # -- calls

    def test_arguments_survive_the_first_call(self) -> None:
        plain = subprocess.run(
            [self.folder / "openmpi" / "app", "registers"], capture_output=True, text=True, check=True
        )
        for plugin in ("with", "without"):
            self.assertEqual(self.app("registers", plugin=plugin), plain.stdout.strip())
            self.assertEqual(self.app("variadic", plugin=plugin), "15")

    def test_both_names_are_caught_and_the_mpis_own_calls_are_told_apart(self) -> None:
        self.assertEqual(self.app("barrier"), "1001 1002 2003")
        self.assertEqual(self.app("barrier", binary="app_static"), "1001 1002 2003")

    def test_callers_are_told_apart_by_library(self) -> None:
        callers = self.folder / "callers"
        results = self.app(
            "libraries", *(callers / n for n in ("user.so", "mca_io.so", "libmpi_mpifh.so", "libopen-rte.so"))
        )
        self.assertEqual([r.split(":")[0] for r in results.split()], ["1", "2", "1", "2"])

    def test_a_library_in_the_place_of_an_unloaded_one_is_judged_by_itself(self) -> None:
        callers = self.folder / "callers"
        order = ("-user.so", "-mca_io.so", "-user.so", "-libopen-rte.so")
        results = [
            r.split(":") for r in self.app("libraries", *(f"-{callers / n[1:]}" for n in order)).split()
        ]
        self.assertEqual([kind for kind, _ in results], ["1", "2", "1", "2"])
        if len({address for _, address in results}) == len(results):
            self.skipTest("the loader never reused an address")

    def test_threads_racing_the_first_call_all_reach_the_plugin(self) -> None:
        for _ in range(10):
            self.assertEqual(self.app("threads", FAKE_PLUGIN_COUNTS_ONLY=""), "0 " * 7 + "0")
            self.assertEqual(self.app("threads"), "1 " * 7 + "1")

    def test_a_plugin_whose_constructor_calls_mpi_reaches_the_mpi(self) -> None:
        self.assertEqual(self.app("barrier", FAKE_PLUGIN_EARLY="1"), "1002 1003 2004")

    # -- when there is nothing to attach

    def test_switched_off_means_untouched(self) -> None:
        for value in ("off", "OFF", "0", "no", "false"):
            self.assertEqual(self.app("barrier", HOCKET=value), "1 2 3")
        self.assertEqual(self.app(HOCKET="off"), "off: HOCKET=off")

    def test_a_missing_plugin_means_pass_through(self) -> None:
        self.assertEqual(self.app("barrier", plugin="without"), "1 2 3")
        self.assertIn("cannot be loaded", self.app(plugin="without"))

    def test_a_broken_plugin_means_pass_through(self) -> None:
        self.assertEqual(self.app("barrier", plugin="broken"), "1 2 3")
        self.assertIn("cannot be loaded", self.app(plugin="broken"))

    def test_a_plugin_without_its_entry_means_pass_through(self) -> None:
        done = self.run_preloaded(self.folder / "openmpi" / "app", "barrier", plugin="empty")
        self.assertEqual(done.stdout.strip(), "1 2 3")
        self.assertIn("hocket: pass-through: the plugin has no hocket_plugin_attach", done.stderr)

    def test_only_processes_that_call_mpi_complain_and_none_that_is_switched_off(self) -> None:
        for command, settings in (
            (["/bin/true"], {}),
            (["bash", "-c", "true; echo $(echo inner | cat)"], {}),
            ([self.folder / "openmpi" / "app", "idle"], {}),
            ([self.folder / "openmpi" / "app", "barrier"], {"HOCKET": "off"}),
        ):
            self.assertEqual(self.run_preloaded(*command, plugin="without", **settings).stderr, "")

    def test_who_asks_for_a_report_is_told_of_an_unknown_mpi_by_the_first_rank(self) -> None:
        app, line = self.folder / "unknown" / "app", "hocket: pass-through: unknown kind of MPI: "
        told = f"{line}{self.folder}/unknown/libmpi.so.7\n"
        for settings, expected in (
            ({}, ""),
            ({"HOCKET_VERBOSE": "0", "HOCKET_REPORT": ""}, ""),
            ({"HOCKET_VERBOSE": "1"}, told),
            ({"HOCKET_REPORT": "1"}, told),
            ({"HOCKET_REPORT": "/tmp/some.file", "PMI_RANK": "0"}, told),
            ({"HOCKET_REPORT": "1", "PMI_RANK": "3"}, ""),
            ({"HOCKET_REPORT": "1", "OMPI_COMM_WORLD_RANK": "1"}, ""),
            ({"HOCKET_REPORT": "1", "HOCKET": "off"}, ""),
        ):
            with self.subTest(settings):
                done = self.run_preloaded(app, "barrier", **settings)
                self.assertEqual(done.stdout.strip(), "1 2 3")
                self.assertEqual(done.stderr, expected)

    def test_a_declining_plugin_means_pass_through(self) -> None:
        self.assertEqual(self.app("barrier", FAKE_PLUGIN="decline"), "1 2 3")
        self.assertIn("declined", self.app(FAKE_PLUGIN="decline"))

    # -- functions that the MPI does not have

    def test_what_the_mpi_lacks_reads_as_not_exported(self) -> None:
        for binary in ("app", "app_static", "app_now"):
            with self.subTest(binary):
                self.assertEqual(self.app("weak", binary=binary), "1 0 0 0 77")
                self.assertEqual(self.app("weak", binary=binary, HOCKET="off"), "1 0 0 0 0")

    def test_calling_what_the_mpi_lacks_ends_as_the_loader_would_end_it(self) -> None:
        done = self.run_preloaded(self.folder / "openmpi" / "app", "missing")
        self.assertEqual(done.returncode, 127)
        self.assertIn("undefined symbol: MPI_Session_init", done.stderr)

    # -- other tools

    def test_a_tool_before_us_and_hocket_see_each_call_once(self) -> None:
        lines = self.app("barrier", before=(self.folder / "tool.so",)).split("\n")
        # the tool's own call comes from the tool, hence from the user's side, whoever called the tool
        self.assertEqual(lines, ["1001 1002 1003", "tool 2"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
