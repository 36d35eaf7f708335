/* SPDX-License-Identifier: BSD-3-Clause */
/* Why ranks had no CPU, from what their processes had of the node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/blame/efficiency.h"
#include "analyze/words/shortage.h"
#include "analyze/verdict/advice.h"
#include "analyze/verdict/machine.h"
#include <string.h>

enum { RANKS = 4 };
#define S 1000000000ull
static const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
#define CPUS(first, count) ((struct trace_cpus){&numbers[first], count})

struct fixture {
    struct trace trace;
    struct trace_process processes[RANKS];
    struct trace_location locations[RANKS];
    struct cause_rank late[RANKS];
    struct analysis analysis;
};

/* Four ranks on one node of eight CPUs, one each at work, nobody else there; rank 1 lacked a CPU. */
static void fixture_make(struct fixture *f)
{
    *f = (struct fixture){
        .trace = {.n_ranks = RANKS, .processes = f->processes, .locations = f->locations, .n_locations = RANKS}};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        f->locations[rank] = (struct trace_location){.rank = rank, .host = "n1"};
        f->processes[rank] = (struct trace_process){
            .cpus = CPUS(0, 8),
            .machine = {.n_cpus = 8, .n_busy_threads = 1, .watched_ns = 10 * S, .own_ns = 10 * S, .busy_ns = 41 * S}};
    }
    f->late[0].rank = 1;
    f->analysis = (struct analysis){.trace = &f->trace, .machine = {.ranks = f->late, .n_ranks = 1, .n_late = 1}};
}

/* What is told of the hosts; `is_short`: advice elsewhere may say that CPUs were short, since the row says why. */
static void expect(struct fixture *f, const char *text, bool is_short)
{
    struct arena arena = {0};
    const struct label_book book = {.arena = &arena, .analysis = &f->analysis};
    hosts_write(&f->analysis, NULL);
    /* Little that nothing explains is not worth a look. */
    f->analysis.machine.share = 0.02;
    machine_judge(&f->analysis.machine);
    assert_int_equal(shortage_reasons(&book).n, is_short);
    f->analysis.machine.share = 0.6;
    machine_judge(&f->analysis.machine);
    struct sentences reasons = shortage_reasons(&book);
    assert_int_equal(reasons.n, 1);
    if (!strstr(reasons.at[0], text))
        fail_msg("\"%s\" is not in: %s", text, reasons.at[0]);
    assert_int_equal(machine_is_short(&f->analysis.machine), is_short);
    /* Advice is given where that is worth a word. */
    enum advice advice = advice_of_machine(&f->analysis);
    assert_int_equal(advice != ADVICE_NONE, is_short);
    if (is_short)
        assert_int_equal(advice == ADVICE_CPU_FOR_THREADS, f->analysis.machine.hosts->n_busy_threads > RANKS);
    f->analysis.machine.share = 0.1; /* of waiting: nobody waits where threads of one rank share its CPUs */
    bool is_bound = f->analysis.machine.n_hosts && f->analysis.machine.hosts->n_large_teams;
    assert_int_equal(advice_of_machine(&f->analysis), is_bound ? ADVICE_CPU_FOR_THREADS : ADVICE_NONE);
    arena_release(&arena);
    arena_release(&f->analysis.arena);
    fixture_make(f);
}

static void reasons_are_told(void **state)
{
    struct fixture f;
    (void)state;
    fixture_make(&f);
    expect(&f, "there were CPUs enough for all ranks", false);
    for (int rank = 0; rank < RANKS; rank++)
        f.processes[rank].machine.n_busy_threads = 2;
    expect(&f, "there were CPUs enough for all ranks", false);
    for (int rank = 0; rank < RANKS; rank++) {
        f.processes[rank].cpus = CPUS(0, 2);
        f.processes[rank].machine.n_cpus = 2;
    }
    expect(&f, "on n1: 4 ranks share 2 CPUs", true);
    f.processes[0].cpus = f.processes[1].cpus = CPUS(3, 1);
    expect(&f, "on n1: ranks 0,1 may use only CPU 3", true);
    /* Three ranks within three CPUs, and two of them within one of these. */
    f.processes[0].cpus = f.processes[2].cpus = CPUS(2, 1);
    f.processes[1].cpus = CPUS(1, 2);
    expect(&f, "on n1: ranks 0,2 may use only CPU 2; ranks 0-2 may use only CPUs 1,2", true);
    f.processes[2].cpus = CPUS(0, 2);
    f.processes[2].machine.n_busy_threads = 4;
    expect(&f, "on n1: rank 2 has more busy threads than CPUs that it may use", true);
    f.processes[2].machine.n_busy_threads = f.processes[3].machine.n_busy_threads = 8;
    expect(&f, "on n1: at times 18 threads of 4 ranks shared 8 CPUs", true);
    f.processes[3].machine.busy_ns = 64 * S;
    f.processes[3].machine.watched_ns = 11 * S;
    expect(&f, "on n1: other processes used 2.2 of 8 CPUs", true);
    f.processes[1].machine.stolen_ns = 10 * S;
    f.processes[1].machine.watched_ns = 11 * S;
    expect(&f, "on n1: the host of this virtual machine took away 0.91 of 8 CPUs", true);
    f.processes[1].machine.limit_milli = 1500;
    f.processes[1].machine.throttled_ns = 2 * S;
    expect(&f, "on n1: a limit of 1.5 CPUs kept them from running for 2.00 s", true);
    arena_release(&f.analysis.arena);
}

