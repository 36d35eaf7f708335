/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the compiler finds out to be pure or const, which they no longer are once they count: callers that are
 * compiled after them, and some that call themselves, alone or through each other.
 */
#include "tests/run/counts/sync.h"
#include <stdio.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

static KEEP const char *kind_name(char tag)
{
    switch (tag) {
    case 'b':
        return "bool";
    case 'c':
        return "char";
    case 'e':
        return "str";
    case 'u':
        return "unit";
    case 'i':
        return "int";
    default:
        return NULL;
    }
}

static KEEP long power(long base, int exponent)
{
    if (exponent == 0)
        return 1;
    long half = power(base, exponent / 2);
    return exponent % 2 ? half * half % 10007 * base % 10007 : half * half % 10007;
}

static int is_odd(unsigned n);
static KEEP int is_even(unsigned n)
{
    return n == 0 || is_odd(n - 1) != 0;
}
static KEEP int is_odd(unsigned n)
{
    return n != 0 && is_even(n - 1) + 0 * n;
}

static int n_errors, n_known;

static KEEP int read_name(const char **text, int depth)
{
    char tag = *(*text)++;
    const char *name = kind_name(tag);
    if (name) {
        n_known++;
        if (depth > 3 && kind_name(**text) != NULL)
            (*text)++;
        return tag == 'u' ? 2 : 1;
    }
    if (tag == 'p') {
        int first = read_name(text, depth + 1);
        if (n_errors || first < 0)
            return -1;
        return first + read_name(text, depth + 1);
    }
    if (tag == '\0') {
        n_errors++;
        (*text)--;
        return -1;
    }
    return kind_name((char)(tag + 1)) ? 3 : 0;
}

static int is_wordy, n_shown;

#define SHOW(text) show(text, strlen(text))

static KEEP void show(const char *text, size_t n)
{
    for (size_t i = 0; !n_errors && i < n; i++)
        n_shown += text[i] == 'i' ? 3 : 1;
}

static KEEP int digits(const char **text)
{
    int value = 0;
    while (**text >= '0' && **text <= '9')
        value = 10 * value + *(*text)++ - '0';
    return value;
}

/* Its call of kind_name stands in a block that jumps are threaded through. */
static KEEP int read_constant(const char **text)
{
    int value = 0;
    if (n_errors)
        return 0;
    char tag = *(*text)++;
    switch (tag) {
    case 'p':
        SHOW("_");
        return 0;
    case 'u':
    case 'e':
        value = digits(text);
        break;
    case 'i':
        if (**text == '-') {
            (*text)++;
            SHOW("-");
        }
        value = digits(text);
        break;
    case 'b':
        value = digits(text) != 0;
        SHOW(value ? "true" : "false");
        break;
    default:
        n_errors++;
        return 0;
    }
    if (!n_errors && is_wordy) {
        SHOW(": ");
        SHOW(kind_name(tag));
    }
    return value;
}

int main(void)
{
    static const char *const words[] = {"bpcu", "ppbcpie", "xpu", "ppppbcdbb", "hap"};
    long sum = 0;
    for (int round = 0; round < 40; round++) {
        const char *at = words[round % 5];
        while (*at && !n_errors)
            sum += read_name(&at, 0);
        counts_sync();
        is_wordy = round % 3;
        n_errors = 0;
        at = round % 4 ? "i-15u3b1pe7" : "b0zi4";
        while (*at && !n_errors)
            sum += read_constant(&at);
        sum += power(round, round) + is_even((unsigned)round % 13);
    }
    counts_sync();
    printf("%ld %d %d\n", sum, n_errors, n_known);
    return 0;
}
