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
        steps[i] = (struct step){.routine = regions[i].name};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_moves_in_an_epoch_only_where_somebody_puts_or_gets),
        cmocka_unit_test(ranks_have_a_node_of_their_own_where_no_other_is_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
