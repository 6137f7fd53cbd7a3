#!/usr/bin/env python3
"""The include checker notices what it should: a small tree with one offence of each kind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def check(files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copy(HERE.parents[1] / "layers.toml", root)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        command = [sys.executable, str(HERE / "check_layers.py"), "--root", folder]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class CheckLayers(unittest.TestCase):
    def assert_offence(self, name: str, text: str, where: str) -> None:
        result = check({name: text})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(where, result.stdout)

    def test_downward_is_fine(self) -> None:
        result = check(
            {"src/engine/a.cpp": '#include "ir/schedule.hpp"\n#include <vector>\n#include "engine/b.hpp"\n'}
        )
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_upward_is_named_with_its_line(self) -> None:
        self.assert_offence("src/ir/a.cpp", '\n#include "engine/engine.hpp"\n', "src/ir/a.cpp:2:")

    def test_executors_see_only_the_contract(self) -> None:
        contract = check({"src/executors/a.cpp": '#include "transports/transport.hpp"\n'})
        self.assertEqual(contract.returncode, 0, contract.stdout)
        self.assert_offence(
            "src/executors/a.cpp", '#include "transports/shm/arena.hpp"\n', "src/executors/a.cpp:1:"
        )

    def test_mpi_header_stays_at_the_edge(self) -> None:
        self.assert_offence("src/base/a.cpp", "#include <mpi.h>\n", "src/base/a.cpp:1: mpi.h only in")
        self.assertEqual(check({"src/interpose/plugin/a.cpp": "#include <mpi.h>\n"}).returncode, 0)

    def test_ucx_stays_in_the_worker(self) -> None:
        self.assert_offence(
            "src/transports/a.cpp",
            "#include <ucp/api/ucp.h>\n",
            "src/transports/a.cpp:1: ucp/api/ucp.h only in",
        )
        result = check({"src/worker/a.cpp": '#include <ucp/api/ucp.h>\n#include "engine/engine.hpp"\n'})
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assert_offence("src/interpose/a.cpp", '#include "worker/fabric.hpp"\n', "src/interpose/a.cpp:1:")

    def test_libraries_are_forbidden(self) -> None:
        self.assert_offence("src/base/a.cpp", "#include <hwloc.h>\n", "hwloc.h is forbidden")

    def test_unknown_module(self) -> None:
        self.assert_offence("src/utils/a.cpp", "\n", "module utils is not in layers.toml")


if __name__ == "__main__":
    unittest.main()
