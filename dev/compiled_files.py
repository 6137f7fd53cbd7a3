"""Of the file names on standard input, those that a compile_commands.json says how to compile."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    database = Path(sys.argv[1])
    known = {Path(entry["file"]).resolve() for entry in json.loads(database.read_text())}
    for line in sys.stdin:
        path = Path(line.strip())
        if path.resolve() in known:
            print(path)


if __name__ == "__main__":
    main()
