/* SPDX-License-Identifier: BSD-3-Clause */
/* setjmp and longjmp, within a function and across frames that vanish. */
#include "tests/run/counts/sync.h"
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;
static int n_deep;

__attribute__((noinline)) static void deep(int n)
{
    n_deep++;
    if (n == 0)
        longjmp(n_deep % 2 ? outer : inner, n_deep);
    for (int i = 0; i < n; i++) {
        if (n_deep % 5 == 0)
            counts_sync();
        deep(n - 1);
    }
    n_deep += 100;
}

__attribute__((noinline)) static int middle(int n)
{
    volatile int tries = 0;
    int value = setjmp(inner);
    if (value != 0)
        tries++;
    if (tries > 2)
        return value;
    counts_sync();
    deep(n);
    return -1;
}

int main(void)
{
    volatile int rounds = 0, sum = 0;
    int value = setjmp(outer);
    if (value)
        sum += value;
    while (rounds++ < 12) {
        sum += middle(rounds % 4);
        counts_sync();
    }
    printf("%d %d\n", sum, n_deep);
    counts_sync();
    return 0;
}
