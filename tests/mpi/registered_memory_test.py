"""The report says how often memory was registered for a library of SHARP's that is not Hocket's own: here its
own by another name.

usage: registered_memory_test.py --family FAMILY --prefix DIR --hocket-exec PATH --program PATH --library PATH
Beside a switch, where HOCKET_SWITCH says.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from launched import Mpi


def main() -> int:
    parser = argparse.ArgumentParser(description="registered memory in the report")
    parser.add_argument("--family", required=True)
    for option in ("--prefix", "--hocket-exec", "--program", "--library"):
        parser.add_argument(option, type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        other_name = Path(folder) / "libsharp_of_others.so"
        other_name.symlink_to(given.library)
        ended = Mpi(given.family, given.prefix, given.hocket_exec).launch(
            [str(given.program), "1"],
            2,
            environment={
                "HOCKET_SWITCH": os.environ["HOCKET_SWITCH"],
                "HOCKET_SHARP_LIBRARY": str(other_name),
                "HOCKET_ACROSS_NODES": "on",
                "HOCKET_NODE_SIZE": "1",
                "HOCKET_FORCE": "allreduce:in_network",
                "HOCKET_REPORT": "1",
                "TEST_REQUIRES_HOCKET": "1",
            },
        )
    print(ended.output)
    found = "memory was registered" in ended.output and "found registered" in ended.output
    return 0 if ended.status == 0 and found else 1


if __name__ == "__main__":
    sys.exit(main())
