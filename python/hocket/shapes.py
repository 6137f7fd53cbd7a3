"""MPI's collectives and the shapes by which the catalog knows them: v-forms have unequal blocks."""

from __future__ import annotations

from dataclasses import dataclass

from hocket.errors import unknown


@dataclass(frozen=True)
class Shape:
    collective: str  # name in the catalog
    sizes_known: bool = True
    equal_blocks: bool = True
    rooted: bool = False
    reduction: bool = False
    vector: bool = False


SHAPES: dict[str, Shape] = {
    "barrier": Shape("barrier"),
    "bcast": Shape("bcast", rooted=True, vector=True),
    "reduce": Shape("reduce", rooted=True, reduction=True, vector=True),
    "allreduce": Shape("allreduce", reduction=True, vector=True),
    "gather": Shape("gather", rooted=True),
    "gatherv": Shape("gather", sizes_known=False, equal_blocks=False, rooted=True),
    "scatter": Shape("scatter", rooted=True),
    "scatterv": Shape("scatter", sizes_known=False, equal_blocks=False, rooted=True),
    "allgather": Shape("allgather"),
    "allgatherv": Shape("allgather", equal_blocks=False),
    "alltoall": Shape("alltoall"),
    "alltoallv": Shape("alltoall", sizes_known=False, equal_blocks=False),
    "reduce_scatter": Shape("reduce_scatter", equal_blocks=False, reduction=True),
    "reduce_scatter_block": Shape("reduce_scatter", reduction=True),
    "scan": Shape("scan", reduction=True, vector=True),
    "exscan": Shape("exscan", reduction=True, vector=True),
}


def shape_of(function: str) -> Shape:
    if function not in SHAPES:
        raise unknown("collective", function, SHAPES)
    return SHAPES[function]
