! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 receives from whoever it is, and does not ask who it was. Rank 1 works longer before.
program main
  implicit none
  integer, parameter :: world = int(z'101'), any_source = -1, byte = int(z'247')
  integer :: rank, round, ierror, status_ignore(8), data(1)
  double precision :: x
  common /binding_status_ignore/ status_ignore
  x = 0
  data = 0
  call mpi_init(ierror)
  call mpi_comm_rank(world, rank, ierror)
  do round = 1, 40
    call work(merge(4000000, 1000000, rank == 1), x)
    if (rank == 1) then
      call mpi_send(data, 4, byte, 0, 7, world, ierror)
    else
      call mpi_recv(data, 4, byte, any_source, 7, world, status_ignore, ierror)
    end if
  end do
  call mpi_finalize(ierror)
  if (x > 0) print '(A)', '0 wrong'
contains
  subroutine work(n, x)
    integer, intent(in) :: n
    double precision, intent(inout) :: x
    integer :: i
    do i = 1, n
      x = x * 0.999d0 + 1
    end do
  end subroutine work
end program main
