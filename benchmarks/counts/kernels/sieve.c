/* SPDX-License-Identifier: BSD-3-Clause */
/* The sieve of Eratosthenes, in segments that fit the cache. */
#include <stdio.h>
#include <string.h>

enum { SEGMENT = 1 << 15, SEGMENTS = 11000, ROOT = 16384 };
static unsigned char is_composite[SEGMENT];
static unsigned primes[ROOT];

int main(void)
{
    int n_primes = 0;
    long count = 0;
    for (unsigned p = 2; p < ROOT; p++) {
        int is_prime = 1;
        for (int i = 0; i < n_primes && primes[i] * primes[i] <= p; i++)
            if (p % primes[i] == 0) {
                is_prime = 0;
                break;
            }
        if (is_prime)
            primes[n_primes++] = p;
    }
    for (long segment = 0; segment < SEGMENTS; segment++) {
        long low = segment * SEGMENT;
        memset(is_composite, 0, sizeof is_composite);
        for (int i = 0; i < n_primes; i++) {
            long p = primes[i];
            if (p * p >= low + SEGMENT)
                break;
            long first = (low + p - 1) / p * p;
            for (long k = (first < p * p ? p * p : first) - low; k < SEGMENT; k += p)
                is_composite[k] = 1;
        }
        for (int k = 0; k < SEGMENT; k++)
            count += !is_composite[k];
    }
    printf("%ld\n", count);
    return 0;
}
