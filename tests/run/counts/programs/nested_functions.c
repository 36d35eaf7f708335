/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested functions, one of which jumps out of a library function into its parent (a non-local goto). */
#include "tests/run/counts/sync.h"
#include <stdio.h>
#include <stdlib.h>

static int accumulate(int n)
{
    int sum = 0;
    void add(int x)
    {
        if (x % 3)
            sum += x;
        if (x == 7)
            counts_sync();
    }
    for (int i = 0; i < n; i++)
        add(i);
    return sum;
}

static int find(int *values, int n, int wanted)
{
    __label__ found;
    int compare(const void *a, const void *b)
    {
        if (*(const int *)a == wanted)
            goto found;
        return *(const int *)a - *(const int *)b;
    }
    counts_sync();
    qsort(values, n, sizeof *values, compare);
    return 0;
found:
    counts_sync();
    return 1;
}

/* The jump removes the frames of the calls before it. */
static int climb(int n)
{
    __label__ top;
    int left = 0;
    void down(int depth)
    {
        if (depth == 0)
            goto top;
        down(depth - 1);
        left++;
    }
    if (n % 2)
        down(n);
top:
    return left + n;
}

int main(void)
{
    int values[20], n_found = 0;
    for (int i = 0; i < 20; i++)
        values[i] = i * 7 % 20;
    int sum = accumulate(20);
    for (int i = 0; i < 5; i++)
        n_found += find(values, 20, i * 6) + climb(i * 3);
    counts_sync();
    printf("%d %d\n", sum, n_found);
    return 0;
}
