! SPDX-License-Identifier: BSD-3-Clause
! The cases in Fortran, compiled three times: WITH_MPIF (include 'mpif.h'), WITH_MPI (use mpi), WITH_F08 (use mpi_f08,
! where ierror is left out). `program --list` and `program NAME...` as in case.h; names get the flavour as prefix.

#ifdef WITH_F08
#define USES use mpi_f08
#define INCLUDES
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define STATUS(n) type(MPI_Status), dimension(n)
#define SOURCE_OF(s,i) s(i)%MPI_SOURCE
#define TAG_OF(s,i) s(i)%MPI_TAG
#define ONE(s) s(1)
#define TYPE_T type(MPI_Datatype)
#define WIN_T type(MPI_Win)
#define FILE_T type(MPI_File)
#define MESSAGE_T type(MPI_Message)
#define INFO_T type(MPI_Info)
#define FLAVOUR 'f08_'
#define ERR )
#else
#ifdef WITH_MPI
#define USES use mpi
#define INCLUDES
#define FLAVOUR 'usempi_'
#else
#define USES
#define INCLUDES include 'mpif.h'
#define FLAVOUR 'mpif_'
#endif
#define COMM integer
#define REQUEST integer
#define STATUS(n) integer, dimension(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s,i) s(MPI_SOURCE, i)
#define TAG_OF(s,i) s(MPI_TAG, i)
#define ONE(s) s(:, 1)
#define TYPE_T integer
#define WIN_T integer
#define FILE_T integer
#define MESSAGE_T integer
#define INFO_T integer
#define ERR , ierr)
#endif

module state
  implicit none
  integer :: me, n, left, right, ierr
  integer(8) :: digest = 17
contains
  subroutine fold(value)
    integer, intent(in) :: value
    digest = mod(digest * 31_8 + value, 1000000007_8)
  end subroutine fold
end module state

