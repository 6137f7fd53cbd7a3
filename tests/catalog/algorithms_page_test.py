"""docs/algorithms.md is what the catalog says: algorithms_page_test.py PROGRAM PAGE."""

import difflib
import subprocess
import sys
from pathlib import Path


def main() -> int:
    program, page = sys.argv[1], Path(sys.argv[2])
    made = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    kept = page.read_text(encoding="utf-8")
    if made == kept:
        return 0
    lines = [text.splitlines(keepends=True) for text in (kept, made)]
    sys.stdout.writelines(difflib.unified_diff(*lines, fromfile=str(page), tofile="catalog"))
    print(f"to renew it: {program} > {page}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
