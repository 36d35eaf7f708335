! SPDX-License-Identifier: BSD-3-Clause
! windows.c's halves in Fortran: in the first rank 1 is late, in the second rank 2. `turns N`; with F08 through mpi_f08.
module halves
    implicit none
    integer, parameter :: links = 3000000
    double precision :: sink = 1
contains
    subroutine first_half()
        integer :: i
        do i = 1, links
            sink = sink * 0.999999d0 + 1d-6
        end do
    end subroutine

    subroutine second_half()
        integer :: i
        do i = 1, links
            sink = sink * 0.999999d0 + 1d-6
        end do
    end subroutine
end module

program turns
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    use halves
    implicit none
    integer :: rank, n, turn, err
    double precision :: sum
    character(len=16) :: text
    call get_command_argument(1, text)
    read (text, *) n
    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
    do turn = 1, n
        if (turn <= n / 2 .and. rank == 1) call first_half()
        if (turn > n / 2 .and. rank == 2) call second_half()
        sum = 1
        call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, err)
        if (sum /= 3) call MPI_Abort(MPI_COMM_WORLD, 1, err)
    end do
    call MPI_Finalize(err)
end program
