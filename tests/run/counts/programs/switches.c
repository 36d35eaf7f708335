/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense, sparse and nested switches, fall-through, a switch that returns. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

static unsigned state = 12345;

static unsigned next(void)
{
    return state = state * 1103515245u + 12345u, state >> 16 & 0x7fff;
}

static int dense(unsigned x)
{
    int sum = 0;
    switch (x % 9) {
    case 0:
        sum++; /* fall through */
    case 1:
        sum += 3;
        break;
    case 2:
        counts_sync();
        break;
    case 3:
        return -1;
    case 4:
    case 5:
        for (unsigned i = 0; i < x % 7; i++)
            sum += (int)i;
        break;
    case 7:
        switch (x % 4) {
        case 1:
            sum -= 5;
            break;
        case 3:
            sum *= 2;
        }
        break;
    default:
        sum = 100;
    }
    return sum;
}

static const char *sparse(unsigned x)
{
    switch (x) {
    case 1:
        return "one";
    case 1000:
        return "thousand";
    case 31000:
        return "many";
    case 77:
        return "seventy-seven";
    }
    return x > 20000 ? "large" : "small";
}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 500; i++) {
        sum += dense(next());
        sum += sparse(i % 3 ? next() : 77)[0];
        if (i % 100 == 99)
            counts_sync();
    }
    printf("%ld\n", sum);
    counts_sync();
    return 0;
}
