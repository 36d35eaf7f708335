! SPDX-License-Identifier: BSD-3-Clause
! Parallel regions of a procedure inside a module and of one outside: the compiler makes routines of their own of them.
module mesh
    implicit none
contains
    subroutine smooth(x, n)
        integer, intent(in) :: n
        real(8), intent(inout) :: x(n)
        integer :: i
        !$omp parallel do
        do i = 1, n
            x(i) = sqrt(x(i) + i)
        end do
    end subroutine
end module

subroutine relax(x, n)
    implicit none
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    integer :: i
    !$omp parallel do
    do i = 1, n
        x(i) = 0.5d0 * (x(i) - i)
    end do
end subroutine

program parts
    use mesh
    implicit none
    real(8) :: x(1000)
    x = 1
    call smooth(x, 1000)
    call relax(x, 1000)
    print *, sum(x)
end program
