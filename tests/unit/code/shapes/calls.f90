! SPDX-License-Identifier: BSD-3-Clause
! Calls of a procedure with an explicit interface, to which the compiler gives the line of the procedure around them.
module library
    implicit none
    interface
        subroutine await(n, requests, status)
            integer, intent(in) :: n
            integer, intent(inout) :: requests(n)
            integer, intent(out) :: status
        end subroutine
    end interface
end module

subroutine exchange(n, is_left, is_right)
    use library
    implicit none
    integer, intent(in) :: n
    logical, intent(in) :: is_left, is_right
    integer :: requests(4), m, status
    m = 0
    if (is_left) then
        call post(n, requests(m + 1))
        m = m + 1
    end if
    call await(m, requests, status)
    if (is_right) then
        call post(-n, requests(m + 1))
        m = m + 1
    end if
    call await(m, requests, status)
    call finish(status)
end subroutine
