/* SPDX-License-Identifier: BSD-3-Clause */
/* An interpreter with computed gotos. */
#include "tests/run/counts/sync.h"
#include <stdio.h>

static long run(const unsigned char *code)
{
    static const void *const labels[] = {&&halt, &&increment, &&twice, &&jump_if, &&synchronise, &&decrement};
    long value = 1, rounds = 0;
    const unsigned char *at = code;
    goto *labels[*at];
increment:
    value++;
    goto *labels[*++at];
decrement:
    value -= 3;
    goto *labels[*++at];
twice:
    value *= 2;
    if (value > 1000)
        value -= 997;
    goto *labels[*++at];
jump_if:
    if (++rounds < 50)
        at = code - 1;
    goto *labels[*++at];
synchronise:
    counts_sync();
    goto *labels[*++at];
halt:
    return value;
}

/* A loop of which the way back is such a jump, and nothing else. */
static __attribute__((noinline)) void spin(int *out, const unsigned short *offsets)
{
    const unsigned short *first = offsets;
    int round = 0;
again:
    if (++round == 4) {
        *out = 0;
        return;
    }
    *out++ = (int)(offsets - first);
    goto *(&&again + *offsets++);
}

int main(void)
{
    static const unsigned short offsets[4];
    int out[4];
    spin(out, offsets);
    static const unsigned char code[] = {1, 2, 5, 2, 4, 1, 3, 0};
    printf("%ld %d\n", run(code), out[2]);
    counts_sync();
    return 0;
}
