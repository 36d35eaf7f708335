/* SPDX-License-Identifier: BSD-3-Clause */
/* A small stack machine that runs a loop: a switch in a loop, a handful of instructions each. */
#include <stdio.h>

enum operation { PUSH, ADD, MULTIPLY, DUPLICATE, SWAP, DROP, JUMP_IF, DECREMENT, MODULO, HALT };
struct instruction {
    enum operation operation;
    long operand;
};

static long run(const struct instruction *code, long count)
{
    long stack[16], *top = stack;
    *top = count;
    for (const struct instruction *at = code;; at++) {
        switch (at->operation) {
        case PUSH:
            *++top = at->operand;
            break;
        case ADD:
            top--;
            *top += top[1];
            break;
        case MULTIPLY:
            top--;
            *top *= top[1];
            break;
        case DUPLICATE:
            top[1] = *top;
            top++;
            break;
        case SWAP: {
            long kept = *top;
            *top = top[-1];
            top[-1] = kept;
            break;
        }
        case DROP:
            top--;
            break;
        case JUMP_IF:
            if (*top)
                at += at->operand;
            break;
        case DECREMENT:
            --*top;
            break;
        case MODULO:
            *top &= at->operand;
            break;
        case HALT:
            return top[-1];
        }
    }
}

int main(void)
{
    static const struct instruction code[] = {{PUSH, 1},     {SWAP, 0},      {SWAP, 0},     {PUSH, 3},
                                              {MULTIPLY, 0}, {DUPLICATE, 0}, {ADD, 0},      {MODULO, 1023},
                                              {SWAP, 0},     {DECREMENT, 0}, {JUMP_IF, -9}, {HALT, 0}};
    printf("%ld\n", run(code, 22000000));
    return 0;
}
