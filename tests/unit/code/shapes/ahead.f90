! SPDX-License-Identifier: BSD-3-Clause
! What a statement behind two loops reads is read ahead in the first of them, with its line. Marks as in shapes.c.
program ahead
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  interface
    subroutine ctime(t) bind(c)
      import dp
      real(dp) :: t
    end subroutine ctime
  end interface
  integer :: mine, step, i, n
  real(dp), allocatable :: list(:), fixed(:), w(:)
  real(dp) :: first
  mine = command_argument_count()
  allocate(list(0), fixed(200000), w(5000)) ; w = 1 ! @?clear( @?clear)
  n = 0
  do step = 1, 450                               ! @steps(
    do i = 1, 100                                ! @smooths(
      w(2:) = 0.5d0*w(2:) + 0.5d0*w(:4999)       ! @smooths) @?smooth( @?smooth)
    end do
    if (mine == 0) then
      do i = 1, 40                               ! @appends(
        list = [list, w(i)*step]                 ! @appends) @?append( @?append)
      end do
    else
      do i = 1, 40                               ! @keeps(
        n = n + 1; fixed(n) = w(i)*step          ! @keeps)
      end do
    end if
    first = w(1)
    call ctime(first)                            ! @steps)
  end do
end program ahead
