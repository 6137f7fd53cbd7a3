"""An object compiled for one instruction set must not define a symbol that another object may share.

Otherwise the linker could keep, say, the AVX-512 copy of an inline function for the whole program, which then
ends with an illegal instruction on older processors. Usage: kernels_objects_test.py LIBRARY.a
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

OBJECT = re.compile(r"^(isa_(\w+)\.cpp\.o):$")


def foreign_symbols(listing: str) -> tuple[int, list[str]]:
    """Counts the objects in nm's listing, and names symbols that are not the object's own."""
    objects = 0
    foreign: list[str] = []
    isa = ""
    for line in listing.splitlines():
        member = OBJECT.match(line)
        if member:
            objects += 1
            isa = member[2]
        elif line.endswith(":"):
            isa = ""
        elif isa and line.strip():
            symbol = line.split(maxsplit=2)[2]
            if f"isa_{isa}" not in symbol and f"table_{isa}" not in symbol and "DW.ref" not in symbol:
                foreign.append(f"isa_{isa}: {symbol}")
    return objects, foreign


def main() -> int:
    nm = shutil.which("nm")
    if nm is None:
        print("SKIPPED: nm is missing (apt-get install binutils)")
        return 77
    command = [nm, "--defined-only", "--extern-only", sys.argv[1]]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    objects, foreign = foreign_symbols(listing)
    print(f"{objects} objects, {len(foreign)} shared symbols", *foreign, sep="\n")
    return 0 if objects > 0 and not foreign else 1


if __name__ == "__main__":
    sys.exit(main())
