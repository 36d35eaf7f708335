/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

static thread_local long own = 3;

int archive_work(int n)
{
    long sum = own++;
    for (int i = n; i > 0; i /= 2)
        sum += summed<long>(i);
    return (int)sum;
}

int archive_unused(int n)
{
    return n > 3 ? archive_work(n) : 0;
}
