"""Reduces a compile_commands.json to one entry per file (tests are compiled once per MPI), in another folder.

Reads file names on standard input and prints those that the database knows how to compile; code for another
processor, for example, is not among them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    database, folder = Path(sys.argv[1]), Path(sys.argv[2])
    entries: dict[Path, object] = {}
    for entry in json.loads(database.read_text()):
        entries.setdefault(Path(entry["file"]).resolve(), entry)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    names = [line.strip() for line in sys.stdin]
    print("\n".join(name for name in names if name and Path(name).resolve() in entries))


if __name__ == "__main__":
    main()
