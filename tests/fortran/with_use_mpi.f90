! use mpi: non-blocking, rooted and vector collectives, in place at the root, MINLOC on pairs, a communicator that is split.
#define BINDING mpi
#define EXTENSIONS mpi_ext
#include "requests.inc"

program with_use_mpi
  use mpi
  use requests_of_collectives
  implicit none
  integer :: code, rank, ranks, i, k, wrong, total, half, half_rank, half_ranks
  integer, allocatable :: counts(:), places(:), own(:), all(:), matrix(:), turned(:)
  real(kind=8) :: pair(2), least(2)
  complex(kind=8) :: z, product

  call mpi_init(code)
  call mpi_comm_rank(mpi_comm_world, rank, code)
  call mpi_comm_size(mpi_comm_world, ranks, code)
  wrong = 0
  allocate (counts(ranks), places(ranks), own(rank + 1), matrix(ranks), turned(ranks))
  do i = 1, ranks
    counts(i) = i
    places(i) = i * (i - 1) / 2
  end do
  allocate (all(ranks * (ranks + 1) / 2))
  do k = 1, 20
    own = rank * k
    all = -1
    call mpi_allgatherv(own, rank + 1, mpi_integer, all, counts, places, mpi_integer, mpi_comm_world, code)
    call check_blocks
    all = -1
    if (rank == 0) then
      all(1) = 0
      call mpi_gatherv(mpi_in_place, 1, mpi_integer, all, counts, places, mpi_integer, 0, mpi_comm_world, code)
      call check_blocks
    else
      call mpi_gatherv(own, rank + 1, mpi_integer, all, counts, places, mpi_integer, 0, mpi_comm_world, code)
    end if
    do i = 1, ranks
      matrix(i) = 1000 * rank + i - 1 + k
    end do
    call mpi_alltoall(matrix, 1, mpi_integer, turned, 1, mpi_integer, mpi_comm_world, code)
    do i = 1, ranks
      if (turned(i) /= 1000 * (i - 1) + rank + k) wrong = wrong + 1
    end do
    call mpi_alltoall(mpi_in_place, 1, mpi_integer, matrix, 1, mpi_integer, mpi_comm_world, code)
    if (any(matrix /= turned)) wrong = wrong + 1
    call mpi_scan(rank, total, 1, mpi_integer, mpi_sum, mpi_comm_world, code)
    if (total /= rank * (rank + 1) / 2) wrong = wrong + 1
  end do

  pair = [real(abs(rank - 1), 8), real(rank, 8)]
  call mpi_allreduce(pair, least, 1, mpi_2double_precision, mpi_minloc, mpi_comm_world, code)
  if (least(2) /= min(1, ranks - 1)) wrong = wrong + 1
  z = (0d0, 1d0)
  call mpi_allreduce(z, product, 1, mpi_double_complex, mpi_prod, mpi_comm_world, code)
  if (abs(product - z**ranks) > 1d-12) wrong = wrong + 1

  call mpi_comm_split(mpi_comm_world, mod(rank, 2), -rank, half, code)
  call mpi_comm_rank(half, half_rank, code)
  call mpi_comm_size(half, half_ranks, code)
  call mpi_allreduce(half_rank, total, 1, mpi_integer, mpi_sum, half, code)
  if (total /= half_ranks * (half_ranks - 1) / 2) wrong = wrong + 1
  call mpi_comm_free(half, code)

  wrong = wrong + check_requests()
  call mpi_allreduce(wrong, total, 1, mpi_integer, mpi_sum, mpi_comm_world, code)
  if (rank == 0) print '(a, i0, a)', 'use mpi: ', total, ' wrong'
  call mpi_finalize(code)
  if (total /= 0) stop 1

contains
  subroutine check_blocks
    integer :: r
    do r = 1, ranks
      if (any(all(places(r) + 1:places(r) + r) /= (r - 1) * k)) wrong = wrong + 1
    end do
  end subroutine
end program
