/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks name a member that a group does not have, and MPI ends the run: it was too short to have lost anything, so
 * the report begins with its end.
 *
 * ranks: 2
 * exit: any
 * expect: answer=broke-off first="were in MPI_Group_incl at broken_off.c" ends=killed,killed
 */
#include "known.h"

int main(int argc, char **argv)
{
    static const int nobody[] = {1000};
    MPI_Group all, one;
    known_start(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, nobody, &one);
    MPI_Finalize();
    return 0;
}
