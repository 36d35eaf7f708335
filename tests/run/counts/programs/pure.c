/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the compiler finds pure or const, and calls in loops; varargs; a large structure returned. */
#include "tests/run/counts/sync.h"
#include <stdarg.h>
#include <stdio.h>

__attribute__((noinline)) static int square(int x)
{
    int sum = 0;
    for (int i = 0; i < (x & 7); i++)
        sum += x;
    return sum;
}
__attribute__((noinline, pure)) static int weight(const int *a, int n)
{
    if (n <= 1)
        return n ? a[0] : 0;
    return weight(a, n / 2) + weight(a + n / 2, n - n / 2) % 5;
}
static int sum_of(int n, ...)
{
    va_list arguments;
    int sum = 0;
    va_start(arguments, n);
    while (n-- > 0)
        sum += va_arg(arguments, int);
    va_end(arguments);
    return sum;
}
struct large {
    int values[40];
};
__attribute__((noinline)) static struct large make(int n)
{
    struct large large = {{0}};
    for (int i = 0; i < 40; i += n)
        large.values[i] = i;
    if (n == 3)
        counts_sync();
    return large;
}
__attribute__((noinline)) static struct large forward(int n)
{
    return make(n > 2 ? n : 3);
}

int main(void)
{
    int values[100], sum = 0;
    for (int i = 0; i < 100; i++)
        values[i] = square(i) - square(i + 1);
    for (int i = 0; i < 100; i += 7) {
        sum += weight(values, i) + weight(values, i);
        sum += sum_of(i % 5, 1, 2, 3, 4);
        if (i % 3 == 0)
            counts_sync();
        sum += forward(i % 5 + 1).values[3];
    }
    counts_sync();
    printf("%d\n", sum);
    return 0;
}
