/* SPDX-License-Identifier: BSD-3-Clause */
/* One routine is called directly and through a pointer, by one caller; another one through pointers alone, also from
 * the C library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 1500, LENGTH = 64 };
#define KEPT __attribute__((noinline, noclone))

KEPT static double called_both_ways(double x)
{
    for (int i = 0; i < 200; i++)
        x = x * 0.999 + 0.001;
    return x;
}

KEPT static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static double (*volatile pointer)(double) = called_both_ways;
static int (*volatile order)(const void *, const void *) = compare;

KEPT static double calls(int *list)
{
    double x = 0;
    for (int i = 0; i < TURNS; i++) {
        x = called_both_ways(x);
        x += pointer(x);
        x += order(&list[i % LENGTH], &list[0]);
    }
    qsort(list, LENGTH, sizeof *list, order);
    return x;
}

int main(int argc, char **argv)
{
    int list[LENGTH];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < LENGTH; i++)
        list[i] = i * 7919 % 31;
    printf("%.6f\n", calls(list));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
