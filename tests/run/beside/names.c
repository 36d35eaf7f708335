/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in with functions of its own that are called as some Fortran compilers call those of MPI. */
#define PUBLIC __attribute__((visibility("default")))

PUBLIC int mpi_barrier(int number);
PUBLIC int mpi_comm_rank(int number);
PUBLIC const void *names_table(int which);

int mpi_barrier(int number)
{
    return number + 1;
}

int mpi_comm_rank(int number)
{
    return number + 2;
}

/* Taken through the linker's tables, as such plug-ins register what they have. */
const void *names_table(int which)
{
    return which ? (const void *)mpi_barrier : (const void *)mpi_comm_rank;
}
