/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/accounts.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/sample/sampled.h"
#include "wrap/record/sample/visits.h"
#include "wrap/record/threads.h"

enum { SHORTEST_TOLD_NS = 20000 }; /* off the CPU for less: that happens for any reason */

/* Readings by the thread itself before that time. It goes on meanwhile, and may write over the oldest. */
static void take_own_accounts(struct recorder_thread *thread, uint64_t before_ns)
{
    unsigned n = atomic_load_explicit(&thread->n_accounts, memory_order_acquire);
    if (thread->tid != thread->sampler->tid)
        return;
    for (unsigned i = n > RECORDER_ACCOUNTS ? n - RECORDER_ACCOUNTS : 0; i < n; i++) {
        const struct recorder_account *own = &thread->account[i % RECORDER_ACCOUNTS];
        struct gap_account account = {.time_ns = atomic_load_explicit(&own->time_ns, memory_order_relaxed),
                                      .cpu_ns = atomic_load_explicit(&own->cpu_ns, memory_order_relaxed),
                                      .ready_ns = atomic_load_explicit(&own->ready_ns, memory_order_relaxed),
                                      .in_call = atomic_load_explicit(&own->is_leave, memory_order_relaxed)};
        atomic_thread_fence(memory_order_acquire);
        account.has_ready = account.ready_ns > 0;
        bool is_whole = atomic_load_explicit(&thread->n_accounts, memory_order_relaxed) - i < RECORDER_ACCOUNTS;
        if (is_whole && account.time_ns < before_ns)
            gap_take_account(&thread->sampler->gap, &account);
    }
}

void accounts_take(struct recorder_thread *thread, struct gap_account account)
{
    account.in_call = visits_is_unwanted(thread, account.time_ns);
    take_own_accounts(thread, account.time_ns);
    gap_take_account(&thread->sampler->gap, &account);
}

void accounts_write_gaps(struct recorder_thread *thread)
{
    struct gap *gap = &thread->sampler->gap;
    for (unsigned i = 0; i < gap->n_told && sampled_is_of_interest(thread) && threads_open_samples(thread); i++) {
        struct ww_gap *record = visits_is_paused(gap->told[i].until_ns) ? NULL : spool_take(&thread->samples, 1, true);
        if (!record)
            continue;
        record->flags = gap->told[i].flags;
        record->from_ns = gap->told[i].from_ns;
        record->until_ns = gap->told[i].until_ns;
        record->cpu_ns = gap->told[i].cpu_ns;
        spool_commit(record, WW_GAP, 1);
    }
    gap->n_told = 0;
}

/* If it was on a CPU all the time, or asleep in MPI, there is nothing to say. */
static void choose_told(struct gap *gap)
{
    unsigned n = 0;
    for (unsigned i = 0; i < gap->n_told; i++) {
        struct ww_gap *told = &gap->told[i];
        bool is_asleep_in_call = (told->flags & WW_SW_IN_CALL) && !(told->flags & WW_SW_PREEMPTED);
        if (is_asleep_in_call || told->until_ns - told->from_ns <= told->cpu_ns + SHORTEST_TOLD_NS)
            continue;
        told->flags |= WW_SW_UNRECORDED;
        gap->told[n++] = *told;
    }
    gap->n_told = n;
}

void accounts_follow(struct recorder_thread *thread, uint64_t now_ns)
{
    struct gap *gap = &thread->sampler->gap;
    struct gap_account account;
    int32_t tid = thread->sampler->tid;
    atomic_store_explicit(&thread->needs_accounts, true, memory_order_relaxed);
    take_own_accounts(thread, now_ns);
    /* The kernel counts a time without a CPU when it is over: while it lasts, an account would be behind. */
    if (gap_read_account(tid, now_ns, &account) &&
        (!machine_is_runnable(tid) || machine_thread_ns(tid) != account.cpu_ns)) {
        account.has_ready = account.ready_ns > 0; /* else the kernel does not count it, and nothing is told */
        accounts_take(thread, account);
    }
    if (gap->n_next)
        gap_lost(gap, gap->next[gap->n_next - 1].time_ns);
    choose_told(gap);
    accounts_write_gaps(thread);
}
