/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks.h"
#include <setjmp.h>

static jmp_buf before;
int n_failed, n_odd;

int attempt(void (*task)(int), int n)
{
    if (setjmp(before)) {
        n_failed++; /* executed 250 times */
        return 1;
    }
    task(n);
    if (n % 2)
        n_odd++; /* executed 500 times */
    return 0;
}

void give_up(int n)
{
    longjmp(before, n + 1); /* executed 250 times */
}
