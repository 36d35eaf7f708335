/* SPDX-License-Identifier: BSD-3-Clause */
/* rename FROM TO: an MPI program that renames a folder while it is recorded. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int failed = argc > 2 ? rename(argv[1], argv[2]) : 0;
    MPI_Finalize();
    return failed;
}
