! mpif.h: old-style calls, non-blocking, in place, MPI_BOTTOM with absolute addresses, a derived type, an operation written in Fortran.
#include "requests.inc"

program with_mpif_h
  use requests_of_collectives
  implicit none
  include 'mpif.h'
  integer :: code, rank, ranks, i, k, wrong, total
  integer :: vector, absolute, operation, lengths(2), kinds(2)
  integer(kind=mpi_address_kind) :: places(2)
  integer :: a(4), b(4), strided(2, 5), got(5)
  double precision :: x(1000), y(1000)
  logical :: flag, all_flags
  external :: add_twice

  call mpi_init(code)
  call mpi_comm_rank(mpi_comm_world, rank, code)
  call mpi_comm_size(mpi_comm_world, ranks, code)
  wrong = 0
  do k = 1, 20
    do i = 1, 1000
      x(i) = rank + i * k
    end do
    call mpi_allreduce(x, y, 1000, mpi_double_precision, mpi_sum, mpi_comm_world, code)
    do i = 1, 1000
      if (y(i) /= ranks * (ranks - 1) / 2 + ranks * i * k) wrong = wrong + 1
    end do
    call mpi_allreduce(mpi_in_place, x, 1000, mpi_double_precision, mpi_max, mpi_comm_world, code)
    if (x(7) /= ranks - 1 + 7 * k) wrong = wrong + 1
    call mpi_barrier(mpi_comm_world, code)
  end do

  ! addresses relative to MPI_BOTTOM, different variables in one type
  a = -1
  b = -1
  if (rank == 0) then
    a = 11
    b = 22
  end if
  call mpi_get_address(a, places(1), code)
  call mpi_get_address(b, places(2), code)
  lengths = 4
  kinds = mpi_integer
  call mpi_type_create_struct(2, lengths, places, kinds, absolute, code)
  call mpi_type_commit(absolute, code)
  call mpi_bcast(mpi_bottom, 1, absolute, 0, mpi_comm_world, code)
  if (any(a /= 11) .or. any(b /= 22)) wrong = wrong + 1

  ! one row of a column-major array on one side, contiguous on the other
  call mpi_type_vector(5, 1, 2, mpi_integer, vector, code)
  call mpi_type_commit(vector, code)
  strided = 0
  got = 0
  do i = 1, 5
    strided(2, i) = 100 * rank + i
  end do
  if (rank == 0) then
    call mpi_bcast(strided(2, 1), 1, vector, 0, mpi_comm_world, code)
  else
    call mpi_bcast(got, 5, mpi_integer, 0, mpi_comm_world, code)
    do i = 1, 5
      if (got(i) /= i) wrong = wrong + 1
    end do
  end if

  ! a user's operation, not commutative: the order is the ranks'
  call mpi_op_create(add_twice, .false., operation, code)
  k = rank + 1
  call mpi_allreduce(k, total, 1, mpi_integer, operation, mpi_comm_world, code)
  k = 1
  do i = 2, ranks
    k = 2 * k + i
  end do
  if (total /= k) wrong = wrong + 1

  flag = rank /= 0
  call mpi_allreduce(flag, all_flags, 1, mpi_logical, mpi_lor, mpi_comm_world, code)
  if (all_flags .neqv. ranks > 1) wrong = wrong + 1

  wrong = wrong + check_requests()
  call mpi_allreduce(wrong, total, 1, mpi_integer, mpi_sum, mpi_comm_world, code)
  if (rank == 0) print '(a, i0, a)', 'mpif.h: ', total, ' wrong'
  call mpi_op_free(operation, code)
  call mpi_type_free(vector, code)
  call mpi_type_free(absolute, code)
  call mpi_finalize(code)
  if (total /= 0) stop 1
end program

! later = 2 * earlier + later, so that exchanged operands give another result
subroutine add_twice(earlier, later, count, datatype)
  implicit none
  integer :: count, datatype, i
  integer :: earlier(count), later(count)
  do i = 1, count
    later(i) = 2 * earlier(i) + later(i)
  end do
end subroutine
