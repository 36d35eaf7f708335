/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways that end in the same calls: a solver that scales its system or not, and factors it or not. Each call is in
 * flight when an interval ends, and its return address has to name the one way it lies on; the compiler would share the
 * code of the calls between them.
 */
#include "tests/run/counts/sync.h"
#include <stdio.h>

enum { N = 8, CASES = 400 };

static int calls;

__attribute__((noipa)) static int work(int *a, const int *b)
{
    counts_sync();
    *a += *b;
    return ++calls % 3;
}

__attribute__((noipa)) static int is_yes(const char *answer)
{
    return *answer == 'y';
}

__attribute__((noipa)) static int solve(const char *answers, int *a, int *b, int *c, int n, int *info)
{
    int is_new = is_yes(answers), is_scaling = is_yes(answers + 1), is_scaled = 0;
    *info = 0;
    if (is_new || is_scaling)
        *b = 1;
    else
        is_scaled = is_yes(answers + 2);
    if (!is_new && !is_scaling && !is_yes(answers + 3)) {
        *info = -1;
    } else if (is_scaled) {
        int least = 100;
        for (int i = 0; i < n; i++)
            least = a[i] < least ? a[i] : least;
        if (least < -100)
            *info = -2;
    }
    if (*info)
        return 0;
    if (is_scaling && work(a, c) != 0) {
        work(c, a);
        is_scaled = is_yes(answers + 2);
    }
    if (is_scaled)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                b[i] = (a[i] * b[i] + j) & 255;
    if (is_new || is_scaling) {
        work(a, b);
        *info = work(a, c);
        if (*info == 1) {
            *c = 0;
            return 0;
        }
    }
    *b += work(b, a);
    work(c, a);
    work(b, c);
    work(c, b);
    if (is_scaled) {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                a[i] = (b[i] * 3 + j) & 255;
        for (int i = 0; i < n; i++)
            c[i] = c[i] / (1 + (*b & 3)) & 255;
    }
    if (*a < *b)
        *info = n + 1;
    return *info;
}

int main(void)
{
    int a[N] = {1}, b[N] = {2}, c[N] = {3}, sum = 0, info;
    for (int i = 0; i < CASES; i++) {
        char answers[4];
        for (int k = 0; k < 4; k++)
            answers[k] = i * 7 / 5 >> k & 1 ? 'y' : 'n';
        sum += solve(answers, a, b, c, i % N, &info);
    }
    counts_sync();
    printf("%d\n", sum);
    return 0;
}
