/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct recursion that synchronises at depth, so that many frames of one function are in flight. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int descend(int depth, int width)
{
    int sum = 0;
    if (depth == 0) {
        counts_sync();
        return 1;
    }
    for (int i = 0; i < width; i++) {
        if (i & 1)
            sum += descend(depth - 1, width);
        else
            sum += 2 * descend(depth - 1, width - 1);
        if (sum > 40)
            return sum;
    }
    return sum;
}

static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void)
{
    int sum = fibonacci(15);
    counts_sync();
    sum += descend(4, 3);
    sum += ackermann(2, 5);
    counts_sync();
    printf("%d\n", sum);
    return 0;
}
