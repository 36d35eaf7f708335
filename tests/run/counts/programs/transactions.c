/* SPDX-License-Identifier: BSD-3-Clause */
/* flags: -fgnu-tm */
/* Transactions that are taken back: functions that begin one, and the copies that run within one, are not counted; what
 * they call outside of them is. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

static int data[64];

__attribute__((noinline, transaction_safe)) static int add_up(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += data[i & 63] & 1 ? i : -1;
    return sum;
}

__attribute__((noinline)) static int transact(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        __transaction_atomic
        {
            data[i & 63] += add_up(i);
            if (data[i & 63] % 3 == 0)
                __transaction_cancel;
            sum += data[i & 63];
        }
    return sum;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        sum += transact(i * 3) + add_up(i);
        counts_sync();
    }
    printf("%d\n", sum);
    return 0;
}