/* Threads that end within a millisecond are not watched. They tell for how long they needed a CPU. */
static void young_threads_are_busy_too(void **state)
{
    struct fixture f;
    struct arena arena = {0};
    struct rank_summary times[RANKS] = {{.compute_ns = 4 * S, .descheduled_ns = 6 * S}};
    (void)state;
    for (int is_many = 0; is_many < 2; is_many++) {
        fixture_make(&f);
        for (int rank = 0; rank < RANKS; rank++) {
            f.processes[rank].machine.n_cpus = (f.processes[rank].cpus = CPUS(0, 4)).n;
            times[rank] = times[0];
        }
        f.analysis.ranks = times;
        f.analysis.machine.share = 0.6;
        hosts_write(&f.analysis, (double[RANKS]){0, is_many ? 29 * S : 11 * S});
        machine_judge(&f.analysis.machine);
        const char *reason = shortage_reasons(&(struct label_book){.arena = &arena, .analysis = &f.analysis}).at[0];
        assert_int_equal(machine_is_short(&f.analysis.machine), is_many);
        assert_true(!is_many || strstr(reason, "at times 6 threads of 4 ranks shared 4 CPUs (rank 1 had 3)"));
        arena_release(&f.analysis.arena);
    }
    arena_release(&arena);
}

/* Hosts may be short of CPUs although no rank lacked one: then transfers have another reason. */
static void transfers_lack_cpus_only_where_ranks_did(void **state)
{
    struct fixture f;
    struct step step = {.routine = "MPI_Alltoall"};
    (void)state;
    fixture_make(&f);
    for (int rank = 0; rank < RANKS; rank++)
        f.processes[rank].machine.n_cpus = (f.processes[rank].cpus = CPUS(0, 2)).n;
    f.analysis.steps = &step;
    f.analysis.n_steps = 1;
    f.analysis.efficiency.all_ns = 100 * S;
    f.analysis.machine.share = 0.6;
    hosts_write(&f.analysis, NULL);
    machine_judge(&f.analysis.machine);
    assert_int_equal(advice_of_transfer(&f.analysis, 0), ADVICE_FEWER_MESSAGES);
    f.analysis.efficiency.descheduled_ns = 10 * S;
    assert_int_equal(advice_of_transfer(&f.analysis, 0), ADVICE_CPU_BEFORE);
    f.analysis.machine.share = 0;
    assert_int_equal(advice_of_transfer(&f.analysis, 0), ADVICE_FEWER_MESSAGES);
    arena_release(&f.analysis.arena);
}

static void a_stopped_process_lacks_no_cpu(void **state)
{
    struct fixture f;
    struct arena arena = {0};
    (void)state;
    for (int is_most = 0; is_most < 2; is_most++) {
        fixture_make(&f);
        for (int rank = 0; rank < RANKS; rank++)
            f.processes[rank].machine.n_cpus = (f.processes[rank].cpus = CPUS(0, 2)).n;
        struct machine_stop stop = {.rank = 1, .stopped_ns = S, .is_most = is_most};
        f.analysis.machine.stops = &stop;
        f.analysis.machine.n_stops = 1;
        f.analysis.machine.share = 0.6;
        hosts_write(&f.analysis, NULL);
        machine_judge(&f.analysis.machine);
        struct sentences reasons = shortage_reasons(&(struct label_book){.arena = &arena, .analysis = &f.analysis});
        assert_int_equal(reasons.n, 1);
        assert_string_equal(reasons.at[0], is_most ? "rank 1 was stopped for 1.00 s, by a signal or with its machine"
                                                   : "on n1: 4 ranks share 2 CPUs; the ranks used 4 of 2 CPUs");
        assert_int_equal(machine_is_short(&f.analysis.machine), !is_most);
        assert_int_equal(advice_of_machine(&f.analysis), is_most ? ADVICE_RECORD_WITHOUT_STOP : ADVICE_CPU_FOR_RANKS);
        arena_release(&f.analysis.arena);
    }
    arena_release(&arena);
}

