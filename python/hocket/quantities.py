"""Bytes, sizes and ranks as people write them: 64K, 8..4M, 1-33."""

from __future__ import annotations

import re

from hocket.errors import CommandError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_bytes(text: str) -> int:
    """64, 64K, 2M, 1G (powers of 1024; KiB and KB are accepted too)."""
    matched = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not matched:
        raise CommandError(f"'{text}' is not a number of bytes; write for example 512, 64K or 4M")
    return int(matched[1]) * _UNITS[matched[2].upper()]


def format_bytes(count: int) -> str:
    for unit in ("G", "M", "K"):
        if count and count % _UNITS[unit] == 0:
            return f"{count // _UNITS[unit]} {unit}iB"
    return f"{count} B"


def _steps(first: int, last: int, factor: int) -> list[int]:
    if first < 1 or factor < 2 or last < first:
        raise CommandError(f"no sizes from {first} to {last} in steps of x{factor}")
    sizes = []
    while first < last:
        sizes.append(first)
        first *= factor
    return [*sizes, last]


def parse_sizes(text: str, factor: int = 4) -> list[int]:
    """8,64,4K or 8..4M (each `factor` times the one before, and the last) or 8..4M:2 (another factor)."""
    sizes: set[int] = set()
    for word in text.split(","):
        if ".." not in word:
            sizes.add(parse_bytes(word))
            continue
        first, _, rest = word.partition("..")
        last, _, step = rest.partition(":")
        if step and not step.isdigit():
            raise CommandError(f"'{step}' in '{word}' is not a whole factor")
        sizes.update(_steps(parse_bytes(first), parse_bytes(last), int(step) if step else factor))
    return sorted(sizes)


def parse_ranks(text: str) -> list[int]:
    """4 or 1-33 or 2,4,8-16."""
    ranks: set[int] = set()
    for word in text.split(","):
        matched = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", word)
        if not matched:
            raise CommandError(f"'{word}' is not a number of ranks; write for example 4 or 1-33 or 2,4,8")
        first = int(matched[1])
        last = int(matched[2] or first)
        if first < 1 or last < first:
            raise CommandError(f"'{word}' holds no number of ranks")
        ranks.update(range(first, last + 1))
    return sorted(ranks)
