/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"
#include "tests/run/counts/sync.h"

static thread_local int own[5]; /* storage of the library's own among the counters */

int shared_work(int n)
{
    int sum = summed<int>(n / 2);
    for (int i = 0; i < n; i++) {
        own[i % 5] += i;
        if (n == 7 && i == 3)
            counts_sync();
    }
    return sum + own[2];
}
