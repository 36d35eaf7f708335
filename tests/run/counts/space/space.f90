! SPDX-License-Identifier: BSD-3-Clause
! Fortran: allocate of arrays and scalars, automatic arrays that the compiler puts on the heap, and memory of MPI's.
module work
  use mpi
  implicit none
  integer(8) :: asked = 0
contains
  subroutine build(n, total)
    integer, intent(in) :: n
    double precision, intent(inout) :: total
    double precision, allocatable :: list(:), grid(:, :)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, memory
    integer :: i, ierr
    do i = 1, n
      allocate (list(100 + i))
      asked = asked + 8 * (100 + i)
      list = i
      total = total + sum(list)
      deallocate (list)
    end do
    allocate (grid(n, 7))
    asked = asked + 8 * 7 * n
    grid = 1
    total = total + sum(grid)
    bytes = 1000 * n
    asked = asked + bytes
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory, ierr)
  end subroutine
end module

program space
  use work
  implicit none
  integer :: rank, ierr, step
  double precision :: total = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  do step = 1, 10
    call build(10 * (rank + 1), total)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  if (total > 0) write (0, '(A,I0,A,I0)') 'asked ', rank, ' ', asked
  call MPI_Finalize(ierr)
end program
