/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls and little else: doubly recursive Fibonacci numbers. */
#include <stdio.h>

__attribute__((noinline)) static long fibonacci(long n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%ld\n", fibonacci(40 + argc));
    return 0;
}
