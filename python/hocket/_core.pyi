"""The compiled part; bindings/ is its source."""

from typing import Any

Places = list[tuple[str, list[int]]]

def catalog() -> list[dict[str, Any]]: ...
def fits(
    collective: str, algorithm: str, ranks: int, root: int, parameters: dict[str, int], commutative: bool
) -> bool: ...
def schedule_text(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int,
    parameters: dict[str, int],
    commutative: bool,
    rank: int,
) -> str: ...
def recipe_text(
    collective: str,
    recipe: str,
    ranks: int,
    root: int,
    commutative: bool,
    places: Places,
    rank: int,
) -> str: ...
def schedule(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int,
    parameters: dict[str, int],
    commutative: bool,
    rank: int,
) -> dict[str, Any]: ...
def count(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int,
    parameters: dict[str, int],
    commutative: bool,
    rank: int,
) -> dict[str, int]: ...
def verify(
    collective: str,
    algorithm: str,
    ranks: int,
    root: int,
    parameters: dict[str, int],
    commutative: bool,
    in_place: bool,
) -> str: ...
def recipe_obstacle(
    collective: str, recipe: str, ranks: int, root: int, commutative: bool, places: Places
) -> str: ...
def verify_recipe(
    collective: str,
    recipe: str,
    ranks: int,
    root: int,
    commutative: bool,
    places: Places,
    in_place: bool,
) -> str: ...
def choose(
    *,
    collective: str,
    ranks: int,
    bytes: int,
    sizes_known: bool,
    equal_blocks: bool,
    commutative: bool,
    predefined: bool,
    oversubscribed: bool,
    single_copy: bool,
    across_nodes: bool,
    disable: str,
    force: str,
    rules: str,
    places: Places,
    costs: str,
) -> dict[str, Any]: ...
def cost(collective: str, recipe: str, places: Places, costs: str) -> tuple[float, float] | None: ...
def busiest_link(collective: str, recipe: str, places: Places, boundary: int) -> float | None: ...
def rules(disable: str, force: str, file: str) -> list[str]: ...
def options() -> list[dict[str, str]]: ...
def topology_formats() -> list[str]: ...
def open_topology(named: str, format: str) -> tuple[str, bytes, str]: ...
def read_topology(format: str, text: bytes, origin: str) -> list[tuple[str, str, int]]: ...
def read_sysfs(folder: str, node: str) -> list[tuple[str, str, int]]: ...
def write_topology(vertices: list[tuple[str, str, int]]) -> str: ...
def find_nodes(vertices: list[tuple[str, str, int]], hosts: list[str]) -> list[int | None]: ...
def count_hops(vertices: list[tuple[str, str, int]]) -> dict[int, int]: ...
def hops(vertices: list[tuple[str, str, int]], a: int, b: int) -> int: ...
def count_hops_in_fabric(text: bytes) -> dict[int, int]: ...
def hops_in_fabric(text: bytes, a: int, b: int) -> int: ...
def available_isas() -> list[str]: ...
