! SPDX-License-Identifier: BSD-3-Clause
! The program's own extension module, made by f2py for extension.py.
subroutine sweep(x, n, times)
  implicit none
  integer, intent(in) :: n, times
  double precision, intent(inout) :: x(n)
  integer :: i, k
  do k = 1, times
    ! begin stencil
    do i = 2, n - 1
      x(i) = 0.25d0 * x(i - 1) + 0.5d0 * x(i) + 0.25d0 * x(i + 1)
    end do
    ! end stencil
  end do
end subroutine sweep
