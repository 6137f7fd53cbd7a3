"""Records as lines of JSON: what comes back, and what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hocket.bench import jsonl
from hocket.bench.jsonl import Kind
from hocket.errors import CommandError


@dataclass(frozen=True)
class Dish:
    name: str
    minutes: int
    grams: float = 0.0
    is_hot: bool = True
    schema: str = "dish-1"


DISHES = Kind(Dish, lambda dish: "" if dish.minutes >= 0 else f"less than no time: {dish.name}")
SOUP, SALAD = Dish("soup", 40, 300.5), Dish("salad", 5, is_hot=False)


def test_records_are_added_to_their_file(tmp_path: Path) -> None:
    file = tmp_path / "new" / "dishes.jsonl"
    DISHES.append(file, [SOUP])
    DISHES.append(file, [SALAD])
    assert DISHES.read(file) == [SOUP, SALAD]
    assert jsonl.schema_of(file) == "dish-1"


def test_whole_numbers_are_times_as_well() -> None:
    assert DISHES.from_dict({"schema": "dish-1", "name": "rice", "minutes": 15, "grams": 90}).grams == 90


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema": "dish-2"}, "schema is 'dish-2', not 'dish-1'"),
        ({"minutes": 1.5}, "field 'minutes' is 1.5"),
        ({"spice": "salt"}, "unknown field 'spice'"),
        ({"minutes": -1}, "less than no time: soup"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    file = tmp_path / "dishes.jsonl"
    DISHES.append(file, [SALAD])
    with file.open("a") as lines:
        lines.write("\n" + json.dumps({**vars(SOUP), **change}) + "\n")
    with pytest.raises(CommandError, match=f"line 3: {what}"):
        DISHES.read(file)


@pytest.mark.parametrize("damage", ["no json", "[]", '{"schema": "dish-1", "name": "half"}'])
def test_what_is_no_record_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "dishes.jsonl").write_text(damage)
    with pytest.raises(CommandError, match="line 1"):
        DISHES.read(tmp_path / "dishes.jsonl")


def test_other_kinds_are_passed_over(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("empty", "others", "dishes")]
    files[0].touch()
    files[1].write_text('{"schema": "drink-1"}\n')
    DISHES.append(files[2], [SOUP])
    assert DISHES.read_all(files) == [SOUP]


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot read"):
        DISHES.read(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="cannot write"):
        DISHES.append(tmp_path / "file" / "below.jsonl", [SOUP])
