"""Bytes, sizes and ranks as people write them."""

from __future__ import annotations

import pytest
from hocket.errors import CommandError
from hocket.quantities import format_bytes, parse_bytes, parse_ranks, parse_sizes


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("8", 8), ("64K", 65536), ("64k", 65536), ("4M", 4 << 20), ("1GiB", 1 << 30), ("2KB", 2048)],
)
def test_bytes_are_read(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "K", "-8", "1.5K", "8X", "8 9", "0x10"])
def test_other_texts_are_refused_by_name(text: str) -> None:
    with pytest.raises(CommandError, match="is not a number of bytes"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (8, "8 B"), (1536, "1536 B"), (2048, "2 KiB"), (4 << 20, "4 MiB")]
)
def test_bytes_are_written_exactly(count: int, text: str) -> None:
    assert format_bytes(count) == text


def test_sizes_are_ranges_and_lists() -> None:
    assert parse_sizes("8..512") == [8, 32, 128, 512]
    assert parse_sizes("8..64:2") == [8, 16, 32, 64]
    assert parse_sizes("4K,8,8") == [8, 4096]
    assert parse_sizes("8,1K..4K:2") == [8, 1024, 2048, 4096]


def test_a_range_ends_where_it_says() -> None:
    assert parse_sizes("8..4M")[-3:] == [512 << 10, 2 << 20, 4 << 20]
    assert parse_sizes("8..64") == [8, 32, 64]
    assert parse_sizes("8..8") == [8]


@pytest.mark.parametrize("text", ["64..8", "8..", "0..8", "8..64:1", "8..64:x", ""])
def test_sizes_without_meaning_are_refused(text: str) -> None:
    with pytest.raises(CommandError):
        parse_sizes(text)


def test_ranks_are_ranges_and_lists() -> None:
    assert parse_ranks("4") == [4]
    assert parse_ranks("2,4,8-10") == [2, 4, 8, 9, 10]


@pytest.mark.parametrize("text", ["0", "3-2", "a", "", "1-", "-1"])
def test_ranks_without_meaning_are_refused(text: str) -> None:
    with pytest.raises(CommandError):
        parse_ranks(text)
