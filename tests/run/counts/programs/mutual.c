/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutual recursion, also through pointers and through qsort of the C library. */
#include "tests/run/counts/sync.h"
#include <stdio.h>
#include <stdlib.h>

static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
    if (n == 0)
        return 1;
    if (n % 8 == 4)
        counts_sync();
    return 3 * odd(n - 1);
}
__attribute__((noinline)) static int odd(int n)
{
    if (n == 0)
        return 0;
    return even(n - 1) + 1;
}

typedef int operation(int);
static int again(int n);
static int stop(int n)
{
    return n;
}
static operation *const operations[] = {stop, again, odd};
static int again(int n)
{
    int sum = 0;
    for (int i = 0; i < n % 4; i++)
        sum += operations[i % 3](n - 1 - i);
    return sum;
}

static int n_compared;
static int compare(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    if (++n_compared % 13 == 0)
        counts_sync();
    return a < b ? -1 : a > b;
}

int main(void)
{
    int values[40], sum = even(20) + odd(9);
    for (int i = 0; i < 40; i++)
        values[i] = i * 37 % 41;
    counts_sync();
    qsort(values, 40, sizeof *values, compare);
    sum += again(7) + again(11) + values[3];
    counts_sync();
    printf("%d\n", sum);
    return 0;
}
