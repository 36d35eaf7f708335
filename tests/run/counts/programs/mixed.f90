! SPDX-License-Identifier: BSD-3-Clause
! Fortran: array expressions, allocatable arrays, select case, do while, recursive and internal procedures, cycle and exit.
program mixed
    implicit none
    integer :: i, j, total
    real(8), allocatable :: a(:, :), b(:, :)
    real(8) :: norm
    allocate (a(20, 20), b(20, 20))
    total = 0
    do j = 1, 20
        do i = 1, 20
            a(i, j) = mod(i*j, 7)
        end do
    end do
    call counts_sync()
    b = matmul(a, transpose(a)) + 2*a
    where (b > 50) b = b/2
    norm = sum(b, mask=b > 3) + maxval(b)
    outer: do i = 1, 20
        do j = 1, 20
            if (a(i, j) > 5) cycle outer
            if (b(i, j) > 400) exit outer
            total = total + 1
        end do
        if (mod(i, 6) == 0) call counts_sync()
    end do outer
    do i = 1, 12
        select case (mod(i*5, 9))
        case (0:2)
            total = total + factorial(3)
        case (4)
            call relax(b, 3)
        case (7:)
            total = total - 1
        case default
            total = total + 10
        end select
    end do
    call counts_sync()
    print *, total, nint(norm)
    deallocate (a, b)
contains
    recursive integer function factorial(n) result(value)
        integer, intent(in) :: n
        if (n <= 1) then
            value = 1
            call counts_sync()
        else
            value = n*factorial(n - 1)
        end if
    end function
    subroutine relax(x, rounds)
        real(8), intent(inout) :: x(:, :)
        integer, intent(in) :: rounds
        integer :: r, p, q
        r = 0
        do while (r < rounds)
            do q = 2, size(x, 2) - 1
                do p = 2, size(x, 1) - 1
                    x(p, q) = (x(p - 1, q) + x(p + 1, q) + x(p, q - 1) + x(p, q + 1))/4
                end do
            end do
            r = r + 1
            if (r == 2) call counts_sync()
        end do
    end subroutine
end program
