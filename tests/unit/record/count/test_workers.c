/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads that end young leave behind: the time that they were on a CPU, and that they were ready but had none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/count/workers.h"
#include "wrap/record/recorder.h"
#include "wrap/record/threads.h"
#include <pthread.h>
#include <unistd.h>

enum { MS = 1000000 };

struct task {
    uint64_t cpu_ns; /* to use */
    bool calls_mpi;
};

static void *work(void *value)
{
    const struct task *task = value;
    workers_begin();
    recorder_calls_mpi = task->calls_mpi;
    while (recorder_cpu_ns() < task->cpu_ns)
        ;
    return NULL;
}

static void run(struct task task, unsigned n)
{
    pthread_t threads[8];
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &task), 0);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void young_threads_tell_their_time(void **state)
{
    (void)state;
    uint64_t ns[WW_YOUNG_N];
    assert_false(workers_take_young(ns));
    /* More than there are processors: some of them have to wait. */
    run((struct task){.cpu_ns = 5 * MS}, 8);
    assert_true(workers_take_young(ns));
    assert_in_range(ns[WW_YOUNG_CPU], 8 * 5 * MS, 8 * 20 * MS);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 8 && access("/proc/thread-self/schedstat", R_OK) == 0)
        assert_true(ns[WW_YOUNG_READY] > 0);
    assert_false(workers_take_young(ns));
}

static void others_are_sampled_or_tell_it_themselves(void **state)
{
    (void)state;
    uint64_t ns[WW_YOUNG_N];
    run((struct task){.cpu_ns = 25 * MS}, 1);
    run((struct task){.calls_mpi = true}, 1);
    assert_false(workers_take_young(ns));
}

int main(void)
{
    recorder.pid = getpid();
    recorder.recording = true;
    const struct CMUnitTest tests[] = {cmocka_unit_test(young_threads_tell_their_time),
                                       cmocka_unit_test(others_are_sampled_or_tell_it_themselves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
