! SPDX-License-Identifier: BSD-3-Clause
! Loops of Fortran; marks as in shapes.c.
module mesh
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine relax(x, n, m)
    integer, intent(in) :: n, m
    real(dp), intent(inout) :: x(n, m)
    integer :: i, j
    do j = 2, m - 1                              ! @do_j(
      do i = 2, n - 1                            ! @do_i(
        x(i, j) = 0.25_dp * (x(i - 1, j) + x(i + 1, j) &
                  + x(i, j - 1) + x(i, j + 1))   ! @do_i) @do_j)
      end do
    end do
  end subroutine relax

  function newton(a) result(y)
    real(dp), intent(in) :: a
    real(dp) :: y, before
    y = a
    before = 0
    do while (abs(y - before) > 1e-12_dp)        ! @do_while(
      before = y
      y = 0.5_dp * (y + a / y)                   ! @do_while)
    end do
  end function newton

  subroutine arrays(a, b, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n), b(n)
    a = b * 2 + a                                ! @array( @array)
    b(1:n) = sin(a(1:n))                         ! @section( @section)
    where (a > 1)                                ! @?where(
      a = a - 1
    elsewhere
      a = a + b
    end where                                    ! @?where)
  end subroutine arrays

  function longest(x, n) result(steps)
    integer, intent(in) :: n, x(n)
    integer :: steps, i
    steps = 0
    i = 1
    do                                           ! @do_ever(
      if (i > n) exit
      if (x(i) < 0) then
        i = i + 2
        cycle
      end if
      steps = steps + x(i)
      i = i + 1
      call touch(steps)                          ! @do_ever)
    end do
  end function longest

  subroutine touch(i)
    integer, intent(inout) :: i
    if (i > 1000000) i = 0
  end subroutine touch

  ! Whether to go through the inner loop is asked where the outer one goes back.
  subroutine advance(u, every)
    real(dp), intent(inout) :: u(:)
    integer, intent(in) :: every
    integer :: step, i, n, k
    n = size(u)
    do step = 1, 100                             ! @steps(
      do i = 2, n - 1                            ! @sweep(
        u(i) = 0.5_dp*u(i) + sin(u(i - 1))       ! @sweep)
      end do
      call random_seed(size=k)
      if (mod(step, every) == 0) then
        call random_seed(size=n)
        if (k == 0) then
          do i = 1, n                            ! @seldom(
            call random_number(u)                ! @seldom) @steps)
          end do
        end if
      end if
    end do
  end subroutine advance

  ! Where the test of the inner loop fails, the outer one goes back (-Os).
  subroutine settle(x, tolerance)
    real(dp), intent(inout) :: x(:)
    real(dp), intent(in) :: tolerance
    real(dp) :: change
    integer :: i
    change = 1
    do while (change > tolerance)                ! @until(
      change = 0
      do i = 2, size(x) - 1                      ! @settle(
        x(i) = 0.5_dp*(x(i - 1) + x(i + 1))
        change = max(change, abs(x(i) - x(i - 1))) ! @settle) @until)
      end do
    end do
  end subroutine settle
end module mesh

program shapes
  use mesh
  implicit none
  real(dp) :: x(40, 50), a(100), b(100)
  integer :: k(10), i, n
  n = command_argument_count() + 10
  do i = 1, n - 1                                ! @?main(
    k(mod(i, 10) + 1) = i
    call touch(k(3))                             ! @?main)
  end do
  call random_number(x)
  call random_number(a)
  b = a(100:1:-1)                                ! @?reverse( @?reverse)
  call relax(x, 40, 50)
  call arrays(a, b, 100)
  do i = 1, n                                    ! @limits(
    call limit(a(1:50 + i), b(1:50 + i))
    call touch(k(4))                             ! @limits)
  end do
  call advance(a, 10)
  call settle(b, 1.0_dp / n)
  print *, newton(2.0_dp), sum(x), longest(k, 10) ! @?sum( @?sum)
contains
  ! All of it is on its first line, as the debug information has it.
  subroutine limit(from, to)
    real(dp), intent(inout) :: from(:), to(:)
    where (from > 0.5_dp)                        ! @where( @where)
      to = sqrt(from)
    elsewhere (from > 0.25_dp)
      to = from*from
    elsewhere
      to = 0.1_dp/(from + 1)
    end where
  end subroutine limit
end program shapes