/* Ranks that are more than CPUs take them from each other: computing, and inside MPI. */
static void who_took_the_cpus_is_told(void **state)
{
    struct fixture f;
    (void)state;
    for (int is_part = 0; is_part < 2; is_part++)
        for (uint64_t compute_ns = S; compute_ns <= 4 * S; compute_ns += 3 * S) {
            struct rank_summary ranks[RANKS] = {0};
            fixture_make(&f);
            for (int rank = 0; rank < RANKS; rank++) {
                f.processes[rank].machine.n_cpus = (f.processes[rank].cpus = CPUS(0, 2)).n;
                f.processes[rank].machine.own_ns = 9 * S / 2;
                f.processes[rank].machine.busy_ns = 18 * S;
                ranks[rank].compute_ns = (double)compute_ns;
            }
            f.analysis.ranks = ranks;
            f.analysis.efficiency.wall_ns = is_part ? 2 * S : 10 * S;
            expect(&f,
                   is_part || compute_ns > S
                       ? "on n1: 4 ranks share 2 CPUs; the ranks used 1.8 of 2 CPUs"
                       : "on n1: 4 ranks share 2 CPUs; the ranks used 1.8 of 2 CPUs, 1.4 of that inside MPI",
                   true);
        }
    struct rank_summary ranks[RANKS] = {
        {.compute_ns = 2 * S}, {.compute_ns = 2 * S}, {.compute_ns = 2 * S}, {.compute_ns = 8 * S}};
    for (int rank = 0; rank < RANKS; rank++) {
        f.processes[rank].machine.n_cpus = (f.processes[rank].cpus = CPUS(0, 2)).n;
        f.processes[rank].machine.own_ns = rank == 3 ? 14 * S : 2 * S;
        f.processes[rank].machine.n_busy_threads = rank == 3 ? 2 : 1;
        f.processes[rank].machine.busy_ns = 20 * S;
    }
    f.analysis.ranks = ranks;
    f.analysis.efficiency.wall_ns = 10 * S;
    expect(&f,
           "on n1: 4 ranks share 2 CPUs; at times 5 threads of 4 ranks shared 2 CPUs (rank 3 had 2); the ranks used 2 "
           "of 2 "
           "CPUs, 0.6 of that inside MPI or in threads that do not call MPI, mostly on rank 3",
           true);
    for (int rank = 0; rank < RANKS; rank++)
        f.processes[rank].machine.n_busy_threads = rank < 2 ? 2 : 8;
    expect(&f, "on n1: at times 20 threads of 4 ranks shared 8 CPUs (ranks 2,3 had 8 each); the ranks used 4 of 8 CPUs",
           true);
}

static void what_is_not_known_is_asked_for(void **state)
{
    struct fixture f;
    (void)state;
    fixture_make(&f);
    memset(f.processes, 0, sizeof f.processes);
    expect(&f, "look for more ranks or threads than CPUs", false);
}

static void hosts_that_are_alike_share_a_sentence(void **state)
{
    struct fixture f;
    (void)state;
    fixture_make(&f);
    f.locations[2].host = f.locations[3].host = "n2";
    for (int rank = 0; rank < RANKS; rank++)
        f.processes[rank].cpus = CPUS(rank < 2 ? 0 : 4, 1);
    for (int rank = 0; rank < RANKS; rank++)
        f.processes[rank].machine.n_cpus = 1;
    for (int rank = 0; rank < RANKS; rank++)
        f.processes[rank].machine.busy_ns = 2 * (f.processes[rank].machine.own_ns = rank < 2 ? 4 * S : 3 * S);
    f.late[1].rank = 3;
    f.analysis.machine.n_ranks = f.analysis.machine.n_late = 2;
    expect(&f, "on n1 and 1 more host, each: 2 ranks share 1 CPU; the ranks used 0.7 of 1 CPU", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_are_told),
        cmocka_unit_test(young_threads_are_busy_too),
        cmocka_unit_test(transfers_lack_cpus_only_where_ranks_did),
        cmocka_unit_test(a_stopped_process_lacks_no_cpu),
        cmocka_unit_test(who_took_the_cpus_is_told),
        cmocka_unit_test(what_is_not_known_is_asked_for),
        cmocka_unit_test(hosts_that_are_alike_share_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
