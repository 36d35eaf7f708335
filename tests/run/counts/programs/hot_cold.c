/* SPDX-License-Identifier: BSD-3-Clause */
/* flags: -ffunction-sections -Wl,--gc-sections -freorder-blocks-and-partition
 * Functions in sections of their own, some dropped by the linker, some split into hot and cold parts. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

int never_called(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i & n;
    return sum;
}
int never_called_either(int n)
{
    counts_sync();
    return never_called(n) + 1;
}

__attribute__((cold, noinline)) static void complain(int n)
{
    counts_sync();
    printf("%d\n", n);
}

__attribute__((noinline)) static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i * n;
        if (__builtin_expect(sum % 1000 == 77, 0)) {
            complain(i);
            sum += 3;
            for (int j = 0; j < 5; j++)
                if (sum % 3 == j)
                    complain(-j);
        }
    }
    return sum;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += work(i);
    counts_sync();
    printf("%d\n", sum);
    return 0;
}
