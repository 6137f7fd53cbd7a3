"""What messages cost in a lab, as HOCKET_COSTS: by its rates and latency, and how long its ranks nap."""

from __future__ import annotations

from hocket.lab import batches
from hocket.lab.shape import Shape

_frame, _headers = 14, 52  # Ethernet's around a packet; IP's and TCP's, with time stamps, in it
_startup_us, _message_us = 150.0, 20.0  # of a message of 8 bytes; all ranks share few cores (src/lab/yield.c)
_memory_us_per_kib = 0.3
_ticks = 1.5  # of a delayed link's timer, until a message that came at any time has gone and was seen
_both_ways = 1.2  # acknowledgements wait in the queue behind what goes the same way


def efficiency(latency_us: int) -> float:
    """What is left of a link's rate for payload. Links with a latency have large packets (batches.py)."""
    mtu = batches.packets(latency_us).mtu
    return (mtu - _headers) / (mtu + _frame)


def text(shape: Shape) -> str:
    def us_per_kib(rate: int) -> float:
        return 8e6 * 1024 / (rate * efficiency(shape.latency_us))

    links = [shape.rate, shape.uplink, *([shape.core] if shape.levels == 3 else [])]
    lines = [f"node {_startup_us} {_message_us} {_memory_us_per_kib}"]
    for switches, rate in enumerate(links):  # that a message comes down to, with a latency each
        name = "switches" if switches else "leaf"
        startup = _startup_us + _ticks * switches * shape.latency_us
        one_way = us_per_kib(rate)
        lines.append(f"{name} {startup} {_message_us} {one_way:.4f} {_both_ways * one_way:.4f}")
    return "\n".join(lines) + "\n"
