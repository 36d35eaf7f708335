/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of calls and ranks before a next step is chosen. */
#include "analyze/verdict/advice.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { FENCE, BARRIER, ALLREDUCE, PROBE, PUT, N_REGIONS };

static void data_moves_in_an_epoch_only_where_somebody_puts_or_gets(void **state)
{
    (void)state;
    struct trace_region regions[N_REGIONS] = {
        [FENCE] = {.name = "MPI_Win_fence", .is_mpi = true, .class = WW_RMA_FENCE},
        [BARRIER] = {.name = "MPI_Barrier", .is_mpi = true, .class = WW_COLLECTIVE, .coll = WW_COLL_BARRIER},
        [ALLREDUCE] = {.name = "MPI_Allreduce", .is_mpi = true, .class = WW_COLLECTIVE, .coll = WW_COLL_ALLREDUCE},
        [PROBE] = {.name = "MPI_Probe", .is_mpi = true, .class = WW_PROBE},
        [PUT] = {.name = "MPI_Put", .is_mpi = true, .class = WW_RMA_PUT}};
    struct step steps[N_REGIONS];
    struct trace trace = {.regions = regions, .n_regions = PUT};
    struct analysis analysis = {.trace = &trace, .steps = steps, .n_steps = N_REGIONS};
    for (int i = 0; i < N_REGIONS; i++)
        steps[i] = (struct step){.call = regions[i].name};
    assert_false(step_moves_data(&analysis, FENCE));
    assert_false(step_moves_data(&analysis, BARRIER));
    assert_true(step_moves_data(&analysis, ALLREDUCE));
    assert_false(step_moves_data(&analysis, PROBE));
    trace.n_regions = N_REGIONS;
    assert_true(step_moves_data(&analysis, FENCE));
    assert_true(step_moves_data(&analysis, PUT));
    assert_false(step_moves_data(&analysis, BARRIER));
}

static void ranks_have_a_node_of_their_own_where_no_other_is_on_it(void **state)
{
    (void)state;
    struct trace_location locations[] = {{.rank = 0, .host = "n1"}, {.rank = 1, .host = "n1"}};
    struct trace trace = {.locations = locations, .n_locations = 2, .n_ranks = 2};
    struct cause_rank ranks[] = {{.rank = 1}, {.rank = 0}};
    struct cause cause = {.ranks = ranks, .n_ranks = 1, .n_late = 1, .others = ranks + 1, .n_others = 1};
    assert_false(late_have_own_node(&trace, &cause));
    locations[1].host = "n2";
    assert_true(late_have_own_node(&trace, &cause));
    locations[1].host = NULL; /* an archive that does not tell */
    assert_false(late_have_own_node(&trace, &cause));
    cause.n_others = 0;
    assert_false(late_have_own_node(&trace, &cause));
}

/* Of four threads in a line of a script, of which so many are computing at a time; 0 = that is not known. */
static enum thread_sharing sharing_of(double threads, enum errand errand)
{
    struct code *code = code_open();
    uint32_t module = code_add_script(code, "/a/app.py", NULL);
    code_name_routine(code, module, (uint64_t)1 << 32 | 2, "piece");
    struct step step = {.place = code_place_at(code, module, (uint64_t)1 << 32 | 2)};
    struct analysis analysis = {.code = code, .steps = &step, .n_steps = 1};
    struct cause_rank rank = {
        .n_threads = 4, .threads = threads, .n_at_once = 2, .most_share = 0.27, .most_error = 0.04};
    struct cause cause = {.ranks = &rank, .n_ranks = 1, .errand = errand};
    assert_true(step.place != CODE_NONE);
    enum thread_sharing sharing = thread_sharing_of(&analysis, &cause);
    code_close(code);
    return sharing;
}

/* Where the rank lacks a CPU, more threads seem to compute at a time than do. One that waits for the lock tells. */
static void threads_of_an_interpreter_take_turns(void **state)
{
    (void)state;
    assert_int_equal(sharing_of(1, ERRAND_NONE), SHARED_BY_INTERPRETER);
    assert_int_equal(sharing_of(0, ERRAND_NONE), SHARED_BY_INTERPRETER);
    assert_int_equal(sharing_of(1.31, ERRAND_INTERPRETER_LOCK), SHARED_BY_INTERPRETER);
    assert_int_equal(sharing_of(0, ERRAND_INTERPRETER_LOCK), SHARED_BY_INTERPRETER);
    assert_int_equal(sharing_of(1.9, ERRAND_NONE), SHARED_EVENLY); /* several interpreters, each with a lock */
}

/* That the library goes on helps where the late rank waits as well, and has not far more to do. */
static void going_on_helps_who_has_hardly_more(void **state)
{
    (void)state;
    struct trace trace = {.n_ranks = 2};
    struct step step = {.place = CODE_NONE};
    struct wait_site site = {.kind = WAIT_PROGRESS};
    struct cause_site felt = {.waiting_ns = 10};
    struct rank_summary ranks[] = {{.waiting_ns = 8}, {.waiting_ns = 8}};
    struct analysis analysis = {
        .trace = &trace, .steps = &step, .n_steps = 1, .sites = &site, .n_sites = 1, .ranks = ranks};
    struct cause_rank late = {.rank = 1};
    struct cause cause = {.kind = KIND_MORE_TIME, .waiting_ns = 10, .if_balanced_ns = 5, .sites = &felt, .n_sites = 1};
    cause.ranks = &late;
    cause.n_ranks = cause.n_late = 1;
    cause.reason.times = (struct factor){.is_known = true, .mean = 1.6, .at_least = 1.3};
    assert_int_equal(advice_of(&analysis, &cause), ADVICE_CALL_MPI_MEANWHILE);
    cause.reason.times.at_least = 1.55;
    assert_int_not_equal(advice_of(&analysis, &cause), ADVICE_CALL_MPI_MEANWHILE);
    cause.reason.times.at_least = 1.3;
    ranks[1].waiting_ns = 1;
    assert_int_not_equal(advice_of(&analysis, &cause), ADVICE_CALL_MPI_MEANWHILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_moves_in_an_epoch_only_where_somebody_puts_or_gets),
        cmocka_unit_test(threads_of_an_interpreter_take_turns),
        cmocka_unit_test(going_on_helps_who_has_hardly_more),
        cmocka_unit_test(ranks_have_a_node_of_their_own_where_no_other_is_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
