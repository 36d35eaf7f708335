/* SPDX-License-Identifier: BSD-3-Clause */
/* Control flow of all kinds, line by line: check_gcov.sh compares each line's count with gcov's. */
#include <mpi.h>
#include <stdio.h>

static int primes(int n)
{
    int found = 0;
    for (int i = 2; i < n; i++) {
        int is_prime = 1;
        for (int k = 2; k * k <= i; k++) {
            if (i % k == 0) {
                is_prime = 0;
                break;
            }
        }
        if (!is_prime)
            continue;
        found++;
    }
    return found;
}

__attribute__((always_inline)) static inline int clamp(int n, int low)
{
    if (n < low) /* executed 74 times */
        n = low;
    return n;
}

static int inlined(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += clamp(i, 3);
    for (int i = 0; i < 2 * n; i++) {
        sum -= clamp(sum, -i);
        if (i % 3 == 0)
            sum += clamp(sum, 7);
    }
    return sum;
}

static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static int classify(int value)
{
    switch (value % 5) {
    case 0:
        value /= 5;
        /* fall through */
    case 1:
        value++;
        break;
    case 3:
        return -value;
    default:
        value = value > 10 ? 10 : value;
    }
    return value;
}

static int search(const int *list, int n, int key)
{
    int at = 0;
again:
    if (at == n)
        goto missing;
    if (list[at] != key) {
        at++;
        goto again;
    }
    return at;
missing:
    return -1;
}

static int never(int x)
{
    if (x)
        return 1;
    return 2;
}

int main(int argc, char **argv)
{
    int list[10], sum = 0, rounds = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++)
        list[i] = i * i;
    do {
        sum += primes(50 + rounds);
        MPI_Barrier(MPI_COMM_WORLD);
        sum += search(list, 10, rounds * rounds);
        rounds++;
    } while (rounds < 13);
    while (rounds > 3 && sum != 77)
        sum += classify(rounds--);
    sum += ackermann(2, 3) + inlined(20);
    if (argc > 100)
        sum += never(sum);
    printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
