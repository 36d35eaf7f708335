/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations that an exit tells: by equality after a step, before it, with breaks beside it, over constant addresses,
 * with pointers that go down, with steps that are jumped over; and choices of values before joins of all kinds. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

enum { N = 64 };
static int data[N];

/* Both bounds are constant addresses: as numbers they must be made of them. */
static int constant_bounds(int limit)
{
    int sum = 0;
    for (const int *at = data + 7; at != data + 47; at += 4) {
        sum += *at;
        if (sum > limit)
            break;
    }
    for (const int *at = data + 60; at > data + 3; at--) {
        if (*at == limit)
            return sum;
        sum ^= *at;
    }
    return sum;
}

static int downwards(const short *first, const short *last, int stop)
{
    int sum = 0;
    while (last != first) {
        last -= 2;
        if (*last == stop)
            break;
        sum += *last;
    }
    return sum;
}

static int after_step(unsigned n, int stop)
{
    unsigned i = 0;
    int sum = 0;
    for (;;) {
        sum += data[i & (N - 1)];
        if (data[i & (N - 1)] == stop)
            break;
        i += 2;
        if (i == n)
            break;
        if (sum % 13 == 5)
            return sum + (int)i;
    }
    return sum ^ (int)i;
}

/* The test of `done` is known wherever it is set, so that jumps lead past it, over the step as well. */
static int threaded(int n, int stop)
{
    int done = 0, i = 0, sum = 0;
    while (!done && i < n) {
        i++;
        if (data[i & (N - 1)] == stop)
            done = 1;
        else if (data[i & (N - 1)] == stop + 1)
            done = 2;
        else
            sum += i;
    }
    return done == 2 ? -sum : sum + done;
}

/* A join that only the choice leads to, and one that others lead to as well. */
static int choices(int n)
{
    int least = 1000, most = 0, odd = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        int value = data[i & (N - 1)];
        least = value < least ? value : least;
        if (value & 1)
            odd += 2;
        if (value % 5 == 0)
            sum -= 3;
        else if (value % 7 == 0)
            sum += 1;
        else
            sum = value > most ? sum + i : sum;
        if (value > most)
            most = value;
        else
            odd--;
        if (sum > 900)
            break;
    }
    return least + most * 3 + odd * 5 + sum;
}

static int nested(int n, int stop)
{
    int sum = 0;
    for (int i = n; i >= 0; i -= 4)
        for (int j = i; j != n + 8; j += 1) {
            sum += data[(i * j) & (N - 1)] > stop ? i : j;
            if (sum % 97 == stop)
                goto next;
            if (sum % 101 == stop)
                return sum;
        next:;
        }
    return sum;
}

int main(void)
{
    static short small[N];
    int sum = 0;
    for (int i = 0; i < N; i++)
        small[i] = (short)(data[i] = i * 7919 % 101);
    for (int stop = 0; stop < 12; stop++) {
        sum += constant_bounds(stop * 70) + downwards(small + 2 * stop, small + N, stop * 9);
        sum += after_step(40 + 2 * (unsigned)stop, stop) + threaded(stop * 6, stop * 5);
        sum += choices(stop * 9) + nested(stop + 5, stop);
        counts_sync();
    }
    printf("%d\n", sum);
    return 0;
}
