"""Side-by-side measurements of Hocket and the MPI below; docs/benchmark.md says what the numbers mean."""
