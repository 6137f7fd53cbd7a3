"""Records as files of JSON lines: one object each, of a frozen dataclass with a default `schema`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from hocket.errors import CommandError, why

R = TypeVar("R")
_types: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}


def _anything_goes(_record: Any) -> str:
    return ""


@dataclass(frozen=True)
class Kind(Generic[R]):
    """`refusal` says of a record whose fields have the right types what is wrong with it, else ""."""

    type: type[R]
    refusal: Callable[[R], str] = _anything_goes

    @property
    def schema(self) -> str:
        return str(next(field.default for field in self._fields() if field.name == "schema"))

    def from_dict(self, data: dict[str, Any]) -> R:
        """Throws ValueError naming the field that is wrong."""
        if data.get("schema") != self.schema:
            raise ValueError(f"schema is {data.get('schema')!r}, not {self.schema!r}")
        self._check_types(data)
        try:
            record = self.type(**data)
        except TypeError as problem:
            raise ValueError(str(problem)) from problem
        if wrong := self.refusal(record):
            raise ValueError(wrong)
        return record

    def read(self, path: Path) -> list[R]:
        return read_lines(path, self.from_dict)

    def read_all(self, paths: Iterable[Path]) -> list[R]:
        """Of the files that hold records of this kind."""
        return [record for path in paths if schema_of(path) == self.schema for record in self.read(path)]

    def append(self, path: Path, records: Iterable[R]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.writelines(json.dumps(vars(record)) + "\n" for record in records)
        except OSError as problem:
            raise CommandError(f"cannot write '{path}': {problem.strerror}") from problem

    def _fields(self) -> tuple[dataclasses.Field[Any], ...]:
        return dataclasses.fields(self.type)  # type: ignore[arg-type]

    def _check_types(self, data: dict[str, Any]) -> None:
        types = {field.name: str(field.type) for field in self._fields()}
        for name, value in data.items():
            if name not in types:
                raise ValueError(f"unknown field '{name}'")
            if not isinstance(value, _types[types[name]]):
                raise ValueError(f"field '{name}' is {value!r}")


def read_lines(path: Path, parse: Callable[[dict[str, Any]], R]) -> list[R]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise CommandError(f"cannot read '{path}': {why(problem)}") from problem
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(parse(json.loads(line)))
        except (ValueError, AttributeError) as problem:
            raise CommandError(f"'{path}' line {number}: {problem}") from problem
    return found


def schema_of(path: Path) -> str:
    """Of the first record; an empty file has none."""
    schemas = read_lines(path, lambda data: str(data.get("schema")))
    return schemas[0] if schemas else ""


def beside(out: Path, ending: str) -> Path:
    """Of a file's records of another kind: a file holds one."""
    return out.with_name(f"{out.stem}{ending}{out.suffix}")
