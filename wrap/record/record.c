/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot path: what happens at every MPI call. See record.h for the contract.
 *
 * The time stamp of entry is taken first and that of leaving last, so that the recorder's own work counts as time in
 * MPI and not as time of the program's loops.
 *
 * Depth counts nested calls, of which only the outermost is recorded. A call left by longjmp or by an exception never
 * reaches record_leave. A jump ends the call (record_jumps_to). After an exception the next call finds that the frame
 * of the call under way is no longer on its stack.
 *
 * Polling: a failing poll whose predecessor failed at the same place only moves the end of the open interval. The clock
 * is read at its begin as well, since one reading could not tell time in the poll from time between two polls, and work
 * of the program between them ends the interval. Sleep is no work: a program that backs off between two polls waits all
 * the same. The thread's CPU time tells the two apart. Offering the CPU to others is none either (sched_yield).
 *
 * A program that works for short times between polls, and looks for messages now and then, may do all it has to do like
 * that. So the interval ends when there is enough of such work to be told, earlier by as much: in the records the polls
 * come first, the work follows. A sample makes such work longer, and ends no interval by that: else all samples would
 * lie in intervals of their own, and none in those that stand for the same work.
 *
 * When the poll after a nap succeeds, it becomes a call of its own, so that the nap, of which what the program had
 * waited for may have taken but a part, stays outside MPI.
 *
 * Where polls of several places fail by turns, as of a program that looks for messages and then whether its own have
 * been received, they are one interval as well, that of the place which came last when it began. The one that succeeds
 * is a call of its own.
 *
 * Between two windows (record --window) nothing is recorded, and wrappers fill in a record that nobody keeps: what they
 * learn of requests, communicators and collectives is needed in the next one.
 */
#include "wrap/record/pending.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/record.h"
#include "wrap/record/recorder.h"
#include "wrap/record/threads.h"
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

enum {
    POLL_WORK_NS = 10000, /* between two polls: has an end of its own in the records */
    POLL_LOOP_NS = 100,   /* between polls, for the recorder and a loop around them */
    /* Work in one record: who polls for hours between pieces of it shall not fill the disk. */
    POLL_WORK_TOLD_NS = 1000000,
    POLL_WORK_LEAST = 10, /* it is told where it is more than the part of so many of the time */
    /* Who sleeps, sleeps for longer than that (the kernel's timer slack), with less CPU time between the two polls.
     * Setting a timer alone takes 50 us in a virtual machine after work that empties caches. */
    POLL_NAP_MIN_NS = 50000,
    POLL_NAP_CPU_NS = 100000,
};
enum { CALL_UNITS = sizeof(struct ww_call) / WW_UNIT };

__thread int fortran_depth;
struct record_windows record_windows;
void (*record_at_sync)(uint16_t call_id, const void *return_address, const void *frame_address);
void (*record_at_callback)(void);

static inline void call_ends(struct recorder_thread *thread, const struct ww_call *call);

