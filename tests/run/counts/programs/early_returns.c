/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that may return at once: an argument, another one, a constant, one of several, out of a first loop. Those
 * whose names begin with `may_` save no registers before they know (check_code.sh). */
#include "tests/run/counts/sync.h"
#include <stdio.h>

#define KEPT __attribute__((noinline, noclone))

KEPT static long may_return_it(long n)
{
    return n < 2 ? n : may_return_it(n - 1) + may_return_it(n - 2);
}

KEPT static long may_return_other(long n, long other)
{
    if (n < 2)
        return other;
    counts_sync();
    return may_return_other(n - 1, other + 1) * 3 + may_return_other(n - 2, n);
}

KEPT static long may_return_constant(long n)
{
    if (n < 2)
        return 1;
    long left = may_return_constant(n - 1);
    return left + may_return_constant(n - 2) + n;
}

KEPT static double returns_number(double x, int n)
{
    if (n == 0)
        return x;
    double sum = returns_number(x + 1, n - 1);
    return sum * x + returns_number(sum, n / 2);
}

KEPT static long returns_one_of(long a, long b, long n)
{
    if (n < 1)
        return a;
    if (n < 2)
        return b;
    if (a > 1000)
        return a - b;
    return returns_one_of(b, a + n, n - 1) + returns_one_of(a, b, n - 2);
}

KEPT static long returns_either(long a, long b, long n)
{
    if (n > 3)
        return b;
    return a;
}

KEPT static const int *finds_first(const int *at, const int *end, int key)
{
    if (at == end)
        return end;
    while (*at != key)
        if (++at == end)
            return end;
    counts_sync();
    const int *next = finds_first(at + 1, end, key);
    return next == end ? at : next;
}

KEPT static void may_do_nothing(long n, long *sum)
{
    if (n <= 0)
        return;
    may_do_nothing(n - 1, sum);
    *sum += n;
    may_do_nothing(n - 3, sum);
}

int main(int argc, char **argv)
{
    (void)argv;
    static const int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    long sum = 0;
    may_do_nothing(14, &sum);
    sum +=
        may_return_it(16 + argc) + may_return_other(10 + argc, 4) + may_return_constant(12) + returns_one_of(1, 2, 12);
    for (int key = 0; key < 10; key++)
        sum += finds_first(numbers, numbers + 11, key) - numbers;
    counts_sync();
    if (returns_either(argc, 7 * argc, argc) != argc || returns_either(argc, 7 * argc, argc + 3) != 7 * argc)
        return 1;
    printf("%ld %.6g\n", sum, returns_number(0.001, 8));
    return 0;
}
