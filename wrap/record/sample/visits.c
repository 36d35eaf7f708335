/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/visits.h"

/* When the one that lasted at that time began; 0 = none of them did. */
static uint64_t intervals_find(struct recorder_intervals *intervals, uint64_t time_ns)
{
    unsigned n = atomic_load_explicit(&intervals->n, memory_order_acquire);
    for (unsigned i = n > RECORDER_LONG ? n - RECORDER_LONG : 0; i < n; i++) {
        struct recorder_interval *at = &intervals->at[i % RECORDER_LONG];
        uint64_t enter_ns = atomic_load_explicit(&at->enter_ns, memory_order_relaxed);
        if (time_ns >= enter_ns && time_ns <= atomic_load_explicit(&at->leave_ns, memory_order_relaxed))
            return enter_ns;
    }
    return 0;
}

/* Of samples, stacks tell. */
static bool is_in_callback(struct recorder_thread *thread, uint64_t time_ns)
{
    uint64_t open_ns = atomic_load_explicit(&thread->callback_ns, memory_order_acquire);
    return (open_ns && time_ns >= open_ns) || intervals_find(&thread->callbacks, time_ns);
}

uint64_t visits_call_ns(struct recorder_thread *thread, uint64_t time_ns)
{
    if (is_in_callback(thread, time_ns))
        return 0;
    uint64_t open_ns = atomic_load_explicit(&thread->open_ns, memory_order_acquire);
    uint64_t enter_ns = atomic_load_explicit(&thread->last_enter_ns, memory_order_relaxed);
    if (open_ns != 0 && time_ns >= open_ns)
        return open_ns;
    if (time_ns <= atomic_load_explicit(&thread->last_leave_ns, memory_order_relaxed) && time_ns >= enter_ns)
        return enter_ns;
    return intervals_find(&thread->calls, time_ns);
}

bool visits_is_paused(uint64_t time_ns)
{
    uint64_t from_ns = atomic_load_explicit(&recorder.paused_from_ns, memory_order_relaxed);
    return from_ns && time_ns >= from_ns &&
           time_ns < atomic_load_explicit(&recorder.paused_until_ns, memory_order_relaxed);
}

bool visits_is_unwanted(struct recorder_thread *thread, uint64_t time_ns)
{
    return visits_is_paused(time_ns) || visits_call_ns(thread, time_ns) != 0;
}

uint64_t visits_last_leave_ns(struct recorder_thread *thread, uint64_t time_ns)
{
    unsigned n = atomic_load_explicit(&thread->calls.n, memory_order_acquire);
    uint64_t last_ns = 0, leave_ns = atomic_load_explicit(&thread->last_leave_ns, memory_order_relaxed);
    if (leave_ns <= time_ns)
        return leave_ns;
    for (unsigned i = n > RECORDER_LONG ? n - RECORDER_LONG : 0; i < n; i++) {
        leave_ns = atomic_load_explicit(&thread->calls.at[i % RECORDER_LONG].leave_ns, memory_order_relaxed);
        if (leave_ns <= time_ns && leave_ns > last_ns)
            last_ns = leave_ns;
    }
    return last_ns;
}
