"""Reduces a compile_commands.json to one entry per file (tests are compiled once per MPI), in another folder.

Reads names of sources and headers on standard input and prints the sources to look at: those that the
database knows how to compile (code for another processor, for example, is not among them), and for each
header one that includes it. Each is to be compiled without precompiled headers: it includes what it uses.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Collection
from functools import cache
from pathlib import Path

HEADERS = (".h", ".hpp")
FOLDERS = ("src", "include", "tests", "bench", "bindings")
PRECOMPILED = re.compile(r' -Winvalid-pch -include ("[^"]*"|\S+)')


def sources_in(database: Path, folder: Path) -> set[Path]:
    entries: dict[Path, object] = {}
    for entry in json.loads(database.read_text()):
        entry["command"] = PRECOMPILED.sub("", entry["command"])
        entries.setdefault(Path(entry["file"]).resolve(), entry)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    return set(entries)


@cache
def includes() -> dict[str, list[tuple[str, Path]]]:
    """File name -> the paths by which files of that name are included, and who does."""
    found = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in (".c", ".cpp", *HEADERS):
                for name in re.findall(r'(?m)^#include ["<]([^">]+)[">]', path.read_text(errors="replace")):
                    found[Path(name).name].append((f"/{name.removeprefix('../')}", path.resolve()))
    return found


def includers(header: Path) -> list[Path]:
    """Its own source first, if it has one."""
    found = [path for name, path in includes().get(header.name, []) if str(header).endswith(name)]
    return sorted(found, key=lambda path: path.stem != header.stem)


def source_that_includes(header: Path, sources: Collection[Path]) -> Path | None:
    """One that includes it itself if there is one, else through other headers."""
    seen, frontier = {header}, [header]
    while frontier:
        next_ones = [path for reached in frontier for path in includers(reached)]
        for path in next_ones:
            if path in sources:
                return path
        frontier = [path for path in dict.fromkeys(next_ones) if path not in seen]
        seen.update(frontier)
    return None


def main() -> None:
    sources = sources_in(Path(sys.argv[1]), Path(sys.argv[2]))
    chosen: dict[Path, None] = {}
    for name in filter(None, map(str.strip, sys.stdin)):
        path = Path(name).resolve()
        source = source_that_includes(path, sources) if path.suffix in HEADERS else path
        if source in sources:
            chosen[source] = None
    print("\n".join(map(str, chosen)))


if __name__ == "__main__":
    main()
