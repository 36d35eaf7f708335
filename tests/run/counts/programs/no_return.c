/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not come back: exit from a nested call, with handlers that go on counting. */
#include "tests/run/counts/sync.h"
#include <stdio.h>
#include <stdlib.h>

__attribute__((noreturn, noinline)) static void fail(int code)
{
    counts_sync();
    for (int i = 0; i < code; i++)
        printf("%d\n", i);
    exit(0);
}

__attribute__((noinline)) static int check(int n)
{
    if (n > 30)
        fail(n % 4 + 1);
    return n * 3 % 7;
}

static void at_the_end(void)
{
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum += check(i);
    counts_sync();
    printf("%d\n", sum);
}

int main(void)
{
    atexit(at_the_end);
    int sum = 0;
    for (int i = 0;; i++) {
        sum += check(i);
        if (i % 10 == 3)
            counts_sync();
        if (sum < 0)
            abort();
    }
}
