! SPDX-License-Identifier: BSD-3-Clause
! As files.c, in Fortran: compiled WITH_MPIF (include 'mpif.h'), WITH_MPI (use mpi) and WITH_F08 (use mpi_f08, where
! ierror is left out). Asks for 4 integers each time, which fill the file.
#ifdef WITH_F08
#define ERR )
#define FILE_T type(MPI_File)
#define REQUEST_T type(MPI_Request)
#define STATUS_T type(MPI_Status)
#else
#define ERR , ierr)
#define FILE_T integer
#define REQUEST_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#endif
#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

program files
#ifdef WITH_F08
  use mpi_f08
#elif defined WITH_MPI
  use mpi
#endif
  implicit none
#ifdef WITH_MPIF
  include 'mpif.h'
#endif
  integer :: me, ierr, line(4)
  integer(kind=MPI_OFFSET_KIND) :: at
  character(len=4000) :: dir, path
  FILE_T :: file
  REQUEST_T :: request
  STATUS_T :: st

  call MPI_Init(ierr)
  call MPI_Comm_rank(WORLD, me ERR
  call get_command_argument(1, dir)
  path = trim(dir) // '/data'
  at = me * 16
  line = me
  call MPI_File_open(WORLD, path, ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, file ERR
  call MPI_File_write_at(file, at, line, 4, MPI_INTEGER, IGNORED ERR
  call MPI_File_write_at_all(file, at, line, 4, MPI_INTEGER, st ERR
  call MPI_File_sync(file ERR
  call MPI_Barrier(WORLD ERR
  call MPI_File_iread_at(file, at, line, 4, MPI_INTEGER, request ERR
  call MPI_Wait(request, IGNORED ERR
  call MPI_File_seek(file, at, MPI_SEEK_SET ERR
  call MPI_File_read(file, line, 4, MPI_INTEGER, st ERR
  call MPI_File_seek(file, at, MPI_SEEK_SET ERR
  call MPI_File_write_all_begin(file, line, 4, MPI_INTEGER ERR
  call MPI_File_write_all_end(file, line, IGNORED ERR
  at = 0
  call MPI_File_seek_shared(file, at, MPI_SEEK_SET ERR
  call MPI_File_read_ordered(file, line, 4, MPI_INTEGER, st ERR
  call MPI_File_close(file ERR

  write (path, '(a, "/", i0)') trim(dir), me
  open (unit=9, file=path)
  write (9, '(a)') 'io_opens 1', 'io_closes 1', 'io_deletes 1', 'io_writes 3', 'io_reads 3', 'io_flushes 1', 'io_issued 2', &
    'io_collective 4', 'io_seeks 3', 'asked:data 96', 'moved:data 96'
  close (9)
  call MPI_Finalize(ierr)
end program files
