"""LogGP parameters: measured of the MPI below, kept in a file, and what predictions are made from."""
