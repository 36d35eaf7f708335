/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting words and numbers in a text, byte by byte, with a switch. */
#include <stdio.h>
#include <string.h>

enum { N = 1 << 20, ROUNDS = 460 };
static char text[N + 1];

struct tally {
    long words, numbers, lines, others;
};

static struct tally scan(const char *at)
{
    struct tally tally = {0};
    int in_word = 0, in_number = 0;
    for (; *at; at++) {
        switch (*at) {
        case '\n':
            tally.lines++; /* fall through */
        case ' ':
        case '\t':
            tally.words += in_word;
            tally.numbers += in_number;
            in_word = in_number = 0;
            break;
        case '0' ... '9':
            in_number = !in_word;
            break;
        case 'a' ... 'z':
        case 'A' ... 'Z':
            in_word = 1;
            in_number = 0;
            break;
        default:
            tally.others++;
        }
    }
    return tally;
}

int main(void)
{
    static const char words[] = "the quick 42 brown fox; jumps\nover 1973 lazy dogs, and\tall that 0 ";
    long sum = 0;
    for (int i = 0; i < N; i++)
        text[i] = words[(i + i / 1000) % (sizeof words - 1)];
    for (int round = 0; round < ROUNDS; round++) {
        struct tally tally = scan(text + round);
        sum += tally.words + 3 * tally.numbers + 5 * tally.lines + tally.others;
    }
    printf("%ld\n", sum);
    return 0;
}
