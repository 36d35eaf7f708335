/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/run/counts/sync.h"

extern "C" int late_work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            if ((i ^ j) & 1)
                sum += j;
    if (n > 10)
        counts_sync();
    return sum;
}
