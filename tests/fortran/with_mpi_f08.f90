! mpi_f08: typed handles, requests, sections of arrays, optional error codes, in place, a derived type, an operation of its own.
#define BINDING mpi_f08
#define EXTENSIONS mpi_f08_ext
#define TYPED_HANDLES
#include "requests.inc"

module operations
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine add_twice(earlier, later, count, datatype)
    type(c_ptr), value :: earlier, later
    integer :: count, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: e(:), l(:)
    call c_f_pointer(earlier, e, [count])
    call c_f_pointer(later, l, [count])
    do i = 1, count
      l(i) = 2 * e(i) + l(i)
    end do
  end subroutine
end module

program with_mpi_f08
  use mpi_f08
  use operations
  use requests_of_collectives
  implicit none
  integer :: rank, ranks, i, k, wrong, total
  integer :: matrix(3, 8), column(8), sums(8)
  real(8) :: x(1000), y(1000)
  type(MPI_Comm) :: reversed
  type(MPI_Op) :: operation
  type(MPI_Datatype) :: row

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  wrong = 0
  call MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, reversed)
  do k = 1, 20
    x = [(real(rank + i * k, 8), i = 1, 1000)]
    call MPI_Allreduce(x, y, 1000, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
    if (any(y /= [(real(ranks * (ranks - 1) / 2 + ranks * i * k, 8), i = 1, 1000)])) wrong = wrong + 1
    call MPI_Allreduce(MPI_IN_PLACE, x, 1000, MPI_REAL8, MPI_MIN, reversed)
    if (any(x /= [(real(i * k, 8), i = 1, 1000)])) wrong = wrong + 1
    call MPI_Barrier(reversed)
    i = merge(k, -1, rank == ranks - 1)
    call MPI_Bcast(i, 1, MPI_INTEGER, 0, reversed)
    if (i /= k) wrong = wrong + 1
  end do

  ! a section with gaps, contiguous and strided
  matrix = 0
  matrix(2, :) = [(rank + i, i = 1, 8)]
  column = matrix(2, :)
  call MPI_Allreduce(column, sums, 8, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (any(sums /= [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, 8)])) wrong = wrong + 1
  if (MPI_SUBARRAYS_SUPPORTED) then
    ! (Not in a reduction: MPICH 4.0 sends the wrong elements then, without Hocket as well.)
    call MPI_Bcast(matrix(2, 1:8:2), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (any(matrix(2, 1:8:2) /= [1, 3, 5, 7])) wrong = wrong + 1
    if (any(matrix(2, 2:8:2) /= rank + [2, 4, 6, 8])) wrong = wrong + 1
  end if
  matrix = rank
  call MPI_Type_vector(8, 1, 3, MPI_INTEGER, row)
  call MPI_Type_commit(row)
  call MPI_Bcast(matrix(3, 1), 1, row, ranks - 1, MPI_COMM_WORLD)
  if (any(matrix(3, :) /= ranks - 1) .or. any(matrix(1:2, :) /= rank)) wrong = wrong + 1

  call MPI_Op_create(add_twice, .false., operation)
  i = rank + 1
  call MPI_Allreduce(i, total, 1, MPI_INTEGER, operation, MPI_COMM_WORLD)
  k = 1
  do i = 2, ranks
    k = 2 * k + i
  end do
  if (total /= k) wrong = wrong + 1

  wrong = wrong + check_requests()
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a, i0, a)', 'mpi_f08: ', total, ' wrong'
  call MPI_Op_free(operation)
  call MPI_Type_free(row)
  call MPI_Comm_free(reversed)
  call MPI_Finalize()
  if (total /= 0) stop 1
end program
