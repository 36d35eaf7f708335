/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that call functions of this unit: some end no interval, whatever they call, others do, through one call or
 * several, and one may be replaced by the linker. In those whose names begin with `tells_` nothing is counted in the
 * loop (check_code.sh).
 */
#include "tests/run/counts/sync.h"
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noclone))

static double cells[64];
static long n_moves;

KEPT static void relax(double *cell, double factor)
{
    *cell += factor * (1 - *cell);
    n_moves++;
}
KEPT static void relax_pair(double *cell)
{
    relax(cell, .5);
    if (*cell > .9)
        relax(cell + 1, .25);
}
static void relax_by_another_name(double *cell, double factor) __attribute__((alias("relax")));

KEPT static void may_end_interval(int i)
{
    if (i % 7 == 3)
        counts_sync();
    n_moves++;
}
KEPT static void ends_interval_below(int i)
{
    cells[i & 63] += 1;
    may_end_interval(i);
}

/* Another object could define it, and end an interval there. */
__attribute__((weak)) void replaceable(int i)
{
    n_moves += i;
}

/* Calls itself from a loop, and ends no interval. */
KEPT static void permute(int *values, int from, int n)
{
    if (from == n) {
        n_moves += values[0];
        return;
    }
    for (int i = from; i < n; i++) {
        int kept = values[from];
        values[from] = values[i];
        values[i] = kept;
        permute(values, from + 1, n);
        values[i] = values[from];
        values[from] = kept;
    }
}

/* Calls itself from a loop, and ends an interval now and then, with frames in the middle of the loop. */
KEPT static int descend(int depth, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i & 1 ? depth : -i;
        if (depth > 0)
            sum += descend(depth - 1, n - 1);
        else if (i == 1)
            counts_sync();
    }
    return sum;
}

/* The one calls the other, which ends no interval by itself. */
static void swing(int n, int i);
KEPT static void swing_back(int n, int i)
{
    for (int k = 0; k < n; k++)
        swing(n - 1, i + k);
}
KEPT static void swing(int n, int i)
{
    for (int k = 0; k < n; k++)
        if (k + i & 1)
            swing_back(n - 2, i);
        else if (n == 1)
            counts_sync();
}

/* Its calls come back, or the program ends. */
KEPT static void check(int value)
{
    if (value < 0) {
        puts("negative");
        exit(1);
    }
}

KEPT static void tells_of_helpers(int n)
{
    for (int i = 0; i < n; i++) {
        relax(&cells[i & 63], .125);
        relax_pair(&cells[i & 31]);
    }
}
KEPT static void tells_of_aliases(int n)
{
    for (int i = 0; i < n; i++)
        relax_by_another_name(&cells[i & 63], .5);
}

KEPT static void with_intervals(int n)
{
    for (int i = 0; i < n; i++)
        may_end_interval(i);
    for (int i = 0; i < n; i++)
        ends_interval_below(i);
    for (int i = 0; i < n; i++)
        replaceable(i);
    for (int i = 0; i < n; i++)
        check(i);
}

KEPT static void by_pointer(void (*act)(int), int n)
{
    for (int i = 0; i < n; i++)
        act(i);
}

int main(void)
{
    int values[6] = {1, 2, 3, 4, 5, 6};
    for (int n = 0; n < 40; n += 13) {
        tells_of_helpers(n);
        tells_of_aliases(n + 1);
        with_intervals(n);
        counts_sync();
    }
    permute(values, 0, 6);
    counts_sync();
    by_pointer(may_end_interval, 10);
    printf("%d\n", descend(3, 5));
    swing(7, 1);
    printf("%ld %.6f\n", n_moves, cells[5] + cells[37]);
    return 0;
}
