/* SPDX-License-Identifier: BSD-3-Clause */
/* What compilers see now and then: asm goto, always_inline, thread_local, weak and ifunc symbols, several versions of a
 * function, statement expressions, forwarded calls, cleanup handlers, variadic functions, complex and 128-bit numbers,
 * constructors. */
#include "tests/run/counts/sync.h"
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int per_thread;
static int cleaned;

static inline __attribute__((always_inline)) int clamp(int value, int low, int high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

static __attribute__((noinline)) int by_asm(int value)
{
    __asm__ goto("testl %0, %0\n\tjs %l[negative]" : : "r"(value) : "cc" : negative);
    return value * 2;
negative:
    per_thread++;
    return -value;
}

static void clean(int *value)
{
    cleaned += *value > 3;
}

static __attribute__((noinline)) int with_cleanup(int n)
{
    int kept __attribute__((cleanup(clean))) = n;
    for (int i = 0; i < n; i++) {
        int inner __attribute__((cleanup(clean))) = i;
        if (inner == 5)
            return kept;
        kept += ({
            int x = inner;
            x > 2 ? x : 0;
        });
    }
    counts_sync();
    return kept;
}

static __attribute__((noinline)) long sum_of(int n, ...)
{
    va_list list;
    long sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}

__attribute__((weak)) int weak_one(int x)
{
    return x > 0 ? x + 1 : -x;
}

static int resolved_one(int x)
{
    int sum = 0;
    while (x-- > 0)
        sum += x;
    return sum;
}

static void *resolve(void)
{
    return (void *)resolved_one;
}
int by_ifunc(int x) __attribute__((ifunc("resolve")));

__attribute__((target_clones("avx2", "default"))) double cloned(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static __attribute__((noinline)) double complex rotate(double complex z, int n)
{
    for (int i = 0; i < n; i++)
        z = z * (0.6 + 0.8 * I) + (creal(z) > 0 ? 0.5 : -0.5);
    return z;
}

static __attribute__((noinline)) unsigned long wide(unsigned long a, unsigned long b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    int shifts = 0;
    while (product >> 64) {
        product >>= 3;
        shifts++;
    }
    return (unsigned long)product + shifts;
}

static int constructed;
__attribute__((constructor)) static void construct(void)
{
    for (int i = 0; i < 7; i++)
        constructed += i;
}

static __attribute__((cold, noinline)) void rarely(int i)
{
    if (i & 1)
        per_thread += 2;
}

static __attribute__((noinline)) int switch_range(int c)
{
    switch (c) {
    case 'a' ... 'f':
        return c - 'a' + 10;
    case '0' ... '9':
        return c - '0';
    case 1000:
        __builtin_unreachable();
    default:
        return -1;
    }
}

static __attribute__((noinline, used)) int forwarded(int value, int n)
{
    for (int i = 0; i < n; i++)
        value += i & 1 ? value >> 2 : i;
    counts_sync();
    return value;
}

/* Returns what another function has returned, with no return statement of its own. Only GCC has that. */
static __attribute__((noinline)) int forward(int value, int n)
{
#ifdef __clang__
    return n > 6 ? value : forwarded(value, n);
#else
    void *result = __builtin_apply((void (*)(void))forwarded, __builtin_apply_args(), 64);
    if (n > 6)
        return value;
    __builtin_return(result);
#endif
}

int main(void)
{
    double values[64];
    long sum = 0;
    for (int i = 0; i < 64; i++)
        values[i] = i * 0.25;
    for (int round = 0; round < 9; round++) {
        for (int i = -5; i < 40; i++) {
            sum += clamp(i, round, 20) + by_asm(i) + weak_one(i) + switch_range('0' + i);
            if (__builtin_expect(i == 33, 0))
                rarely(round);
        }
        sum += with_cleanup(round) + sum_of(3, round, 2, 3) + by_ifunc(round) + forward(round, 5 + round % 3);
        counts_sync();
        sum += (long)cloned(values, 64) + (long)cabs(rotate(1 + round, 5)) + (long)(wide(~0ul, round + 12345) >> 40);
    }
    counts_sync();
    printf("%ld %d %d %d\n", sum, per_thread, cleaned, constructed);
    return 0;
}
