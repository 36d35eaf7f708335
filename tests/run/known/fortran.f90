! SPDX-License-Identifier: BSD-3-Clause
!
! A Fortran program (use mpi_f08) in which rank 1 sums four times as long before every reduction.
!
! ranks: 2
! expect: loop=fortran_loop rank=1 share=0.9 call=MPI_Allreduce waiters=0
program fortran
   use mpi_f08
   implicit none
   integer :: rank, round
   double precision :: mine, all
   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Barrier(MPI_COMM_WORLD)
   do round = 1, 50
      mine = chain(merge(8000000, 2000000, rank == 1))
      call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
   end do
   if (rank == 0) print *, all > 0
   call MPI_Finalize()
contains
   double precision function chain(n)
      integer, intent(in) :: n
      integer :: i
      chain = 0.5d0
      ! begin fortran_loop
      do i = 1, n
         chain = chain * 0.999999d0 + 1d-6
      end do
      ! end fortran_loop
   end function
end program
