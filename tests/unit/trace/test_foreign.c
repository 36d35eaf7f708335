/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of one program (4 ranks, ten rounds) written by three other tools, each with its manners. Expected in all of
 * them: 40 messages, 164 barriers, 40 reductions to rank 0 and 40 to all.
 */
#include "analyze/trace/trace.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { N_RANKS = 4 };

struct tally {
    uint64_t n_sends, n_receives, n_begun, n_barriers, n_reduces, n_allreduces, n_enters, n_leaves, n_late;
    uint64_t waited_ns; /* from a receive's entry to the send of its message, where that came later */
};

/* The first message of each round goes from rank 0 to rank 1, 40 ms late. */
static void tally_message(struct tally *tally, const struct event *event, uint64_t enter_ns, uint64_t *sent_ns)
{
    if (event->kind == EV_SEND && event->tag == 5)
        *sent_ns = event->time_ns;
    if (event->kind != EV_RECV || event->tag != 5)
        return;
    assert_true(*sent_ns <= event->time_ns);
    tally->n_late += *sent_ns > enter_ns;
    tally->waited_ns += *sent_ns > enter_ns ? *sent_ns - enter_ns : 0;
}

static struct tally read_all(struct trace *trace)
{
    struct tally tally = {0};
    uint64_t last_ns = 0, enter_ns[N_RANKS] = {0}, sent_ns = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        assert_true(event->time_ns >= last_ns);
        last_ns = event->time_ns;
        if (event->kind == EV_ENTER)
            enter_ns[event->loc] = event->time_ns;
        tally_message(&tally, event, enter_ns[event->loc], &sent_ns);
        tally.n_sends += event->kind == EV_SEND;
        tally.n_receives += event->kind == EV_RECV;
        tally.n_begun += event->kind == EV_COLL_BEGIN;
        tally.n_enters += event->kind == EV_ENTER;
        tally.n_leaves += event->kind == EV_LEAVE;
        if (event->kind != EV_COLL_END)
            continue;
        assert_int_equal(event->comm, 0);
        tally.n_barriers += event->coll == WW_COLL_BARRIER;
        tally.n_reduces += event->coll == WW_COLL_REDUCE;
        tally.n_allreduces += event->coll == WW_COLL_ALLREDUCE;
    }
    return tally;
}

static struct trace *open_archive(const char *anchor)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, anchor);
    struct trace *trace = trace_open(path);
    assert_non_null(trace);
    assert_false(trace->is_ours);
    assert_int_equal(trace->n_ranks, N_RANKS);
    assert_int_equal(trace->n_locations, N_RANKS);
    for (uint32_t i = 0; i < N_RANKS; i++)
        assert_int_equal(trace->locations[i].rank, i);
    assert_int_equal(trace->comms[0].n, N_RANKS);
    return trace;
}

static void check(struct trace *trace, uint64_t tolerance_ns)
{
    struct tally tally = read_all(trace);
    assert_int_equal(tally.n_sends, 40);
    assert_int_equal(tally.n_receives, 40);
    assert_int_equal(tally.n_barriers, 164);
    assert_int_equal(tally.n_reduces, 40);
    assert_int_equal(tally.n_allreduces, 40);
    assert_int_equal(tally.n_begun, 244);
    assert_int_equal(tally.n_enters, tally.n_leaves);
    assert_int_equal(tally.n_late, 10);
    uint64_t expected_ns = 400000000;
    assert_in_range(tally.waited_ns, expected_ns - tolerance_ns, expected_ns + tolerance_ns);
    assert_int_equal(trace_rewind(trace), 0);
    struct tally again = read_all(trace);
    assert_memory_equal(&again, &tally, sizeof tally);
}

static const struct trace_region *region_named(const struct trace *trace, const char *name)
{
    const struct trace_region *found = NULL;
    for (uint32_t i = 0; i < trace->n_regions; i++) {
        if (strcmp(trace->regions[i].name, name) != 0)
            continue;
        assert_null(found); /* one region a routine, however often it was defined */
        found = &trace->regions[i];
    }
    assert_non_null(found);
    return found;
}

static void test_scorep(void **state)
{
    (void)state;
    struct trace *trace = open_archive("scorep-phases/traces.otf2");
    check(trace, 10000000);
    assert_true(region_named(trace, "MPI_Allreduce")->is_mpi);
    assert_false(region_named(trace, "slow_sender")->is_mpi);
    assert_true(trace->clocks.measured);
    assert_int_equal(trace->clocks.n_violations, 0);
    assert_int_equal(trace->n_notes, 0);
    trace_close(trace);
}

/* Each rank's clock has its own zero, up to 110 ms apart. */
static void test_eztrace(void **state)
{
    (void)state;
    struct trace *trace = open_archive("eztrace-phases/eztrace_log.otf2");
    check(trace, 10000000);
    assert_int_equal(region_named(trace, "MPI_Barrier")->coll, WW_COLL_BARRIER);
    assert_true(trace->clocks.aligned);
    assert_true(trace->clocks.n_violations > 100);
    assert_true(trace->clocks.largest_violation_ns > 100000000);
    assert_non_null(strstr(trace->notes[trace->n_notes - 1], "aligned"));
    trace_close(trace);
}

/* No records of collectives, names with parentheses, microseconds. */
static void test_tau(void **state)
{
    (void)state;
    struct trace *trace = open_archive("tau-phases/traces.otf2");
    check(trace, 10000000);
    assert_int_equal(region_named(trace, "MPI_Reduce")->class, WW_COLLECTIVE);
    assert_false(trace->clocks.aligned);
    assert_non_null(strstr(trace->notes[trace->n_notes - 1], "no records of collectives"));
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scorep), cmocka_unit_test(test_eztrace),
                                       cmocka_unit_test(test_tau)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
