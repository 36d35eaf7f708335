! SPDX-License-Identifier: BSD-3-Clause
!
! Rank 1 repeats array statements, each of which is a loop on a line of its own: the loop around them is the cause.
!
! ranks: 2
! expect: loop=repeat_arrays routine=advance rank=1 share=0.85 rows=1 call=MPI_Barrier counted_kind=more-work
!
program arrays
  use mpi
  implicit none
  integer, parameter :: cells = 60000
  double precision :: density(cells) = 1.0d0, energy(cells) = 2.0d0, pressure(cells) = 0.5d0
  integer :: error, rank, step
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do step = 1, 50
    call advance(merge(16, 4, rank == 1))
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  if (energy(1) < 0) print *, density(1)
  call MPI_Finalize(error)
contains
  subroutine advance(times)
    integer, intent(in) :: times
    integer :: time
    ! begin repeat_arrays
    do time = 1, times
      pressure = 0.4d0 * density * energy / (1.0d0 + 1.0d-3 * energy)
      energy = energy * 0.999d0 + 1.0d-4 / (1.0d0 + pressure)
      where (energy > 1.5d0) density = density * 0.9999d0 + 1.0d-6 / energy
      density(2:) = 0.5d0 * (density(2:) + pressure(:cells - 1) / (1.0d0 + energy(2:)))
    end do
    ! end repeat_arrays
  end subroutine advance
end program arrays
