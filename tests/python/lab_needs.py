"""Whether labs can be made here."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

from hocket.lab import kernel


@cache
def why_no_lab() -> str:
    """ "" where they can."""
    if missing := [
        name for name in ("ip", "tc", "nsenter") if not shutil.which(name, path=kernel.search_path())
    ]:
        return f"{', '.join(missing)} not installed (iproute2, util-linux)"
    users = [] if os.geteuid() == 0 else ["-Ur"]
    tried = subprocess.run(
        ["unshare", *users, "-npumif", "--mount-proc", "true"], capture_output=True, timeout=20, check=False
    )
    return f"namespaces are not allowed: {tried.stderr.decode().strip()}" if tried.returncode else ""
