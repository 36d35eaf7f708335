/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop that waits in MPI, which is reached through the linkage table, and calls a routine without a loop. */
void MPI_Barrier(int comm);

__attribute__((noipa)) static double straight(double x)
{
    return x * 0.999999 + 1e-6;
}

double steps(long n, double x)
{
    for (long i = 0; i < n; i++) {
        x = straight(x);
        MPI_Barrier(0);
    }
    return x;
}
