"""The algorithms that an MPI can be forced to take, and how each family of MPIs is told."""

from __future__ import annotations

# The number, or the word.
ALGORITHMS: dict[str, dict[str, dict[str, str]]] = {
    "ompi": {
        "barrier": {"linear": "1", "recursive_doubling": "3", "bruck": "4", "tree": "6"},
        "bcast": {"chain": "2", "pipeline": "3", "binary": "5", "binomial": "6", "scatter_allgather": "8"},
        "reduce": {"chain": "2", "pipeline": "3", "binary": "4", "binomial": "5", "rabenseifner": "7"},
        "allreduce": {
            **{"linear": "1", "nonoverlapping": "2", "recursive_doubling": "3", "ring": "4"},
            **{"segmented_ring": "5", "rabenseifner": "6"},
        },
        "gather": {"linear": "1", "binomial": "2", "linear_sync": "3"},
        "scatter": {"linear": "1", "binomial": "2", "linear_nb": "3"},
        "allgather": {"bruck": "2", "recursive_doubling": "3", "ring": "4", "neighbor": "5"},
        "alltoall": {"linear": "1", "pairwise": "2", "bruck": "3", "linear_sync": "4"},
        "alltoallv": {"linear": "1", "pairwise": "2"},
    },
    "mpich": {
        "barrier": {"dissemination": "k_dissemination"},
        "bcast": {"binomial": "binomial", "scatter_allgather": "scatter_ring_allgather"},
        "reduce": {"binomial": "binomial", "rabenseifner": "reduce_scatter_gather"},
        "allreduce": {
            **{"recursive_doubling": "recursive_doubling", "ring": "ring"},
            "rabenseifner": "reduce_scatter_allgather",
        },
        "gather": {"binomial": "binomial"},
        "scatter": {"binomial": "binomial"},
        "allgather": {"bruck": "brucks", "recursive_doubling": "recursive_doubling", "ring": "ring"},
        "alltoall": {"bruck": "brucks", "pairwise": "pairwise", "scattered": "scattered"},
        "alltoallv": {"scattered": "scattered"},
    },
}

# Of the MPIs that have a name
_FAMILIES = {"openmpi": "ompi", "debian": "ompi", "mpich": "mpich", "debian-mpich": "mpich", "intel": "mpich"}


def of_mpi(name: str, collective: str) -> dict[str, str]:
    """Which it can be forced to take; none of an MPI that has no name."""
    return ALGORITHMS.get(_FAMILIES.get(name, ""), {}).get(collective, {})


def forced(family: str, collective: str, name: str) -> dict[str, str]:
    """The variables that make the MPI take that algorithm; none for its own choice."""
    if not name:
        return {}
    value = ALGORITHMS[family][collective][name]
    if family == "mpich":
        return {f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": value}
    return {
        "OMPI_MCA_coll_han_priority": "0",  # or it is asked first, and takes algorithms of its own
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        f"OMPI_MCA_coll_tuned_{collective}_algorithm": value,
    }
