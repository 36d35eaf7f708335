! SPDX-License-Identifier: BSD-3-Clause
! Fortran: a wave equation in whole-array statements and loops, with a boundary in branches.
program waves
    implicit none
    integer, parameter :: n = 500, rounds = 600
    real(8) :: u(n, n), v(n, n), w(n, n), total
    integer :: i, j, r
    u = 0
    u(n/2, n/2) = 1
    v = u
    total = 0
    do r = 1, rounds
        do j = 2, n - 1
            do i = 2, n - 1
                w(i, j) = 2*u(i, j) - v(i, j) + 0.1d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4*u(i, j))
            end do
        end do
        w(1, :) = 0
        w(n, :) = 0
        w(:, 1) = 0
        w(:, n) = 0
        v = u
        u = w
        total = total + maxval(u)
    end do
    print '(f12.6)', total
end program
