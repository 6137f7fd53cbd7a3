// A library that calls MPI; its file name decides whether it counts as the user's or as the MPI's own.
int MPI_Barrier(void*);
int run(void) {
  return MPI_Barrier((void*)0);
}
