"""Which MPI ABI a program was built for, from the library names in its file."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

# soname -> (ABI family, the MPI of the system that has this very name)
_SONAMES: dict[bytes, str] = {
    b"libmpi.so.40": "ompi",
    b"libmpi_mpifh.so.40": "ompi",
    b"libmpich.so.12": "mpich",
    b"libmpichfort.so.12": "mpich",
    b"libmpi.so.12": "mpich",
    b"libmpifort.so.12": "mpich",
}
_most_bytes = 64 << 20


def _content(program: str) -> bytes:
    path = shutil.which(program)
    if not path:
        return b""
    with Path(path).open("rb") as file:
        content = file.read(_most_bytes)
    return content if content.startswith(b"\x7fELF") else b""


def needed_libraries(program: str) -> list[str]:
    """MPI libraries that the program names; none for scripts and programs that load MPI later."""
    content = _content(program)
    return [name.decode() for name in _SONAMES if b"\0" + name + b"\0" in content]


def family(program: str) -> str | None:
    libraries = needed_libraries(program)
    return _SONAMES[libraries[0].encode()] if libraries else None


def _told_by_loader(program: str) -> str:
    loader, path = shutil.which("ldd"), shutil.which(program)
    if not loader or not path:
        return ""
    try:
        return subprocess.run(
            [loader, path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=20,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def library_file(program: str) -> Path | None:
    """What the loader takes for the first of them here; None where it finds nothing, or cannot be asked."""
    libraries = needed_libraries(program)
    if not libraries:
        return None
    wanted = re.escape(libraries[0])  # libmpi.so.40 => /opt/lib/libmpi.so.40 (0x00007f...)
    found = re.search(rf"^\s*{wanted} => (/.*) \(0x", _told_by_loader(program), re.MULTILINE)
    return Path(found[1]) if found else None


def wants_system_mpich(program: str) -> bool:
    """Debian's MPICH has a soname of its own, which no other MPI of the ABI provides."""
    return any(name.startswith("libmpich") for name in needed_libraries(program))
