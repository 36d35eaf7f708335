/* SPDX-License-Identifier: BSD-3-Clause */
/* Tail calls: one at the end, several in branches, through a pointer, to a function that synchronises. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

__attribute__((noinline)) static int leaf(int n)
{
    if (n % 3 == 0)
        counts_sync();
    return n + 1;
}

__attribute__((noinline)) static int other(int n)
{
    return n > 5 ? leaf(n - 1) : n;
}

__attribute__((noinline)) static int choose(int n)
{
    switch (n % 5) {
    case 0:
        return leaf(n);
    case 1:
        return other(n * 2);
    case 2:
        return n;
    case 3:
        n = leaf(n);
        break;
    }
    if (n > 50)
        return other(n);
    return leaf(n + 1);
}

__attribute__((noinline)) static long down(long n, long sum)
{
    if (n == 0)
        return sum;
    return down(n - 1, sum + n % 7);
}

typedef int function(int);
__attribute__((noinline)) static int through(function *f, int n)
{
    if (n & 1)
        return f(n);
    return f(n + 1);
}

/* More arguments than the caller has room for: no jump. */
__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
    if (a > 3)
        counts_sync();
    return a + b + c + d + e + f + g + h + i;
}
__attribute__((noinline)) static int few(int a)
{
    if (a > 2)
        return many(a, 1, 2, 3, 4, 5, 6, 7, 8);
    return many(a, a, a, a, a, a, a, a, 9);
}
__attribute__((noinline)) static void nothing(int n)
{
    if (n < 4)
        return;
    counts_sync();
}
__attribute__((noinline)) static void forward(int n)
{
    if (n == 2)
        return;
    nothing(n);
}

int main(void)
{
    long sum = down(1000, 0);
    for (int i = 0; i < 70; i++) {
        sum += choose(i) + through(i % 3 ? leaf : other, i);
        if (i < 6)
            sum += few(i);
        forward(i % 6);
    }
    counts_sync();
    printf("%ld\n", sum);
    return 0;
}
