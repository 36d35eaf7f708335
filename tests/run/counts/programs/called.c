/* SPDX-License-Identifier: BSD-3-Clause */
/* flags: -fexceptions */
/*
 * Functions whose calls their callers can count: in each way in which such a call may not be reached, may end an
 * interval, may leave no frame, or comes from somewhere that is not counted.
 */
#include "tests/run/counts/sync.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noclone))

static volatile long n_moves;
static int cells[64];

/* Straight, with branches, with a loop. */
KEPT static void move(int i)
{
    cells[i & 63] += i;
}
KEPT static void bounce(int i)
{
    if (cells[i & 63] > 5 || i % 3 == 1)
        cells[i & 63] = -cells[i & 63];
    if (cells[i & 63] < -7)
        cells[i & 63]++;
}
KEPT static int add_up(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += cells[i] > 0 ? cells[i] : 1;
    return sum;
}

/* Ends an interval now and then, itself or below. */
KEPT static void pause_at(int i)
{
    if (i % 4 == 1)
        counts_sync();
    n_moves++;
}
KEPT static void pause_below(int i)
{
    move(i);
    pause_at(i);
    move(i + 1);
    pause_at(i + 1);
    bounce(i);
}

/* Several calls in a block, of which the latter may wait for the former. */
KEPT static void calls_in_a_row(int n)
{
    for (int i = 0; i < n; i++) {
        move(i);
        move(i);
        bounce(i);
        pause_at(i);
        move(i);
        pause_below(i);
        n_moves += add_up(i);
    }
}

/* Calls itself, and circles that call each other, from one side and from two. */
KEPT static int descend(int depth)
{
    move(depth);
    if (depth % 3 == 0)
        pause_at(depth);
    return depth > 0 ? descend(depth - 1) + descend(depth - 2) : 1;
}
static int swing(int n);
KEPT static int swing_back(int n)
{
    bounce(n);
    return n > 0 ? swing(n - 1) + 1 : 0;
}
KEPT static int swing(int n)
{
    pause_at(n);
    return n > 1 ? swing_back(n - 2) + swing_back(n - 1) : 2;
}

/* Its frame makes room for what it calls. */
KEPT static int tail(int n)
{
    pause_at(n);
    return n % 2 ? add_up(n) : descend(n % 5);
}

/* Never returns. */
static jmp_buf home;
__attribute__((noreturn)) KEPT static void fly(int n)
{
    bounce(n);
    if (n % 2)
        pause_at(n);
    longjmp(home, n + 1);
}
KEPT static void leave_from_below(int n)
{
    move(n);
    if (n % 3)
        fly(n);
    move(n + 1);
}
KEPT static void jumps(int n)
{
    for (volatile int i = 0; i < n; i++) {
        if (setjmp(home) == 0) {
            move(i);
            leave_from_below(i);
            move(i + 1);
        }
        bounce(i);
    }
}

/* Also called through a pointer. */
KEPT static void by_address(int i)
{
    if (i & 1)
        n_moves++;
}
KEPT static void apply(void (*act)(int), int n)
{
    for (int i = 0; i < n; i++)
        act(i);
}

/* Called by what is not counted. */
KEPT static void from_outside(int i)
{
    if (i & 1)
        pause_at(i);
}
__attribute__((no_instrument_function)) KEPT static void not_counted(int n)
{
    for (int i = 0; i < n; i++)
        from_outside(i);
}
/* And by that and others. */
KEPT static void calls_it_too(int n)
{
    from_outside(n);
    bounce(n);
}

/* Kept for whoever looks by name, before main, and at the end. */
__attribute__((used)) KEPT static void found_by_name(int i)
{
    bounce(i);
}
__attribute__((constructor)) static void begin(void)
{
    move(1);
    bounce(2);
}
static void end(void)
{
    move(3);
    counts_sync();
}

/* Under two names. */
KEPT static void named(int i)
{
    if (i % 5 == 2)
        n_moves++;
}
static void named_again(int i) __attribute__((alias("named")));
/* Another object could define it. */
__attribute__((weak, noinline)) void replaceable(int i)
{
    bounce(i);
}

/* Different for each constant: the compiler makes copies, and parts. */
__attribute__((noinline)) static int copied(int n, int step)
{
    int sum = 0;
    for (int i = 0; i < n; i += step) {
        if (i % 16 == 3)
            pause_at(i);
        sum += i;
    }
    return sum;
}
static int in_parts(const int *cell)
{
    if (!cell)
        return 0;
    pause_at(*cell);
    for (int i = 0; i < 3; i++)
        n_moves += add_up(i + *cell % 2);
    return *cell;
}
KEPT static int in_copies(int n)
{
    return copied(n, 1) + copied(n, 2) + copied(n + 1, 2) + in_parts(n % 2 ? cells : NULL) +
           in_parts(n % 3 ? cells + 1 : NULL);
}

/* Never called, and never called twice. */
KEPT static void once(int i)
{
    move(i);
    exit(i == 12345);
}
KEPT static void at_the_end(int i)
{
    pause_at(i);
    if (i > 1000000)
        bounce(i);
    once(i);
    move(i);
}

/* Deep: each counted by the one before. */
KEPT static void leaf_of_leaf(int i)
{
    move(i);
}
KEPT static void leaf_of_third(int i)
{
    leaf_of_leaf(i);
    leaf_of_leaf(i + 1);
}
KEPT static void third(int i)
{
    if (i % 3)
        leaf_of_third(i);
}
KEPT static void second(int i)
{
    if (i % 2)
        third(i);
    pause_at(i);
    third(i + 1);
}
KEPT static void first(int i)
{
    for (int k = 0; k < 3; k++)
        second(i + k);
}

int main(void)
{
    atexit(end);
    for (int n = 1; n < 20; n += 6) {
        calls_in_a_row(n);
        first(n);
        n_moves += descend(n % 7) + swing(n % 6) + tail(n) + tail(n + 1) + in_copies(n);
        apply(by_address, n);
        by_address(n);
        not_counted(n);
        calls_it_too(n);
        named(n);
        named_again(n + 1);
        replaceable(n);
        jumps(n);
        counts_sync();
    }
    printf("%ld %d\n", n_moves, cells[3] + cells[17]);
    at_the_end(5);
    return 0;
}
