/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/open_waits.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Chains that lead into a ring, and chains that end, are told from rings. */
static void rings_are_found(void **state)
{
    (void)state;
    enum { RANKS = 3, OTHER = RANKS, LONGEST_NS = 5000 };
    static const struct {
        uint32_t for_rank[2]; /* of ranks 0 and 1; OTHER: unknown */
        bool is_sent;         /* what rank 1 waits for */
        bool polls;           /* rank 1, for so long */
        uint64_t dur_ns;
        uint32_t n, first;
    } cases[] = {
        {{1, OTHER}, false, false, LONGEST_NS, 0, 0}, {{1, 1}, false, false, LONGEST_NS, 1, 1},
        {{1, 0}, false, false, LONGEST_NS, 2, 0},     {{1, 0}, true, false, LONGEST_NS, 0, 0},
        {{1, 0}, false, true, LONGEST_NS, 0, 0},      {{1, 0}, false, true, LONGEST_NS + 1, 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct open_wait waits[2] = {{.rank = 0},
                                     {.rank = 1,
                                      .is_sent = cases[i].is_sent,
                                      .polls = cases[i].polls,
                                      .dur_ns = cases[i].dur_ns,
                                      .longest_ns = LONGEST_NS}};
        for (int rank = 0; rank < 2; rank++)
            waits[rank].for_rank = cases[i].for_rank[rank] == OTHER ? TRACE_NONE : cases[i].for_rank[rank];
        const struct analysis analysis = {.open_waits = waits, .n_open_waits = 2};
        uint32_t ring[RANKS] = {0};
        assert_int_equal(open_waits_ring(&analysis, RANKS, ring), cases[i].n);
        if (cases[i].n)
            assert_int_equal(ring[0], cases[i].first);
    }
}

/* Ranks wait for the one before; the last ones wait for each other, and so do two before them, the lower of which is
 * given first. Thousands of ranks take no time. */
static void the_lowest_ring_is_found_in_long_chains(void **state)
{
    (void)state;
    enum { RANKS = 1 << 16 };
    struct open_wait *waits = test_calloc(RANKS, sizeof *waits);
    uint32_t *ring = test_calloc(RANKS, sizeof *ring);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        waits[rank] = (struct open_wait){.rank = rank, .for_rank = rank ? rank - 1 : TRACE_NONE};
    const struct analysis analysis = {.open_waits = waits, .n_open_waits = RANKS};
    assert_int_equal(open_waits_ring(&analysis, RANKS, ring), 0);
    waits[RANKS - 3].for_rank = RANKS - 1;
    waits[RANKS - 6].for_rank = RANKS - 5;
    waits[0].for_rank = RANKS - 1;
    assert_int_equal(open_waits_ring(&analysis, RANKS, ring), 2);
    assert_int_equal(ring[0], RANKS - 6);
    assert_int_equal(ring[1], RANKS - 5);
    test_free(ring);
    test_free(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rings_are_found),
                                       cmocka_unit_test(the_lowest_ring_is_found_in_long_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
