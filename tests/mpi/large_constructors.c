// Types made by large-count constructors: MPICH tells how they were made only by the large-count form of
// MPI_Type_get_envelope.
#include "mpi/check.h"

enum { most = 4096 };

static int out[most], in[most];

// The data of `count` elements, of `ints` ints each, arrive in the same places.
static void send_around(MPI_Datatype* type, int count, const char* how) {
  MPI_Count lb, extent;
  MPI_Type_commit(type);
  MPI_Type_get_extent_x(*type, &lb, &extent);
  const int span = (int)(count * extent / (MPI_Count)sizeof(int));
  for (int again = 0; again < 3; ++again) {
    context("%s, %d elements", how, count);
    for (int i = 0; i < most; ++i) out[i] = again + i, in[i] = -1;
    int position = 0, packed[most], expected[most];
    MPI_Bcast(check_rank == 0 ? out : in, count, *type, 0, MPI_COMM_WORLD);
    MPI_Pack(out, count, *type, expected, sizeof expected, &position, MPI_COMM_SELF);
    const int bytes = position;
    position = 0;
    MPI_Pack(check_rank == 0 ? out : in, count, *type, packed, sizeof packed, &position, MPI_COMM_SELF);
    CHECK(memcmp(packed, expected, (size_t)bytes) == 0);
    for (int i = span; check_rank != 0 && i < most; ++i) CHECK(in[i] == -1);
  }
  MPI_Type_free(type);
}

static void with_all_counts(void) {
  const MPI_Count lengths[] = {2, 1}, places[] = {0, 8}, apart[] = {4, 0};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  MPI_Datatype type, inner;
  for (int count = 1; count < 600; count *= 8) {
    MPI_Type_contiguous_c(5, MPI_INT, &type);
    send_around(&type, count, "contiguous");
    MPI_Type_vector_c(2, 1, 1, MPI_INT, &type);
    send_around(&type, count, "vector without gaps");
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
    send_around(&type, count, "vector with gaps");
    MPI_Type_create_hvector_c(2, 1, 4, MPI_INT, &type);
    send_around(&type, count, "hvector without gaps");
    MPI_Type_create_hvector_c(2, 1, 8, MPI_INT, &type);
    send_around(&type, count, "hvector with gaps");
    MPI_Type_create_struct_c(2, lengths, places, ints, &type);
    send_around(&type, count, "struct in order");
    MPI_Type_create_struct_c(2, (const MPI_Count[]){1, 1}, apart, ints, &type);
    send_around(&type, count, "struct in another order");
    MPI_Type_contiguous_c(2, MPI_INT, &inner);
    MPI_Type_contiguous_c(2, inner, &type);
    MPI_Type_free(&inner);
    send_around(&type, count, "contiguous of contiguous");
    MPI_Type_contiguous_c(2, MPI_INT, &inner);
    MPI_Type_create_resized_c(inner, 0, 8, &type);
    MPI_Type_free(&inner);
    send_around(&type, count, "resized to what it is");
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  with_all_counts();
  return check_finish("large_constructors");
}
