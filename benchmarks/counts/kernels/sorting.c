/* SPDX-License-Identifier: BSD-3-Clause */
/* Quicksort with insertion sort for short parts: unpredictable branches, recursion. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 4000000 };
static unsigned values[N];

static void sort(unsigned *a, long n)
{
    while (n > 16) {
        unsigned pivot = a[n / 2];
        long i = 0, j = n - 1;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                unsigned kept = a[i];
                a[i++] = a[j];
                a[j--] = kept;
            }
        }
        sort(a, j + 1);
        a += i;
        n -= i;
    }
    for (long i = 1; i < n; i++) {
        unsigned kept = a[i];
        long j = i;
        for (; j > 0 && a[j - 1] > kept; j--)
            a[j] = a[j - 1];
        a[j] = kept;
    }
}

int main(void)
{
    unsigned state = 1, sum = 0;
    for (int round = 0; round < 2; round++) {
        for (long i = 0; i < N; i++)
            values[i] = state = state * 1664525u + 1013904223u;
        sort(values, N);
        for (long i = 0; i < N; i += 1000)
            sum = sum * 31 + values[i];
    }
    printf("%u\n", sum);
    return 0;
}
