/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of all shapes: nested, with several exits, with continue, bottom-tested, endless with break, triangular. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

static int data[64];

static int nested(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (data[(i * j) & 63] & 1)
                sum += j;
            else
                sum ^= i;
    return sum;
}

static int exits(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (data[i & 63] == 41)
            continue;
        if (sum > 100000)
            return sum;
        do {
            sum += data[i & 63];
            if (sum % 17 == 3)
                break;
        } while (sum % 5);
    }
    return sum;
}

static int endless(int n)
{
    for (int i = 0;;) {
        if (i++ > n)
            return i;
        if (i % 7 == 0)
            counts_sync();
        while (i % 3)
            if (++i % 11 == 0)
                goto out;
        continue;
    out:
        i += 2;
    }
}

static void with_calls(int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 3; j++)
            data[j + i] += nested(j);
        if (i & 1)
            counts_sync();
        else if (i & 4)
            data[i]++;
    }
}

/* Entered in the middle: an irreducible region. */
static int irreducible(int n)
{
    int i = 0, sum = 0;
    if (n & 1)
        goto second;
first:
    sum += data[i & 63];
    i++;
second:
    sum ^= i;
    if (++i < n)
        goto first;
    return sum;
}

int main(void)
{
    for (int i = 0; i < 64; i++)
        data[i] = i * 7919 % 101;
    int sum = nested(30);
    counts_sync();
    sum += exits(200);
    sum += endless(60);
    with_calls(20);
    sum += irreducible(21) + irreducible(40);
    counts_sync();
    for (volatile int i = 0; i < 0; i++)
        sum++;
    counts_sync();
    printf("%d\n", sum);
    return 0;
}
