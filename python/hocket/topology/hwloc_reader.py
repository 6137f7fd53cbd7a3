"""Reads XML of hwloc from standard input, in a process of its own: hwloc itself ends with a signal on some
damaged files, such as one that is cut off in the version.

usage: python -m hocket.topology.hwloc_reader ORIGIN, which prints {"vertices": [...]} or {"problem": "..."}
"""

from __future__ import annotations

import json
import sys

from hocket.topology import hwloc


def main() -> None:
    try:
        told = {"vertices": hwloc.needed().read_xml(sys.stdin.buffer.read(), sys.argv[1])}
    except RuntimeError as problem:
        told = {"problem": str(problem)}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
