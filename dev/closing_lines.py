"""The end of `make test`: what was skipped and why, and the slowest tests, from ctest's own records."""

from __future__ import annotations

import re
import sys
from pathlib import Path

SKIPPED = re.compile(r"Test +#\d+: (\S+) \.*\*\*\*Skipped")
DURATION = re.compile(r"Test +#\d+: (\S+) \.+\** *(?:Passed|Failed|Skipped|Timeout) +([\d.]+) sec")


def reason(name: str, records: str) -> str:
    start = records.find(f" Testing: {name}\n")
    match = re.search(r"SKIPPED:? *(.*)", records[start:]) if start >= 0 else None
    return match.group(1).strip() if match else "no reason given"


def main() -> None:
    build, log = Path(sys.argv[1]), Path(sys.argv[2])
    text = log.read_text(errors="replace")
    records_file = build / "Testing" / "Temporary" / "LastTest.log"
    records = records_file.read_text(errors="replace") if records_file.exists() else ""
    skipped = SKIPPED.findall(text)
    durations = sorted(((float(seconds), name) for name, seconds in DURATION.findall(text)), reverse=True)
    if durations:
        print("slowest: " + ", ".join(f"{name} {seconds:.0f} s" for seconds, name in durations[:5]))
    print(f"skipped: {len(skipped)}")
    for name in skipped:
        print(f"  {name}: {reason(name, records)}")


if __name__ == "__main__":
    main()
