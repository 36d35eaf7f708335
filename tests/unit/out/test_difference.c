/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of counts that have changed between two runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/out/difference.h"
#include <stdlib.h>
#include <string.h>

static void add_fact(struct arena *arena, struct run *run, struct fact fact, const struct fact_count *counts,
                     uint32_t n_counts)
{
    fact.counts = arena_copy(arena, counts, n_counts * sizeof *counts);
    fact.n_counts = n_counts;
    for (uint32_t i = 0; i < n_counts; i++)
        fact.sum += counts[i].n;
    run->facts[run->n_facts++] = fact;
}

/* Two ranks that reduce once a step, not built to count. At its start rank 0 sends its input to the other. */
static struct run *stepping(struct arena *arena, uint64_t n_steps, uint64_t input_bytes)
{
    struct run *run = arena_new(arena, struct run);
    *run = (struct run){.path = "run",
                        .program = "program",
                        .command = "./program",
                        .hosts = "here",
                        .n_ranks = 2,
                        .n_hosts = 1,
                        .is_whole = true,
                        .wall_ns = 1e9,
                        .all_ns = 2e9,
                        .compute_ns = 2e9,
                        .places = arena_array(arena, struct run_place, 1),
                        .nodes = arena_array(arena, struct run_node, 1),
                        .facts = arena_array(arena, struct fact, 2)};
    struct fact calls = {.kind = FACT_MPI_CALLS, .file = "solve.c", .routine = "MPI_Allreduce", .line_first = 9},
                sent = {.kind = FACT_SENT, .file = "input.c", .routine = "MPI_Bcast", .line_first = 5, .number = 1};
    const struct fact_count by_step = {0, n_steps, 0}, by_rank[] = {{0, input_bytes, 1}, {1, 0, 0}};
    add_fact(arena, run, calls, &by_step, 1);
    add_fact(arena, run, sent, by_rank, 2);
    return run;
}

static char *difference_of(struct arena *arena, struct run *before, struct run *after)
{
    struct run *runs[] = {before, after};
    const uint32_t sides[] = {0, 1};
    struct comparison comparison;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    compare_make(&comparison, runs, sides, 2, 2);
    difference_print(out, &comparison, &(struct difference_options){.n_top = 5, .width = 110});
    compare_release(&comparison);
    fclose(out);
    char *kept = arena_strdup(arena, text);
    free(text);
    return kept;
}

/* Who never sends there has no count that another one's could be like. */
static void a_rank_is_not_as_others_that_never_came_to_it(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = difference_of(&arena, stepping(&arena, 30, 3670), stepping(&arena, 30, 3668));
    assert_non_null(strstr(text, "bytes sent by MPI_Bcast input.c:5: 3,670 -> 3,668 a call on rank 0\n"));
    arena_release(&arena);
}

/* The size of a message does not decide how often another call is made. */
static void calls_do_not_follow_from_the_size_of_messages(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = difference_of(&arena, stepping(&arena, 30, 3670), stepping(&arena, 40, 3668));
    assert_non_null(strstr(text, "bytes sent by MPI_Bcast input.c:5"));
    assert_non_null(strstr(text, "calls of MPI_Allreduce solve.c:9: 30 -> 40 on every rank\n"));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_not_as_others_that_never_came_to_it),
        cmocka_unit_test(calls_do_not_follow_from_the_size_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
