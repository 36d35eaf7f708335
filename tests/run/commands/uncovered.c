/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of an MPI that is newer than the recorder: it calls a function of MPI, in a library of its own here, that
 * no wrapper covers, and does arithmetic on addresses, which is a function in some MPIs. Its arguments go in registers
 * and on the stack, and so does its result. */
#include <mpi.h>
#include <stdio.h>

double MPI_Frobnicate(int a, double b, long c, int d, int e, int f, int g, int h, double i);

#ifdef LIBRARY
double MPI_Frobnicate(int a, double b, long c, int d, int e, int f, int g, int h, double i)
{
    return a + b + (double)c + d + e + f + g + h + i;
}
#else
int main(int argc, char **argv)
{
    double sum = 0;
    MPI_Aint at = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 240; i++) {
        sum += MPI_Frobnicate(1, 2.5, 3, 4, 5, 6, 7, 8, 9.5);
        at = MPI_Aint_add(at, 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum == 240 * 46.0 && at == 240 ? 0 : 1;
}
#endif
