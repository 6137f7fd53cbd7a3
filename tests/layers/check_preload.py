#!/usr/bin/env python3
"""Checks the libraries that are preloaded into user programs, as built.

They need nothing but libc, refer to no MPI symbol (data references would kill any other process that inherits
the preload), export only MPI names and hocket_*, and run on the floor glibc.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LIBRARIES = {
    "libhocket.so",
    "libhocket_ompi.so",
    "libhocket_mpich.so",
    "libhocket_abi.so",
    "libhocket_lab.so",
    "libhocket_heap.so",
}
NEEDED = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d|ld-linux.*\.so\.\d")
MPI_NAME = re.compile(r"P?MPI_|MPIX_|ompi_|MPIR_|opal_", re.IGNORECASE)
EXPORTS = {
    "libhocket.so": re.compile(r"P?MPIX?_\w+|hocket_\w+"),
    "libhocket_lab.so": re.compile("sched_yield"),
    "libhocket_heap.so": re.compile(
        "malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign|p?valloc|malloc_usable_size|hocket_heap_shape"
    ),
}
PLUGIN_EXPORTS = re.compile(r"hocket_\w+")
FLOOR_GLIBC = (2, 36)  # Debian 12, where releases are built


def readelf(*arguments: str) -> list[str]:
    return subprocess.run(
        ["readelf", "-W", *arguments], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def needed(path: Path) -> list[str]:
    return [line.split("[")[1].rstrip("]") for line in readelf("-d", str(path)) if "(NEEDED)" in line]


def symbols(path: Path) -> tuple[list[str], list[str]]:
    """(undefined, exported) names of the dynamic symbol table, versions kept."""
    undefined, exported = [], []
    for line in readelf("--dyn-syms", str(path)):
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[4] == "LOCAL":
            continue
        (undefined if fields[6] == "UND" else exported).append(fields[7])
    return undefined, exported


def glibc_of(symbol: str) -> tuple[int, ...]:
    match = re.search(r"@GLIBC_(\d+)\.(\d+)", symbol)
    return tuple(map(int, match.groups())) if match else (0, 0)


def problems(path: Path) -> list[str]:
    undefined, exported = symbols(path)
    allowed = EXPORTS.get(path.name, PLUGIN_EXPORTS)
    found = [f"needs {name}" for name in needed(path) if not NEEDED.fullmatch(name)]
    found += [f"refers to {name}" for name in undefined if MPI_NAME.match(name)]
    found += [f"exports {name}" for name in exported if not allowed.fullmatch(name.partition("@")[0])]
    found += [
        f"needs a newer glibc than {FLOOR_GLIBC}: {name}"
        for name in undefined
        if glibc_of(name) > FLOOR_GLIBC
    ]
    found += [
        "has an executable stack"
        for line in readelf("-l", str(path))
        if "GNU_STACK" in line and "RWE" in line
    ]
    found += ["has text relocations" for line in readelf("-d", str(path)) if "(TEXTREL)" in line]
    return found


def main() -> int:
    folder = Path(sys.argv[1])
    failed = False
    for name in sorted(LIBRARIES):
        path = folder / name
        found = problems(path) if path.exists() else ["is missing"]
        failed |= bool(found)
        print(f"{name}: {'; '.join(found) or 'ok, needs ' + ', '.join(needed(path))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
