/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices between values: of integers and numbers, by a bit, beside calls, in recursions, and with empty ways back.
 * Those whose names begin with `chooses_` are without a jump for the choice (check_code.sh). */
#include "tests/run/counts/sync.h"
#include <stdio.h>

#define KEPT __attribute__((noinline, noclone))

static unsigned long state = 88172645463325252ul;

KEPT static double next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

KEPT static long chooses_beside_calls(long n)
{
    long inside = 0;
    for (long i = 0; i < n; i++) {
        double x = next(), y = next();
        if (x * x + y * y < 1)
            inside++;
    }
    return inside;
}

KEPT static unsigned chooses_by_bit(unsigned value)
{
    unsigned rest = ~0u;
    for (; value; value >>= 3) {
        rest ^= value & 255;
        for (int k = 0; k < 8; k++)
            rest = rest & 1 ? (rest >> 1) ^ 0xEDB88320u : rest >> 1;
    }
    return rest;
}

KEPT static double largest_change(double *u, int n)
{
    double largest = 0;
    for (int i = 1; i + 1 < n; i++) {
        double now = (u[i - 1] + u[i + 1]) / 2, change = now - u[i];
        if (change < 0)
            change = -change;
        if (change > largest)
            largest = change;
        u[i] = now;
    }
    return largest;
}

KEPT static int neighbours(const int (*cells)[16], int at)
{
    int n = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            if (i || j)
                n += cells[at / 16 + i][at % 16 + j];
    return n;
}

KEPT static int queens(int n, unsigned columns, unsigned left, unsigned right)
{
    if (columns == (1u << n) - 1)
        return 1;
    int found = 0;
    for (unsigned free = ~(columns | left | right) & ((1u << n) - 1); free; free &= free - 1) {
        unsigned one = free & -free;
        found += queens(n, columns | one, (left | one) << 1, (right | one) >> 1);
    }
    return found;
}

KEPT static int rises(const int *numbers, int n)
{
    int longest = 0, now = 0;
    for (int i = 1; i < n; i++) {
        now = numbers[i] > numbers[i - 1] ? now + 1 : 0;
        longest = now > longest ? now : longest;
        if (now == 7)
            counts_sync();
    }
    return longest;
}

int main(int argc, char **argv)
{
    static int cells[16][16], numbers[999];
    static double heights[200] = {1};
    int sum = 0;
    (void)argv;
    for (int i = 0; i < 256; i++)
        cells[i / 16][i % 16] = next() < 0.4;
    for (int i = 0; i < 999; i++)
        numbers[i] = (int)(next() * 1000);
    sum += (int)chooses_beside_calls(500 * argc);
    counts_sync();
    sum += (int)(chooses_by_bit(7001u * (unsigned)argc) % 1000);
    for (int i = 0; i < 20; i++)
        sum += (int)(1e6 * largest_change(heights, 200));
    for (int i = 1; i < 15; i++)
        for (int j = 1; j < 15; j++)
            sum += neighbours((const int(*)[16])cells, i * 16 + j);
    counts_sync();
    sum += queens(6 + argc, 0, 0, 0) + rises(numbers, 998 + argc);
    printf("%d\n", sum);
    return 0;
}
