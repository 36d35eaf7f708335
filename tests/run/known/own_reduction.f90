! SPDX-License-Identifier: BSD-3-Clause
!
! A reduction of a Fortran program's own, which MPI calls inside a collective: rank 1 has four times as much to do.
!
! ranks: 2
! expect: loop=fortran_merge rank=1 share=0.9 call=MPI_Allreduce waiters=0
module merging
   use mpi
   implicit none
   integer :: rank
   double precision, volatile :: kept = 0.5d0
contains
   subroutine merge_parts(in, in_out, n, kind)
      integer :: n, kind, i
      double precision :: in(n), in_out(n), x
      x = kept
      ! begin fortran_merge
      do i = 1, merge(8000000, 2000000, rank == 1)
         x = x * 0.999999d0 + 1d-6
      end do
      ! end fortran_merge
      kept = x
      in_out = in_out + in
   end subroutine
end module

program own_reduction
   use merging
   implicit none
   integer :: round, op, error
   double precision :: mine, all
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Op_create(merge_parts, .true., op, error)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   do round = 1, 40
      mine = rank
      call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, error)
   end do
   if (rank == 0) print *, all > 0
   call MPI_Op_free(op, error)
   call MPI_Finalize(error)
end program