static const uint8_t classes[] = {
    WW_LOCAL,
#define WW_MPI(name, class, coll) class,
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

static void count_one(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* The call under way was left without record_leave, at left_ns. */
static void end_left(struct recorder_thread *thread, uint64_t left_ns)
{
    struct ww_call *call = (struct ww_call *)(void *)thread->events.last_call;
    if (call && call->leave_ns == 0) {
        call->leave_ns = left_ns > call->enter_ns ? left_ns : call->enter_ns;
        call->flags |= WW_F_ERROR;
        call_ends(thread, call);
    }
    atomic_store_explicit(&thread->open_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->callback_ns, 0, memory_order_relaxed);
    thread->depth = 0;
    fortran_depth = 0;
}

static bool is_on_stack(const struct recorder_thread *thread, const void *frame_address)
{
    return (uintptr_t)frame_address - thread->bounds.low < thread->bounds.high - thread->bounds.low;
}

enum nesting { NESTED, NOT_NESTED, NESTING_UNKNOWN };

/* Is the wrapper of the call under way still on the stack? Its frame has gone when the present one lies as high, or
 * when the word with its return address has become another. Nothing is walked: the present call may be one of a
 * signal's handler, in the middle of anything. */
static enum nesting nesting_of(const struct recorder_thread *thread, const void *frame_address)
{
    bool is_own = is_on_stack(thread, frame_address), was_own = is_on_stack(thread, thread->outer_frame);
    if (!thread->outer_frame)
        return NESTED;
    if (!is_own)
        return was_own ? NESTED : NESTING_UNKNOWN;
    if (!was_own || frame_address >= thread->outer_frame)
        return NOT_NESTED;
    const void *const volatile *return_address = (const void *const volatile *)thread->outer_frame + 1;
    return *return_address == thread->outer_return_address ? NESTED : NOT_NESTED;
}

/* Such a call of a callback has its other side in a record of another process. */
static bool belongs_with_others(uint16_t call_id)
{
    uint8_t class = classes[call_id];
    return class >= WW_SEND && class <= WW_COLL_INIT && class != WW_REQUEST_FREE;
}

/* Is `thread` really inside another call? A call that is not recorded though it should be is counted. */
static bool is_nested(struct recorder_thread *thread, uint16_t call_id, const void *frame_address)
{
    if (!spool_is_open(&thread->events)) {
        if (thread->depth == 2 && atomic_load_explicit(&recorder.recording, memory_order_relaxed))
            count_one(&recorder.n_unrecorded);
        return true;
    }
    uint64_t callback_ns = atomic_load_explicit(&thread->callback_ns, memory_order_relaxed);
    enum nesting nesting = nesting_of(thread, frame_address);
    if (nesting == NOT_NESTED) {
        /* Left by an exception, which a callback may have thrown. Nothing else tells when. */
        end_left(thread, callback_ns);
        thread->depth = 1;
        return false;
    }
    bool is_recording = atomic_load_explicit(&recorder.recording, memory_order_relaxed);
    if (is_recording && (nesting == NESTING_UNKNOWN || (callback_ns && belongs_with_others(call_id))))
        count_one(&recorder.n_nested);
    return true;
}

void record_jumps_to(uint64_t stack_pointer)
{
    struct recorder_thread *thread = recorder_self;
    uint64_t frame = thread ? (uint64_t)(uintptr_t)thread->outer_frame : 0;
    if (!thread || !thread->depth || !spool_is_open(&thread->events) || !is_on_stack(thread, thread->outer_frame) ||
        stack_pointer <= frame || stack_pointer > thread->bounds.high)
        return;
    uint64_t callback_ns = atomic_load_explicit(&thread->callback_ns, memory_order_relaxed);
    end_left(thread, callback_ns ? callback_ns : recorder_now_ns());
}

static __attribute__((noinline)) struct recorder_thread *enter_slow(struct recorder_thread *thread, uint16_t call_id,
                                                                    const void *frame_address)
{
    if (!thread) {
        if (!atomic_load_explicit(&recorder.recording, memory_order_relaxed))
            return NULL;
        thread = threads_enter();
        if (thread && !thread->depth++)
            return thread;
        count_one(&recorder.n_unrecorded);
        return NULL;
    }
    return thread->depth > 1 && is_nested(thread, call_id, frame_address) ? NULL : thread;
}

/* The thread, when this call is to be recorded. Raises depth in any case. */
static inline struct recorder_thread *begin(uint16_t call_id, const void *return_address, const void *frame_address)
{
    struct recorder_thread *thread = recorder_self;
    if (__builtin_expect(!thread || thread->depth++, 0)) {
        thread = enter_slow(thread, call_id, frame_address);
        if (!thread)
            return NULL;
    }
    if (__builtin_expect(!atomic_load_explicit(&recorder.recording, memory_order_relaxed), 0))
        return NULL;
    thread->outer_frame = frame_address;
    thread->outer_return_address = return_address;
    return thread;
}

/* Between calls there is no outer frame: a signal's handler may call MPI right when the next one begins. */
static inline void end(struct recorder_thread *thread)
{
    if (__builtin_expect(thread->depth == 1, 1)) {
        thread->depth = 0;
        thread->outer_frame = NULL;
    } else if (thread->depth > 0)
        thread->depth--;
}

/* Only this thread adds; the helper reads. */
static inline void count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline __attribute__((always_inline)) struct ww_call *append_call(struct recorder_thread *thread,
                                                                         uint16_t call_id, uint64_t now_ns,
                                                                         const void *return_address,
                                                                         const void *frame_address)
{
    uint32_t stack = stacks_find(&thread->stacks, &thread->events, &thread->bounds, return_address, frame_address);
    struct ww_call *call = spool_take(&thread->events, CALL_UNITS, true);
    if (!call)
        return NULL;
    call->call = call_id;
    call->enter_ns = now_ns;
    call->stack = stack;
    call->peer = WW_NO_PEER;
    spool_commit(call, WW_CALL, CALL_UNITS);
    __builtin_prefetch(call + 1, 1); /* the next record: worth 2 ns */
    count(&thread->n_calls, 1);
    return call;
}

/* Tells a stretch outside MPI from the calls around it where the kernel's switches do not (sample/gap.h). Some 0.3 us,
 * for what took far longer; and 4 us where it was off the CPU for longer still. */
static __attribute__((noinline)) void take_account(struct recorder_thread *thread, uint64_t now_ns, bool is_leave)
{
    unsigned n = atomic_load_explicit(&thread->n_accounts, memory_order_relaxed);
    struct recorder_account *slot = &thread->account[n % RECORDER_ACCOUNTS];
    const struct recorder_account *last = &thread->account[(n - 1) % RECORDER_ACCOUNTS];
    if (!is_leave && now_ns - atomic_load_explicit(&thread->last_leave_ns, memory_order_relaxed) <= RECORDER_LONG_NS)
        return;
    uint64_t cpu_ns = recorder_cpu_ns();
    uint64_t last_off_ns = atomic_load_explicit(&last->time_ns, memory_order_relaxed) -
                           atomic_load_explicit(&last->cpu_ns, memory_order_relaxed);
    bool was_off = (int64_t)(now_ns - cpu_ns - last_off_ns) > RECORDER_LONG_OFF_NS;
    int saved = errno;
    atomic_store_explicit(&slot->time_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&slot->cpu_ns, cpu_ns, memory_order_relaxed);
    atomic_store_explicit(&slot->ready_ns, was_off ? machine_ready_ns() : 0, memory_order_relaxed);
    errno = saved;
    atomic_store_explicit(&slot->is_leave, is_leave, memory_order_relaxed);
    atomic_store_explicit(&thread->n_accounts, n + 1, memory_order_release);
}

static inline bool needs_account(const struct recorder_thread *thread)
{
    return __builtin_expect(atomic_load_explicit(&thread->needs_accounts, memory_order_relaxed), 0);
}

/* The call with which a window begins for this thread, as a moment: what was before it is not in the window. */
static void mark(struct recorder_thread *thread, uint16_t call_id, uint64_t time_ns, const void *return_address,
                 const void *frame_address)
{
    if (record_at_sync)
        record_at_sync(WW_ID_Pcontrol, return_address, frame_address);
    struct ww_call *call = append_call(thread, call_id, time_ns, return_address, frame_address);
    if (call)
        call->leave_ns = time_ns;
}

static struct ww_call *unrecorded_call(struct recorder_thread *thread, uint16_t call_id)
{
    thread->poll = NULL;
    memset(&thread->unrecorded, 0, sizeof thread->unrecorded);
    thread->unrecorded.call = call_id;
    thread->unrecorded.peer = WW_NO_PEER;
    return &thread->unrecorded;
}

/* Of a run that is recorded in windows, is this call in one, or that which ends the run? The other threads than the one
 * that began it come to it with their first call. */
static __attribute__((noinline)) bool is_in_window(struct recorder_thread *thread, uint16_t call_id,
                                                   const void *return_address, const void *frame_address)
{
    bool ends = call_id == WW_ID_Finalize || call_id == WW_ID_Session_finalize || call_id == WW_ID_Abort;
    if (atomic_load_explicit(&recorder.is_silent, memory_order_acquire))
        return ends;
    uint32_t n_windows = atomic_load_explicit(&recorder.n_windows, memory_order_acquire);
    uint64_t left_ns = atomic_load_explicit(&thread->last_leave_ns, memory_order_relaxed);
    if (thread->n_windows != n_windows && left_ns && left_ns < recorder.window_ns)
        mark(thread, call_id, recorder.window_ns - 1, return_address, frame_address);
    thread->n_windows = n_windows;
    return true;
}

static inline void tell_interval(struct recorder_thread *thread, uint64_t enter_ns, uint64_t leave_ns)
{
    atomic_store_explicit(&thread->last_enter_ns, enter_ns, memory_order_relaxed);
    atomic_store_explicit(&thread->last_leave_ns, leave_ns, memory_order_relaxed);
    atomic_store_explicit(&thread->open_ns, 0, memory_order_release);
}

/* Less than a good part is what interrupts and caches make of waiting. */
static bool is_at_work(const struct recorder_thread *thread, uint64_t until_ns)
{
    return thread->poll_work_ns > POLL_WORK_NS &&
           thread->poll_work_ns * POLL_WORK_LEAST > until_ns - thread->poll_work_since_ns;
}

/* The open interval ended before the work that was done between its polls. */
static void leave_out_work(struct recorder_thread *thread, uint64_t until_ns)
{
    struct ww_call *open = thread->poll;
    open->leave_ns = until_ns - thread->poll_work_ns;
    thread->poll_work_ns = 0;
    tell_interval(thread, thread->poll_enter_ns, open->leave_ns);
}

static __attribute__((noinline)) void poll_ends(struct recorder_thread *thread)
{
    bool has_napped = thread->poll_nap[RECORDER_NAPS - 1].to_ns;
    if (!has_napped && is_at_work(thread, thread->poll->leave_ns))
        leave_out_work(thread, thread->poll->leave_ns);
    thread->poll = NULL;
}

static inline __attribute__((always_inline)) struct ww_call *
enter_recorded(struct recorder_thread *thread, uint16_t call_id, const void *return_address, const void *frame_address)
{
    uint64_t now_ns = recorder_now_ns();
    if (__builtin_expect(thread->poll != NULL, 0))
        poll_ends(thread);
    if (needs_account(thread))
        take_account(thread, now_ns, false);
    atomic_store_explicit(&thread->open_ns, now_ns, memory_order_relaxed);
    if (record_at_sync)
        record_at_sync(call_id, return_address, frame_address);
    return append_call(thread, call_id, now_ns, return_address, frame_address);
}

static __attribute__((noinline)) struct ww_call *enter_windowed(struct recorder_thread *thread, uint16_t call_id,
                                                                const void *return_address, const void *frame_address)
{
    struct ww_call *call = NULL;
    if (is_in_window(thread, call_id, return_address, frame_address))
        call = enter_recorded(thread, call_id, return_address, frame_address);
    return call ? call : unrecorded_call(thread, call_id);
}

struct ww_call *record_enter(uint16_t call_id, const void *return_address, const void *frame_address)
{
    struct recorder_thread *thread = begin(call_id, return_address, frame_address);
    if (!thread)
        return NULL;
    if (__builtin_expect(recorder.is_windowed, 0))
        return enter_windowed(thread, call_id, return_address, frame_address);
    return enter_recorded(thread, call_id, return_address, frame_address);
}

static inline void intervals_add(struct recorder_intervals *intervals, uint64_t enter_ns, uint64_t leave_ns)
{
    unsigned i = atomic_load_explicit(&intervals->n, memory_order_relaxed);
    struct recorder_interval *slot = &intervals->at[i % RECORDER_LONG];
    atomic_store_explicit(&slot->enter_ns, enter_ns, memory_order_relaxed);
    atomic_store_explicit(&slot->leave_ns, leave_ns, memory_order_relaxed);
    atomic_store_explicit(&intervals->n, i + 1, memory_order_release);
}

static inline void call_ends(struct recorder_thread *thread, const struct ww_call *call)
{
    if (call->leave_ns - call->enter_ns > RECORDER_LONG_NS) {
        intervals_add(&thread->calls, call->enter_ns, call->leave_ns);
        if (needs_account(thread))
            take_account(thread, call->leave_ns, true);
    }
    tell_interval(thread, call->enter_ns, call->leave_ns);
}

/* A ring may lose the call that made a persistent request long before the calls that start it, and it may have been
 * made between two windows. */
static __attribute__((noinline)) void keep_if_template(struct recorder_thread *thread, const struct ww_call *call)
{
    uint8_t class = classes[call->call];
    if (class != WW_SEND_INIT && class != WW_RECV_INIT && class != WW_COLL_INIT && call->call != WW_ID_Psend_init &&
        call->call != WW_ID_Precv_init)
        return;
    struct ww_call *kept = spool_take_definition(&thread->events, CALL_UNITS);
    if (!kept)
        return;
    memcpy((char *)kept + sizeof kept->head, (const char *)call + sizeof call->head, sizeof *call - sizeof call->head);
    spool_commit(kept, WW_KEPT, CALL_UNITS);
}

/* Of receives alone, it matters to others when they were posted. */
static __attribute__((noinline)) void follow_request(struct recorder_thread *thread, const struct ww_call *call)
{
    uint8_t class = classes[call->call];
    if (call == &thread->unrecorded)
        keep_if_template(thread, call);
    if (class == WW_IRECV && !(call->flags & WW_F_NULL))
        pending_add(call);
    else if (class != WW_CANCEL && class != WW_PARTITIONED)
        pending_remove(call->request);
}

static inline void leave_recorded(struct recorder_thread *thread, struct ww_call *call, int mpi_error)
{
    if (call) {
        if (mpi_error)
            call->flags |= WW_F_ERROR;
        call->leave_ns = recorder_now_ns();
        call_ends(thread, call);
        if (__builtin_expect(thread->events.ring.slot_bytes > 0, 0))
            keep_if_template(thread, call);
    } else if (thread->depth == 1)
        atomic_store_explicit(&thread->open_ns, 0, memory_order_relaxed);
}

static __attribute__((noinline)) void leave_windowed(struct recorder_thread *thread, struct ww_call *call,
                                                     int mpi_error)
{
    bool turns = thread->is_at_all && record_windows.agree();
    thread->is_at_all = false;
    if (call && call->request && !(call->flags & WW_F_POLL))
        follow_request(thread, call);
    leave_recorded(thread, call == &thread->unrecorded ? NULL : call, mpi_error);
    if (turns)
        record_windows.turn();
}

void record_leave(struct ww_call *call, int mpi_error)
{
    struct recorder_thread *thread = recorder_self;
    if (!thread)
        return;
    if (__builtin_expect(recorder.is_windowed, 0))
        leave_windowed(thread, call, mpi_error);
    else
        leave_recorded(thread, call, mpi_error);
    end(thread);
}

void record_callback_begin(void)
{
    struct recorder_thread *thread = recorder_self;
    if (!thread || !thread->depth || !spool_is_open(&thread->events) ||
        !atomic_load_explicit(&recorder.recording, memory_order_relaxed) ||
        atomic_load_explicit(&recorder.is_silent, memory_order_relaxed))
        return;
    atomic_store_explicit(&thread->has_callbacks, true, memory_order_relaxed);
    atomic_store_explicit(&thread->callback_ns, recorder_now_ns(), memory_order_release);
}

void record_callback_end(void)
{
    struct recorder_thread *thread = recorder_self;
    uint64_t from_ns = thread ? atomic_load_explicit(&thread->callback_ns, memory_order_relaxed) : 0;
    if (!from_ns)
        return;
    uint64_t to_ns = recorder_now_ns();
    struct ww_callback *callback = record_append(1);
    if (callback) {
        callback->from_ns = from_ns;
        callback->to_ns = to_ns;
        record_commit(callback, WW_CALLBACK, 1);
    }
    if (to_ns - from_ns > RECORDER_LONG_NS)
        intervals_add(&thread->callbacks, from_ns, to_ns);
    atomic_store_explicit(&thread->callback_ns, 0, memory_order_release);
    if (callback && record_at_callback && to_ns - from_ns >= RECORDER_WORTH_TAKING_NS)
        record_at_callback();
}

void record_mark(uint64_t time_ns)
{
    struct recorder_thread *thread = recorder_self;
    /* The wrapper's is compiled with a frame pointer: behind it stands the return address. */
    const void *const *frame = thread->outer_frame;
    mark(thread, thread->unrecorded.call, time_ns, frame[1], frame);
    tell_interval(thread, time_ns, time_ns);
    if (needs_account(thread))
        take_account(thread, time_ns, true);
}

/* Not of polls for memory to change, which the program itself looks at between two of them. */
static void add_work(struct recorder_thread *thread, uint64_t gap_ns)
{
    if (gap_ns <= POLL_LOOP_NS || thread->poll_has_yielded || thread->poll->call == WW_ID_Win_sync)
        return;
    thread->poll_work_ns += gap_ns - POLL_LOOP_NS;
    count(&thread->n_polls_at_work, 1);
}

/* Polls after its CPU time was read took some of it themselves. */
static uint64_t awake_since_poll_ns(const struct recorder_thread *thread)
{
    uint64_t awake_ns = recorder_cpu_ns() - thread->poll_cpu_ns,
             polled_ns = thread->poll->leave_ns - thread->poll_cpu_at_ns;
    return awake_ns > polled_ns ? awake_ns - polled_ns : 0;
}

/* How often the thread has given up its CPU to sleep. The kernel counts apart how often it was taken, or offered. */
static long n_sleeps_so_far(void)
{
    struct rusage usage = {.ru_nvcsw = 0};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Of a gap between two polls that are far apart: true after a nap, which is remembered. A thread that works between
 * polls and was off the CPU had to do without it. */
static bool note_nap(struct recorder_thread *thread, uint64_t gap_ns, uint64_t now_ns)
{
    if (gap_ns < POLL_NAP_MIN_NS || is_at_work(thread, thread->poll->leave_ns))
        return false;
    uint64_t awake_ns = awake_since_poll_ns(thread);
    bool is_short = awake_ns < POLL_NAP_CPU_NS && awake_ns < gap_ns / 2;
    bool is_asleep = awake_ns <= gap_ns / POLL_WORK_LEAST && n_sleeps_so_far() > thread->poll_n_sleeps;
    if (!is_short && !is_asleep)
        return false;
    memmove(&thread->poll_nap[0], &thread->poll_nap[1], sizeof thread->poll_nap - sizeof thread->poll_nap[0]);
    thread->poll_nap[RECORDER_NAPS - 1] = (struct recorder_nap){.from_ns = thread->poll->leave_ns, .to_ns = now_ns};
    thread->poll_work_since_ns += gap_ns;
    return true;
}

/* The interval ends when there is enough work to be told. */
static bool goes_on_after_work(struct recorder_thread *thread, uint64_t now_ns)
{
    thread->poll_has_yielded = false;
    if (thread->poll_work_ns <= POLL_WORK_TOLD_NS)
        return true;
    bool ends = is_at_work(thread, now_ns);
    if (ends)
        leave_out_work(thread, now_ns);
    thread->poll_work_ns = 0;
    thread->poll_work_since_ns = now_ns;
    return !ends;
}

/* Work as short as that between the polls before, in which the thread was sampled. What a sample takes varies. */
static bool was_sampled(const struct recorder_thread *thread, uint64_t gap_ns)
{
    uint64_t cost_ns = atomic_load_explicit(&recorder.sample_cost_ns, memory_order_relaxed);
    return thread->poll_gap_ns > POLL_WORK_NS / POLL_WORK_LEAST && gap_ns <= thread->poll_gap_ns + 2 * cost_ns;
}

/* Does a poll at the same place, or one that takes its turn, go on with the open interval? Not when the program did
 * some work of its own since the last one. A nap is remembered. */
static inline bool poll_goes_on(struct recorder_thread *thread, uint64_t now_ns)
{
    uint64_t gap_ns = now_ns - thread->poll->leave_ns;
    if (__builtin_expect(gap_ns <= POLL_WORK_NS, 1))
        thread->poll_gap_ns = gap_ns;
    else if (!was_sampled(thread, gap_ns))
        return note_nap(thread, gap_ns, now_ns);
    add_work(thread, gap_ns);
    return goes_on_after_work(thread, now_ns);
}

static __attribute__((noinline)) struct ww_call *poll_enter(struct recorder_thread *thread, uint16_t call_id,
                                                            const void *return_address, const void *frame_address)
{
    struct ww_call *call = enter_recorded(thread, call_id, return_address, frame_address);
    if (call)
        call->flags = WW_F_POLL;
    thread->poll_return_address = return_address;
    thread->poll_enter_ns = atomic_load_explicit(&thread->open_ns, memory_order_relaxed);
    thread->poll_work_since_ns = thread->poll_enter_ns;
    thread->poll_work_ns = thread->poll_gap_ns = 0;
    thread->poll_has_yielded = false;
    memset(thread->poll_nap, 0, sizeof thread->poll_nap);
    return call;
}

static bool takes_turns(const struct recorder_thread *thread, const struct recorder_poll_place *place)
{
    for (int i = 0; i < RECORDER_POLL_TURNS; i++)
        if (thread->poll_turns[i].return_address == place->return_address && thread->poll_turns[i].call == place->call)
            return true;
    return false;
}

/* A poll of another place than that of the open interval, which may be one of several that fail by turns. */
static __attribute__((noinline)) struct ww_call *poll_elsewhere(struct recorder_thread *thread, uint16_t call_id,
                                                                const void *return_address, const void *frame_address)
{
    struct ww_call *open = thread->poll;
    struct recorder_poll_place place = {return_address, call_id}, last = {0};
    if (open) {
        last = (struct recorder_poll_place){thread->poll_return_address, open->call};
        uint64_t now_ns = takes_turns(thread, &place) ? recorder_now_ns() : 0;
        if (now_ns && poll_goes_on(thread, now_ns)) {
            thread->poll_guest = place;
            thread->poll_guest_ns = now_ns;
            return open;
        }
    } else
        memset(thread->poll_turns, 0, sizeof thread->poll_turns);
    struct ww_call *call = poll_enter(thread, call_id, return_address, frame_address);
    if (open && !takes_turns(thread, &last)) {
        memmove(&thread->poll_turns[1], &thread->poll_turns[0], sizeof thread->poll_turns - sizeof last);
        thread->poll_turns[0] = last;
    }
    return call;
}

static inline struct ww_call *poll_recorded(struct recorder_thread *thread, uint16_t call_id,
                                            const void *return_address, const void *frame_address)
{
    struct ww_call *open = thread->poll;
    thread->poll_guest_ns = 0;
    if (__builtin_expect(open && open->call == call_id && thread->poll_return_address == return_address, 1))
        return poll_goes_on(thread, recorder_now_ns()) ? open
                                                       : poll_enter(thread, call_id, return_address, frame_address);
    return poll_elsewhere(thread, call_id, return_address, frame_address);
}

static __attribute__((noinline)) struct ww_call *poll_windowed(struct recorder_thread *thread, uint16_t call_id,
                                                               const void *return_address, const void *frame_address)
{
    if (is_in_window(thread, call_id, return_address, frame_address))
        return poll_recorded(thread, call_id, return_address, frame_address);
    struct ww_call *call = unrecorded_call(thread, call_id);
    call->flags = WW_F_POLL;
    return call;
}

struct record_poll record_poll_begin(uint16_t call_id, const void *return_address, const void *frame_address)
{
    struct recorder_thread *thread = begin(call_id, return_address, frame_address);
    if (!thread)
        return (struct record_poll){NULL};
    if (__builtin_expect(recorder.is_windowed, 0))
        return (struct record_poll){poll_windowed(thread, call_id, return_address, frame_address)};
    return (struct record_poll){poll_recorded(thread, call_id, return_address, frame_address)};
}

void record_poll_failed(struct record_poll *poll)
{
    struct recorder_thread *thread = recorder_self;
    if (!thread)
        return;
    struct ww_call *call = poll->call;
    if (call && call != &thread->unrecorded) {
        uint64_t now_ns = recorder_now_ns();
        if (__builtin_expect(now_ns - thread->poll_cpu_at_ns > POLL_NAP_MIN_NS, 0)) {
            thread->poll_cpu_ns = recorder_cpu_ns();
            thread->poll_n_sleeps = n_sleeps_so_far();
            thread->poll_cpu_at_ns = now_ns;
        }
        call->leave_ns = now_ns;
        count(&thread->n_polls, call->n_polls++ > 0); /* the first is counted with the record */
        thread->poll = call;
        tell_interval(thread, thread->poll_enter_ns, now_ns);
    }
    end(thread);
}

/* The rest of a polling interval that is told in parts. */
static struct ww_call *append_poll(struct recorder_thread *thread, struct recorder_poll_place place, uint64_t enter_ns,
                                   uint16_t flags)
{
    struct ww_call *call = append_call(thread, place.call, enter_ns, place.return_address, thread->outer_frame);
    if (call)
        call->flags = WW_F_POLL | flags;
    return call;
}

/* The open interval ends before the poll that took its turn. */
static __attribute__((noinline)) struct ww_call *guest_succeeded(struct recorder_thread *thread, struct ww_call *open)
{
    if (!open->leave_ns) {
        open->leave_ns = thread->poll_guest_ns;
        call_ends(thread, open);
    }
    return append_poll(thread, thread->poll_guest, thread->poll_guest_ns, 0);
}

/* The open interval ends, in as many records as it has to be parted into. The last is that of the successful poll. */
static struct ww_call *part_interval(struct recorder_thread *thread, struct ww_call *call)
{
    struct recorder_poll_place place = {thread->poll_return_address, call->call};
    uint64_t failed_ns = call->leave_ns;
    poll_ends(thread);
    if (call->leave_ns < failed_ns && !thread->poll_guest_ns)
        return append_poll(thread, place, failed_ns, 0);
    for (int i = 0; i < RECORDER_NAPS && call; i++) {
        const struct recorder_nap *nap = &thread->poll_nap[i];
        if (!nap->to_ns)
            continue;
        call->leave_ns = nap->from_ns;
        call_ends(thread, call);
        call = append_poll(thread, place, nap->to_ns, WW_F_AFTER_NAP);
    }
    return thread->poll_guest_ns && call ? guest_succeeded(thread, call) : call;
}

struct ww_call *record_poll_succeeded(struct record_poll *poll)
{
    struct recorder_thread *thread = recorder_self;
    struct ww_call *call = poll->call;
    if (!thread || !call)
        return call;
    if (call == thread->poll) {
        uint64_t n_before = atomic_load_explicit(&thread->n_calls, memory_order_relaxed);
        call = part_interval(thread, call);
        uint64_t n_new = atomic_load_explicit(&thread->n_calls, memory_order_relaxed) - n_before;
        count(&thread->n_polls, 1 - n_new); /* of all these records, one call */
    }
    if (call)
        call->flags |= WW_F_FOUND;
    return call;
}

void record_done(struct ww_call *call, uint16_t type, struct ww_done done)
{
    struct recorder_thread *thread = recorder_self;
    if (!call || !thread)
        return;
    if (__builtin_expect(recorder.is_windowed, 0)) {
        if (type == WW_STARTED)
            pending_add(&(struct ww_call){.call = WW_ID_Start, .request = done.request});
        else
            pending_remove(done.request);
    }
    struct ww_done *record = call == &thread->unrecorded ? NULL : record_append(1);
    if (!record)
        return;
    done.head = record->head;
    *record = done;
    spool_commit(record, type, 1);
}

void *record_append(uint16_t units)
{
    struct recorder_thread *thread = recorder_self;
    if (!thread || !atomic_load_explicit(&recorder.recording, memory_order_relaxed) ||
        atomic_load_explicit(&recorder.is_silent, memory_order_relaxed))
        return NULL;
    return spool_take(&thread->events, units, false);
}

void *record_define(uint16_t units)
{
    struct recorder_thread *thread = recorder_self;
    if (!thread || !atomic_load_explicit(&recorder.recording, memory_order_relaxed))
        return NULL;
    return spool_take_definition(&thread->events, units);
}

void record_commit(void *record, uint16_t type, uint16_t units)
{
    if (record)
        spool_commit(record, type, units);
}
