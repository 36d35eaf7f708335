/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of a few instructions: which of them only look at memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wrap/flow/spin.h"

#define R(n) (1ull << (n))
enum { A = 1, B, C, FLAGS = SPIN_FLAGS };

#define LOAD(to, base, place) {.loads = true, .writes = R(to), .address = R(base), .where = place}
#define STORE(from, base, place) {.stores = true, .reads = R(from), .address = R(base), .where = place}
#define COMPARE(a, b) {.reads = R(a) | R(b), .writes = R(FLAGS)}
#define ADD(to, from) {.reads = R(to) | R(from), .writes = R(to) | R(FLAGS)}
#define PAUSE {.is_pause = true}
#define BRANCH {.reads = R(FLAGS), .is_branch = true}

enum { MOST = 8 };
struct block {
    struct spin_insn at[MOST];
};

static bool spins(const struct block *blocks, size_t n)
{
    struct spin spin = {0};
    for (size_t b = 0; b < n; b++) {
        spin_block(&spin);
        for (size_t i = 0; i < MOST; i++)
            spin_add(&spin, &blocks[b].at[i]);
    }
    return spin_is_found(&spin);
}

static void check(bool expected, struct block first, struct block second)
{
    const struct block one[] = {first, second}, other[] = {second, first};
    assert_int_equal(spins(one, 2), expected);
    assert_int_equal(spins(other, 2), expected);
}

static const struct block nothing;

static void looks_at_one_place(void **state)
{
    (void)state;
    check(true, (struct block){{LOAD(A, B, 7), COMPARE(A, C), BRANCH}}, nothing);
    /* Loaded at the end of a round, compared at the begin of the next. */
    check(true, (struct block){{COMPARE(A, C), BRANCH}}, (struct block){{PAUSE, LOAD(A, B, 7)}});
    check(true, (struct block){{COMPARE(A, C), BRANCH}}, (struct block){{LOAD(A, B, 7)}});
}

static void follows_pointers(void **state)
{
    (void)state;
    check(true, (struct block){{LOAD(A, B, 7), LOAD(A, A, 8), COMPARE(A, C), BRANCH}}, nothing);
    check(false, (struct block){{LOAD(A, A, 8), LOAD(B, A, 9), COMPARE(B, C), BRANCH}}, nothing);
}

static void counts(void **state)
{
    (void)state;
    check(false, (struct block){{LOAD(A, B, 7), ADD(C, B), BRANCH}}, nothing);
    check(true, (struct block){{ADD(C, B), LOAD(A, B, 7), COMPARE(A, B), BRANCH}}, nothing);
    check(false, (struct block){{ADD(C, B)}}, (struct block){{LOAD(A, B, 7), COMPARE(A, C), BRANCH}});
    check(false, (struct block){{LOAD(A, C, 7), COMPARE(A, B), BRANCH}}, (struct block){{ADD(C, B)}});
    check(true, (struct block){{PAUSE, ADD(C, B), COMPARE(C, A), BRANCH}}, nothing);
}

static void stores(void **state)
{
    (void)state;
    check(true, (struct block){{LOAD(A, B, 7), STORE(C, B, 8), COMPARE(A, C), BRANCH}}, nothing);
    check(false, (struct block){{LOAD(A, B, 7), STORE(C, B, 7), COMPARE(A, C), BRANCH}}, nothing);
    /* Nobody knows where that goes. */
    check(false, (struct block){{LOAD(A, B, 7), STORE(C, A, 8), COMPARE(A, C), BRANCH}}, nothing);
    check(true, (struct block){{LOAD(A, B, 8), ADD(A, C), STORE(A, B, 8), LOAD(A, B, 7), COMPARE(A, C), BRANCH}},
          nothing);
}

static void looks_at_nothing(void **state)
{
    (void)state;
    check(false, nothing, nothing);
    check(false, (struct block){{COMPARE(A, C), BRANCH}}, nothing);
    check(false, (struct block){{LOAD(A, B, 7), COMPARE(B, C), BRANCH}}, nothing);
}

static void has_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct spin spin = {0};
    const struct spin_insn look = LOAD(A, B, 7), compare = COMPARE(A, C), branch = BRANCH;
    spin_block(&spin);
    for (int i = 0; i <= SPIN_LOADS; i++)
        spin_add(&spin, &look);
    spin_add(&spin, &compare);
    spin_add(&spin, &branch);
    assert_false(spin_is_found(&spin));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_at_one_place),
        cmocka_unit_test(follows_pointers),
        cmocka_unit_test(counts),
        cmocka_unit_test(stores),
        cmocka_unit_test(looks_at_nothing),
        cmocka_unit_test(has_more_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
