/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop of so many choices and ways out that only some of its counters have room in variables, with inner loops that
 * tell their iterations themselves. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

enum { N = 64 };
static unsigned data[N];

#define CHOICE(k)                                                                                                      \
    if ((value ^ sum) % ((k) + 5) == (k) % 5) {                                                                        \
        sum += value * (k);                                                                                            \
        for (const unsigned *at = data + (value & 7); at != data + 12; at++)                                           \
            if ((sum ^= *at) % 61 == (k))                                                                              \
                break;                                                                                                 \
        if (sum % 2003 == stop + (k))                                                                                  \
            return sum + (k);                                                                                          \
    }
#define CHOICES(k) CHOICE(k) CHOICE((k) + 1) CHOICE((k) + 2) CHOICE((k) + 3) CHOICE((k) + 4)

__attribute__((noinline)) static unsigned wide(int n, unsigned stop)
{
    unsigned sum = stop;
    for (int i = 0; i < n; i++) {
        unsigned value = data[i & (N - 1)] + (unsigned)i;
        CHOICES(1) CHOICES(6) CHOICES(11) sum = value & 1 ? sum + value : sum;
    }
    return sum;
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < N; i++)
        data[i] = i * 7919 % 101;
    for (unsigned stop = 0; stop < 20; stop++) {
        sum += wide(300, stop * 50);
        counts_sync();
    }
    printf("%u\n", sum);
    return 0;
}