subroutine check(holds, line)
  use state
  USES
  implicit none
  INCLUDES
  logical, intent(in) :: holds
  integer, intent(in) :: line
  if (holds) return
  write(0, *) 'rank ', me, ': not true in line ', line
  call MPI_Abort(MPI_COMM_WORLD, 99 ERR
  call exit(99)
end subroutine check
#define CHECK(c) call check(c, __LINE__)

! Blocking modes and sentinels.
subroutine case_blocking
  use state
  USES
  implicit none
  INCLUDES
  integer :: got, value
  STATUS(1) :: st
  value = me + 40
  if (mod(me, 2) == 0) then
    call MPI_Send(value, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD ERR
    call MPI_Recv(got, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
    call MPI_Ssend(value, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD ERR
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, ONE(st) ERR
  else
    call MPI_Recv(got, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
    call MPI_Send(value, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD ERR
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, ONE(st) ERR
    call MPI_Ssend(value, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD ERR
  end if
  CHECK(got == left + 40)
  CHECK(SOURCE_OF(st,1) == left)
  CHECK(TAG_OF(st,1) == 4)
  call fold(got)
end subroutine case_blocking

subroutine case_sendrecv
  use state
  USES
  implicit none
  INCLUDES
  integer :: got, value
  value = me
  call MPI_Sendrecv(me, 1, MPI_INTEGER, right, 1, got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
  CHECK(got == left)
  call MPI_Sendrecv_replace(value, 1, MPI_INTEGER, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
  CHECK(value == left)
  call MPI_Send(value, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD ERR
  call fold(value)
end subroutine case_sendrecv

subroutine start_some(k, out, in, r)
  use state
  USES
  implicit none
  INCLUDES
  integer, intent(in) :: k
  integer :: out(k), in(k)
  REQUEST :: r(2 * k)
  integer :: i
  do i = 1, k
    out(i) = me * 100 + i
    call MPI_Irecv(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, r(i) ERR
    call MPI_Isend(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, r(k + i) ERR
  end do
end subroutine start_some

subroutine check_some(k, in)
  use state
  implicit none
  integer, intent(in) :: k, in(k)
  integer :: i
  do i = 1, k
    CHECK(in(i) == left * 100 + i)
    call fold(in(i))
  end do
end subroutine check_some

subroutine case_waitall
  use state
  USES
  implicit none
  INCLUDES
  integer :: out(50), in(50)
  REQUEST :: r(100)
  STATUS(100) :: st
  call start_some(50, out, in, r)
  call MPI_Waitall(100, r, MPI_STATUSES_IGNORE ERR
  call check_some(50, in)
  call start_some(50, out, in, r)
  call MPI_Waitall(100, r, st ERR
  CHECK(TAG_OF(st,7) == 7)
  CHECK(SOURCE_OF(st,50) == left)
  call check_some(50, in)
end subroutine case_waitall

subroutine case_wait_one
  use state
  USES
  implicit none
  INCLUDES
  integer :: out(4), in(4)
  REQUEST :: r(8)
  STATUS(1) :: st
  integer :: i, which
  logical :: flag
  call start_some(4, out, in, r)
  call MPI_Wait(r(1), ONE(st) ERR
  CHECK(TAG_OF(st,1) == 1)
  call MPI_Wait(r(2), MPI_STATUS_IGNORE ERR
  do i = 3, 8
    flag = .false.
    do while (.not. flag)
      call MPI_Test(r(i), flag, MPI_STATUS_IGNORE ERR
    end do
    CHECK(r(i) == MPI_REQUEST_NULL)
  end do
  call MPI_Waitany(8, r, which, MPI_STATUS_IGNORE ERR
  ! MPICH 4.0 returns MPI_UNDEFINED + 1 here.
  CHECK(which < 0)
  call check_some(4, in)
end subroutine case_wait_one

subroutine case_waitany
  use state
  USES
  implicit none
  INCLUDES
  integer :: out(40), in(40)
  REQUEST :: r(80)
  STATUS(1) :: st
  integer :: i, which
  ! MPICH 4.0 counts from 0 in mpi_f08.
  integer :: sum
  sum = 0
  call start_some(40, out, in, r)
  do i = 1, 80
    call MPI_Waitany(80, r, which, ONE(st) ERR
    CHECK(which >= 0 .and. which <= 80)
    sum = sum + which
  end do
  CHECK(sum == 3240 .or. sum == 3160)
  call check_some(40, in)
end subroutine case_waitany

subroutine case_waitsome
  use state
  USES
  implicit none
  INCLUDES
  integer :: out(10), in(10)
  REQUEST :: r(20)
  STATUS(20) :: st
  integer :: done, k, which(20)
  done = 0
  call start_some(10, out, in, r)
  do while (done < 20)
    if (mod(done, 2) == 0) then
      call MPI_Waitsome(20, r, k, which, MPI_STATUSES_IGNORE ERR
    else
      call MPI_Testsome(20, r, k, which, st ERR
    end if
    done = done + k
  end do
  CHECK(done == 20)
  call check_some(10, in)
end subroutine case_waitsome

subroutine case_testing
  use state
  USES
  implicit none
  INCLUDES
  integer :: out(40), in(40)
  REQUEST :: r(80)
  integer :: which, done
  logical :: flag
  flag = .false.
  call start_some(40, out, in, r)
  do while (.not. flag)
    call MPI_Testall(80, r, flag, MPI_STATUSES_IGNORE ERR
  end do
  call check_some(40, in)
  call start_some(40, out, in, r)
  done = 0
  do while (done < 80)
    call MPI_Testany(80, r, which, flag, MPI_STATUS_IGNORE ERR
    if (flag) done = done + 1
  end do
  call check_some(40, in)
end subroutine case_testing

subroutine case_persistent
  use state
  USES
  implicit none
  INCLUDES
  integer, asynchronous :: out, in
  REQUEST :: r(2)
  integer :: i
  call MPI_Recv_init(in, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, r(1) ERR
  call MPI_Send_init(out, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, r(2) ERR
  do i = 1, 5
    out = me + i
    if (mod(i, 2) == 0) then
      call MPI_Startall(2, r ERR
    else
      call MPI_Start(r(1) ERR
      call MPI_Start(r(2) ERR
    end if
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE ERR
    CHECK(in == left + i)
    call fold(in)
  end do
  call MPI_Request_free(r(1) ERR
  call MPI_Request_free(r(2) ERR
end subroutine case_persistent

subroutine case_probing
  use state
  USES
  implicit none
  INCLUDES
  integer, asynchronous :: out(3)
  integer :: in(3), k
  REQUEST :: r, r2
  STATUS(1) :: st
  MESSAGE_T :: m
  logical :: flag
  out = (/ 1, 2, 3 /) + me
  call MPI_Isend(out, 3, MPI_INTEGER, right, 8, MPI_COMM_WORLD, r ERR
  call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, ONE(st) ERR
  call MPI_Get_count(ONE(st), MPI_INTEGER, k ERR
  CHECK(k == 3)
  flag = .false.
  do while (.not. flag)
    call MPI_Iprobe(left, 8, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE ERR
  end do
  call MPI_Recv(in, 3, MPI_INTEGER, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
  CHECK(in(3) == left + 3)
  call MPI_Wait(r, MPI_STATUS_IGNORE ERR
  call MPI_Isend(out, 3, MPI_INTEGER, right, 9, MPI_COMM_WORLD, r ERR
  call MPI_Mprobe(left, 9, MPI_COMM_WORLD, m, MPI_STATUS_IGNORE ERR
  call MPI_Imrecv(in, 3, MPI_INTEGER, m, r2 ERR
  call MPI_Wait(r2, MPI_STATUS_IGNORE ERR
  call MPI_Wait(r, MPI_STATUS_IGNORE ERR
  call fold(in(1))
end subroutine case_probing

subroutine case_collectives
  use state
  USES
  implicit none
  INCLUDES
  integer :: v, s, all(8), counts(8), displs(8), i
  v = me
  call MPI_Barrier(MPI_COMM_WORLD ERR
  call MPI_Bcast(v, 1, MPI_INTEGER, n - 1, MPI_COMM_WORLD ERR
  CHECK(v == n - 1)
  call MPI_Reduce(me, s, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD ERR
  if (me == 0) CHECK(s == n * (n - 1) / 2)
  call MPI_Allgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD ERR
  CHECK(all(n) == n - 1)
  call MPI_Scan(me, s, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR
  CHECK(s == me * (me + 1) / 2)
  do i = 1, n
    counts(i) = 1
    displs(i) = n - i
  end do
  call MPI_Allgatherv(me, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD ERR
  CHECK(all(1) == n - 1)
  call MPI_Alltoall(all, 1, MPI_INTEGER, counts, 1, MPI_INTEGER, MPI_COMM_WORLD ERR
  CHECK(counts(1) == n - 1 - me)
  call MPI_Gather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD ERR
  call MPI_Scatter(all, 1, MPI_INTEGER, v, 1, MPI_INTEGER, 0, MPI_COMM_WORLD ERR
  CHECK(v == me)
  call fold(s)
end subroutine case_collectives

subroutine case_in_place
  use state
  USES
  implicit none
  INCLUDES
  integer :: v, all(8)
  v = me + 1
  call MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR
  CHECK(v == n * (n + 1) / 2)
  all = 0
  all(me + 1) = me * 3
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD ERR
  CHECK(all(n) == (n - 1) * 3)
  if (me == 0) then
    call MPI_Reduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD ERR
  else
    call MPI_Reduce(v, all, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD ERR
  end if
  if (me == 0) then
    call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD ERR
  else
    call MPI_Scatter(all, 1, MPI_INTEGER, v, 1, MPI_INTEGER, 0, MPI_COMM_WORLD ERR
    CHECK(v == me * 3 .or. me == 0)
  end if
  call fold(v)
end subroutine case_in_place

subroutine case_nonblocking_collectives
  use state
  USES
  implicit none
  INCLUDES
  integer, asynchronous :: v, s
  REQUEST :: r(3)
  logical :: flag
  v = me
  s = 0
  call MPI_Ibarrier(MPI_COMM_WORLD, r(1) ERR
  call MPI_Ibcast(v, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, r(2) ERR
  call MPI_Iallreduce(n, s, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(3) ERR
  flag = .false.
  do while (.not. flag)
    call MPI_Test(r(1), flag, MPI_STATUS_IGNORE ERR
  end do
  call MPI_Waitall(3, r, MPI_STATUSES_IGNORE ERR
  CHECK(v == 0 .and. s == n * n)
  call fold(s)
end subroutine case_nonblocking_collectives

subroutine case_communicators
  use state
  USES
  implicit none
  INCLUDES
  COMM :: c, d
  integer :: r, k, length, i
  character(len=MPI_MAX_OBJECT_NAME) :: name
  call MPI_Comm_dup(MPI_COMM_WORLD, c ERR
  call MPI_Comm_set_name(c, 'the copy  ' ERR
  call MPI_Comm_get_name(c, name, length ERR
  CHECK(name(1:8) == 'the copy')
  do i = 1, 20
    call MPI_Comm_split(c, mod(me, 2), -me, d ERR
    call MPI_Comm_rank(d, r ERR
    call MPI_Comm_size(d, k ERR
    call MPI_Barrier(d ERR
    call MPI_Comm_free(d ERR
  end do
  CHECK(d == MPI_COMM_NULL)
  call MPI_Comm_free(c ERR
  call fold(r)
  call fold(k)
end subroutine case_communicators

subroutine case_grid
  use state
  USES
  implicit none
  INCLUDES
  COMM :: grid
  integer :: dims(1), from, to, in(2)
  logical :: periods(1)
  dims(1) = n
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid ERR
  call MPI_Cart_shift(grid, 0, 1, from, to ERR
  CHECK(from == left .and. to == right)
  call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, in, 1, MPI_INTEGER, grid ERR
  CHECK(in(1) == left .and. in(2) == right)
  call MPI_Comm_free(grid ERR
  call fold(in(1))
end subroutine case_grid

subroutine case_types
  use state
  USES
  implicit none
  INCLUDES
  TYPE_T :: column
  integer :: a(4, 4), row(4), i, bytes
  do i = 1, 16
    a(mod(i - 1, 4) + 1, (i - 1) / 4 + 1) = me * 100 + i
  end do
  call MPI_Type_vector(4, 1, 4, MPI_INTEGER, column ERR
  call MPI_Type_commit(column ERR
  call MPI_Type_size(column, bytes ERR
  CHECK(bytes == 16)
  call MPI_Sendrecv(a(2, 1), 1, column, right, 0, row, 4, MPI_INTEGER, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR
  CHECK(row(4) == left * 100 + 14)
  call MPI_Type_free(column ERR
  call fold(row(1))
end subroutine case_types

subroutine case_windows
  use state
  USES
  implicit none
  INCLUDES
  integer, asynchronous, save :: memory(4)
  integer, asynchronous :: got
  integer(MPI_ADDRESS_KIND) :: bytes, at
  WIN_T :: win
  memory = me * 10
  bytes = 16_MPI_ADDRESS_KIND
  at = 1
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win ERR
  call MPI_Win_fence(0, win ERR
  call MPI_Put(me, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win ERR
  call MPI_Win_fence(0, win ERR
  CHECK(memory(2) == left)
  call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win ERR
  at = 3
  call MPI_Get(got, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win ERR
  call MPI_Win_unlock(right, win ERR
  CHECK(got == right * 10)
  call MPI_Win_free(win ERR
  call fold(got)
end subroutine case_windows

subroutine case_files
  use state
  USES
  implicit none
  INCLUDES
  FILE_T :: file
  integer :: v
  integer(MPI_OFFSET_KIND) :: at
  character(len=256) :: path
  call get_environment_variable('CASE_FILES', path)
  if (path == ' ') path = '.'
  call MPI_File_open(MPI_COMM_WORLD, trim(path) // '/fdata', &
    ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), MPI_INFO_NULL, file ERR
  at = me * 4
  call MPI_File_write_at_all(file, at, me, 1, MPI_INTEGER, MPI_STATUS_IGNORE ERR
  v = -1
  call MPI_File_read_at(file, at, v, 1, MPI_INTEGER, MPI_STATUS_IGNORE ERR
  CHECK(v == me)
  call MPI_File_close(file ERR
  call fold(v)
end subroutine case_files

subroutine case_odds_and_ends
  use state
  USES
  implicit none
  INCLUDES
  INFO_T :: info
  character(len=20) :: value
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  integer :: length
  logical :: flag
  double precision :: t
  t = MPI_Wtime()
  call MPI_Info_create(info ERR
  call MPI_Info_set(info, 'key', 'some value' ERR
  call MPI_Info_get(info, 'key', 20, value, flag ERR
  CHECK(flag .and. value == 'some value')
  call MPI_Info_free(info ERR
  call MPI_Get_processor_name(host, length ERR
  CHECK(length > 0)
  call MPI_Initialized(flag ERR
  CHECK(flag .and. MPI_Wtime() >= t)
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD ERR
  call MPI_Pcontrol(1)
  call MPI_Barrier(MPI_COMM_WORLD ERR
  call fold(n)
end subroutine case_odds_and_ends

! What cannot be freed stays what it was, and wrong arguments give the same codes.
subroutine case_errors
  use state
  USES
  implicit none
  INCLUDES
  COMM :: comm
  WIN_T :: win
  FILE_T :: file
  REQUEST :: r
  TYPE_T :: whole
  integer :: code, v, many(4)
  v = me
  many = me
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN ERR
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN ERR
  comm = MPI_COMM_WORLD
  call MPI_Comm_free(comm, code)
  call fold_class(code)
  comm = MPI_COMM_NULL
  call MPI_Comm_free(comm, code)
  call fold_class(code)
  win = MPI_WIN_NULL
  call MPI_Win_free(win, code)
  call fold_class(code)
  file = MPI_FILE_NULL
  call MPI_File_close(file, code)
  call fold_class(code)
  whole = MPI_INTEGER
  call MPI_Type_free(whole, code)
  call fold_class(code)
  call MPI_Send(v, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, code)
  call fold_class(code)
  call MPI_Send(v, 1, MPI_INTEGER, n, 0, MPI_COMM_WORLD, code)
  call fold_class(code)
  call MPI_Irecv(v, 1, MPI_INTEGER, 0, -9, MPI_COMM_WORLD, r, code)
  call fold_class(code)
  call MPI_Bcast(v, 1, MPI_INTEGER, n, MPI_COMM_WORLD, code)
  call fold_class(code)
  call MPI_Barrier(MPI_COMM_NULL, code)
  call fold_class(code)
  call MPI_Irecv(v, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, r ERR
  call MPI_Send(many, 4, MPI_INTEGER, right, 3, MPI_COMM_WORLD ERR
  call MPI_Wait(r, MPI_STATUS_IGNORE, code)
  call fold_class(code)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL ERR
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL ERR
  call MPI_Barrier(MPI_COMM_WORLD ERR
  call known('WW_COMM 2')
contains
  subroutine fold_class(code)
    integer, intent(in) :: code
    integer :: class
    call MPI_Error_class(code, class ERR
    call fold(class)
  end subroutine fold_class
end subroutine case_errors

! Requests and objects of the unusual kinds.
subroutine case_rarities
  use state
  USES
  implicit none
  INCLUDES
  REQUEST :: r(3)
  STATUS(3) :: s
  MESSAGE_T :: message
  COMM :: comm, ring
  INFO_T :: info
  TYPE_T :: t
  integer :: index, done, indices(3), in, key, length, sums(2), neighbors(2)
  integer(MPI_ADDRESS_KIND) :: value, bytes, position
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  integer(1) :: room(64)
  r = MPI_REQUEST_NULL
  call MPI_Waitany(3, r, index, ONE(s) ERR
  call MPI_Waitsome(3, r, done, indices, s ERR
  CHECK(done == MPI_UNDEFINED)
  call MPI_Testall(3, r, flag, MPI_STATUSES_IGNORE ERR
  CHECK(flag)
  call MPI_Recv_init(in, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, r(1) ERR
  call MPI_Send_init(me, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, r(3) ERR
  call MPI_Waitall(3, r, s ERR
  call MPI_Start(r(1) ERR
  call MPI_Start(r(3) ERR
  call MPI_Waitall(3, r, MPI_STATUSES_IGNORE ERR
  CHECK(in == left)
  call MPI_Request_free(r(1) ERR
  call MPI_Request_free(r(3) ERR
  call MPI_Isend(me, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, r(2) ERR
  call MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE ERR
  call MPI_Imrecv(in, 1, MPI_INTEGER, message, r(1) ERR
  call MPI_Waitall(2, r, s ERR
  CHECK(SOURCE_OF(s, 1) == left)
  call MPI_Irecv(in, 1, MPI_INTEGER, left, 77, MPI_COMM_WORLD, r(1) ERR
  call MPI_Cancel(r(1) ERR
  call MPI_Wait(r(1), ONE(s) ERR
  call MPI_Test_cancelled(ONE(s), flag ERR
  CHECK(flag)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND ERR
  call MPI_Comm_idup(MPI_COMM_WORLD, comm, r(1) ERR
  call MPI_Wait(r(1), MPI_STATUS_IGNORE ERR
  value = 42
  call MPI_Comm_set_attr(comm, key, value ERR
  call MPI_Comm_dup(comm, ring ERR
  value = 0
  call MPI_Comm_get_attr(ring, key, value, flag ERR
  CHECK(flag .and. value == 42)
  call MPI_Comm_set_name(ring, 'a name  ' ERR
  call MPI_Comm_get_name(ring, name, length ERR
  CHECK(name == 'a name' .and. length == 6)
  call MPI_Comm_free(ring ERR
  call MPI_Comm_free(comm ERR
  call MPI_Comm_free_keyval(key ERR
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring ERR
  call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, neighbors, 1, MPI_INTEGER, ring ERR
  CHECK(neighbors(1) == left .and. neighbors(2) == right)
  call MPI_Comm_free(ring ERR
  sums = me
  call MPI_Iallreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1) ERR
  call MPI_Wait(r(1), MPI_STATUS_IGNORE ERR
  CHECK(sums(2) == n * (n - 1) / 2)
  call MPI_Type_contiguous(3, MPI_INTEGER, t ERR
  call MPI_Type_set_name(t, 'three' ERR
  call MPI_Type_get_name(t, name, length ERR
  CHECK(name == 'three')
  call MPI_Type_free(t ERR
  position = 0
  bytes = 64
  call MPI_Pack_external('external32', me, 1, MPI_INTEGER, room, bytes, position ERR
  CHECK(position == 4)
  call MPI_Error_string(MPI_ERR_RANK, text, length ERR
  CHECK(length > 0)
  call MPI_Info_create(info ERR
  call MPI_Info_set(info, ' key ', ' padded ' ERR
  call MPI_Info_get_valuelen(info, 'key', length, flag ERR
  call MPI_Info_free(info ERR
  call MPI_Get_library_version(version, length ERR
  call fold(in)
end subroutine case_rarities

! Writes one line of what the script compares, "NAME COUNT".
subroutine known(line)
  use state
  implicit none
  character(len=*), intent(in) :: line
  character(len=256) :: dir
  character(len=8) :: text
  call get_environment_variable('CASE_CALLS', dir)
  if (dir == ' ') return
  write(text, '(i0)') me
  open(unit=33, file=trim(dir) // '/' // trim(text), action='write', position='append')
  write(33, '(a)') line
  close(33)
end subroutine known

subroutine case_counted
  use state
  USES
  implicit none
  INCLUDES
  integer :: i, in
  REQUEST :: r
  do i = 1, 15
    call MPI_Irecv(in, 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, r ERR
    call MPI_Send(me, 1, MPI_INTEGER, right, i, MPI_COMM_WORLD ERR
    call MPI_Wait(r, MPI_STATUS_IGNORE ERR
    call MPI_Barrier(MPI_COMM_WORLD ERR
  end do
  call MPI_Pcontrol(2)
  call fold(in)
  call known('Irecv 15')
  call known('Send 15')
  call known('Wait 15')
  call known('Barrier 16') ! with that of the main program
  call known('WW_DONE 15')
  call known('WW_CONTROL 1')
  call known('Init 1')
  call known('Finalize 1')
end subroutine case_counted

subroutine run_case(name)
  implicit none
  character(len=*), intent(in) :: name
  select case (name)
  case ('blocking'); call case_blocking
  case ('sendrecv'); call case_sendrecv
  case ('waitall'); call case_waitall
  case ('wait_one'); call case_wait_one
  case ('waitany'); call case_waitany
  case ('waitsome'); call case_waitsome
  case ('testing'); call case_testing
  case ('persistent'); call case_persistent
  case ('probing'); call case_probing
  case ('collectives'); call case_collectives
  case ('in_place'); call case_in_place
  case ('nonblocking_collectives'); call case_nonblocking_collectives
  case ('communicators'); call case_communicators
  case ('grid'); call case_grid
  case ('types'); call case_types
  case ('windows'); call case_windows
  case ('files'); call case_files
  case ('odds_and_ends'); call case_odds_and_ends
  case ('errors'); call case_errors
  case ('rarities'); call case_rarities
  case ('counted'); call case_counted
  case default
    CHECK(.false.)
  end select
end subroutine run_case

program cases
  use state
  USES
  implicit none
  INCLUDES
  character(len=64) :: name
  integer(8) :: all(8)
  integer :: i
  call get_command_argument(1, name)
  if (name == '--list') then
#define LIST(x, ranks) write(*, '(a, i0, a)') FLAVOUR // x // ' ', ranks, ' together'
#define LIST_ALONE(x, ranks) write(*, '(a, i0, a)') FLAVOUR // x // ' ', ranks, ' alone'
    LIST('blocking', 2)
    LIST('sendrecv', 3)
    LIST('waitall', 2)
    LIST('wait_one', 2)
    LIST('waitany', 2)
    LIST('waitsome', 2)
    LIST('testing', 2)
    LIST('persistent', 2)
    LIST('probing', 2)
    LIST('collectives', 3)
    LIST('in_place', 3)
    LIST('nonblocking_collectives', 2)
    LIST('communicators', 4)
    LIST('grid', 3)
    LIST('types', 2)
    LIST('windows', 2)
    LIST('files', 2)
    LIST('odds_and_ends', 2)
    LIST_ALONE('errors', 2)
    LIST('rarities', 2)
    LIST_ALONE('counted', 2)
    stop
  end if
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me ERR
  call MPI_Comm_size(MPI_COMM_WORLD, n ERR
  left = mod(me + n - 1, n)
  right = mod(me + 1, n)
  do i = 1, command_argument_count()
    call get_command_argument(i, name)
    digest = 17
    call run_case(name(len(FLAVOUR) + 1:))
    call MPI_Gather(digest, 1, MPI_INTEGER8, all, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD ERR
    if (me == 0) print '(a, 8(1x, i0))', trim(name), all(1:n)
    call MPI_Barrier(MPI_COMM_WORLD ERR
  end do
  call MPI_Finalize(ierr)
end program cases
