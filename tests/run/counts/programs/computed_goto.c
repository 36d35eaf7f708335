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

int main(void)
{
    static const unsigned char code[] = {1, 2, 5, 2, 4, 1, 3, 0};
    printf("%ld\n", run(code));
    counts_sync();
    return 0;
}
