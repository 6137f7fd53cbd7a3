#!/usr/bin/env python3
"""Checks the #include lines of the tree against layers.toml and names every offence as file:line."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".c", ".h", ".cpp", ".hpp", ".S", ".def", ".inc"}
FOLDERS = ("src", "include", "apps", "bench", "bindings", "tests")


def includes(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2)


def sources(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.suffix in SOURCES)


def module_of(path: Path, root: Path) -> str | None:
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def module_offence(module: str, header: str, modules: dict[str, list[str]]) -> str | None:
    target = header.partition("/")[0]
    if "/" not in header or target not in modules or target == module:
        return None
    allowed = modules.get(module, [])
    if target in allowed or header in allowed:
        return None
    return (
        f"{module} must not include {header} (layers.toml allows {module}: {', '.join(allowed) or 'nothing'})"
    )


def restricted_offence(path: Path, root: Path, header: str, restricted: dict[str, list[str]]) -> str | None:
    folders = restricted.get(header)
    if folders is None or any(path.is_relative_to(root / folder) for folder in folders):
        return None
    return f"{header} only in {', '.join(folders)}"


def offences(root: Path, rules: dict[str, Any]) -> Iterator[str]:
    modules = rules["modules"]
    for path in sources(root):
        module = module_of(path, root)
        if module is not None and module not in modules:
            yield f"{path.relative_to(root)}:1: module {module} is not in layers.toml"
            continue
        for line, header in includes(path):
            found = [restricted_offence(path, root, header, rules["restricted"])]
            if module is not None:
                found.append(module_offence(module, header, modules))
                if header.startswith(tuple(rules["forbidden"]["headers"])):
                    found.append(f"{header} is forbidden in src/")
            yield from (f"{path.relative_to(root)}:{line}: {text}" for text in found if text)


def cycle(modules: dict[str, list[str]]) -> list[str]:
    """A chain of modules that includes itself, or nothing: the picture has to stay a picture."""

    def visit(module: str, trail: list[str]) -> list[str]:
        if module in trail:
            return [*trail, module]
        for target in modules[module]:
            found = visit(target.partition("/")[0], [*trail, module])
            if found:
                return found
        return []

    return next((found for module in modules if (found := visit(module, []))), [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    rules = tomllib.loads((root / "layers.toml").read_text())
    problems = list(offences(root, rules))
    if loop := cycle(rules["modules"]):
        problems.append(f"layers.toml: {' -> '.join(loop)} is a cycle")
    print("\n".join([*problems, f"{len(list(sources(root)))} files, {len(problems)} offences"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
