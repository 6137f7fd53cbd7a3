"""Rates and delays as `tc` users write them: 100mbit, 2.5gbit, 200us."""

from __future__ import annotations

import re

from hocket.errors import CommandError

_bits = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_microseconds = {"us": 1, "ms": 1000, "s": 10**6}


def _scaled(text: str, units: dict[str, int]) -> int | None:
    matched = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", text.strip().lower())
    if not matched or matched[2] not in units:
        return None
    return round(float(matched[1]) * units[matched[2]])


def parse_rate(text: str) -> int:
    """Bits per second."""
    rate = _scaled(text, _bits)
    if rate is None or not 10**5 <= rate <= 10**11:
        raise CommandError(f"'{text}' is not a rate from 100kbit to 100gbit; write for example 100mbit")
    return rate


def parse_latency(text: str) -> int:
    """Microseconds; 0 is none."""
    if text.strip() == "0":
        return 0
    latency = _scaled(text, _microseconds)
    if latency is None or not 10 <= latency <= 10**5:
        raise CommandError(f"'{text}' is not a delay from 10us to 100ms; write for example 200us")
    return latency


def format_rate(bits: int) -> str:
    for unit, size in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if bits >= size:
            return f"{bits / size:g}{unit}"
    return f"{bits}bit"


def format_latency(microseconds: int) -> str:
    return f"{microseconds / 1000:g}ms" if microseconds >= 1000 else f"{microseconds}us"
