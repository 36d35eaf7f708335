/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with open addressing: short probe loops, memory-bound in part. */
#include <stdint.h>
#include <stdio.h>

enum { BITS = 18, SIZE = 1 << BITS, N = 180000, ROUNDS = 160 };
static uint64_t keys[SIZE];
static uint32_t counts[SIZE];

static uint32_t *find(uint64_t key)
{
    uint64_t slot = key * 0x9e3779b97f4a7c15u >> (64 - BITS);
    while (keys[slot] && keys[slot] != key)
        slot = (slot + 1) & (SIZE - 1);
    keys[slot] = key;
    return &counts[slot];
}

int main(void)
{
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t state = 88172645463325252u;
        for (int i = 0; i < N; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            sum += ++*find(state | 1);
        }
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
