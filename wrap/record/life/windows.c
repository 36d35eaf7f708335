/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/life/windows.h"
#include "wrap/record/pending.h"
#include "wrap/record/pmpi/world.h"
#include "wrap/record/process/say.h"
#include "wrap/record/record.h"
#include "wrap/record/recorder.h"
#include "wrap/record/threads.h"

enum {
    MOST_CALLS = 256, /* from plan to plan: a plan costs about as much as a call of the program's */
    TIMES_A_WINDOW = 16,
};
/* For a plan that has had time to arrive. Then a rank has not counted what the others have, and waiting is in vain. */
static const uint64_t PATIENCE_NS = 30000000000u;

static struct {
    struct windows_plan plan; /* under way */
    struct windows_clock clock;
    uint64_t n, at;       /* calls of all processes so far. The one behind which the plan under way is taken */
    uint64_t n_last;      /* from the plan before that was taken to the last one */
    bool is_switched_off; /* by the program */
} windows;

struct windows_plan windows_decide(struct windows_clock *clock, uint64_t now_ns, struct windows_plan taken,
                                   uint64_t n_last)
{
    clock->each_ns = (clock->each_ns + (now_ns - clock->seen_ns) / n_last) / 2 + 1;
    clock->seen_ns = now_ns;
    if (taken.turns && clock->is_on) {
        while (clock->begin_ns <= now_ns)
            clock->begin_ns += clock->every_ns;
        clock->due_ns = clock->begin_ns;
    } else if (taken.turns)
        clock->due_ns = now_ns + clock->window_ns;
    clock->is_on ^= taken.turns;
    uint64_t then_ns = now_ns + taken.n_next * clock->each_ns;
    uint64_t left_ns = clock->due_ns > then_ns ? clock->due_ns - then_ns : 0;
    uint64_t soon_ns = clock->window_ns / TIMES_A_WINDOW;
    /* Half of the way, since calls may come more rarely then, and not on the word of a few that came fast. */
    uint64_t n = (left_ns / 2 < soon_ns ? left_ns / 2 : soon_ns) / clock->each_ns;
    n = n < 2 * taken.n_next ? n : 2 * taken.n_next;
    return (struct windows_plan){.n_next = n < 1            ? 1
                                           : n < MOST_CALLS ? n
                                                            : MOST_CALLS,
                                 .turns = left_ns <= clock->each_ns / 2};
}

static void write_control(uint32_t level, uint32_t window, uint64_t time_ns)
{
    struct ww_control *record = record_append(1);
    if (!record)
        return;
    record->level = level;
    record->window = window;
    record->time_ns = time_ns;
    record_commit(record, WW_CONTROL, 1);
}

/* Samples stop and start again. */
static void pause_samples(bool is_off, uint64_t now_ns)
{
    bool is_paused = atomic_load(&recorder.paused_from_ns) && atomic_load(&recorder.paused_until_ns) == UINT64_MAX;
    if (!is_off && is_paused)
        atomic_store(&recorder.paused_until_ns, now_ns);
    if (is_off && !is_paused) {
        atomic_store(&recorder.paused_until_ns, UINT64_MAX);
        atomic_store(&recorder.paused_from_ns, now_ns);
    }
}

/* Calls go on being recorded, because messages are matched by their order. */
void windows_control(int level)
{
    if (!recorder_is_on())
        return;
    uint64_t now_ns = recorder_now_ns();
    windows.is_switched_off = level == 0;
    if (atomic_load(&recorder.is_silent))
        return;
    write_control((uint32_t)level, 0, now_ns);
    pause_samples(level == 0, now_ns);
}

static void write_pending(const struct ww_call *call)
{
    struct ww_call *record = record_append(sizeof *record / WW_UNIT);
    if (!record)
        return;
    *record = (struct ww_call){.call = call->call,
                               .flags = call->flags,
                               .enter_ns = recorder.window_ns,
                               .leave_ns = recorder.window_ns,
                               .comm = call->comm,
                               .peer = call->peer,
                               .tag = call->tag,
                               .bytes_in = call->bytes_in,
                               .request = call->request};
    record_commit(record, WW_PENDING, sizeof *record / WW_UNIT);
}

/* The end of a window, or the begin of the next one. */
static void turn(void)
{
    uint32_t number = atomic_load(&recorder.n_windows) + 1;
    uint64_t now_ns = recorder_now_ns();
    if (!atomic_load(&recorder.is_silent)) {
        write_control(0, number, now_ns);
        pause_samples(true, now_ns);
        atomic_store(&recorder.is_silent, true);
        return;
    }
    recorder.window_ns = now_ns;
    recorder_self->n_windows = number;
    atomic_store(&recorder.n_windows, number);
    atomic_store(&recorder.is_silent, false);
    record_mark(now_ns);
    pending_each(write_pending);
    write_control(1, number + 1, now_ns);
    if (windows.is_switched_off)
        write_control(0, 0, now_ns);
    else
        pause_samples(false, now_ns);
}

/* A rank that stops to follow plans records all that comes. */
static bool agree(void)
{
    if (++windows.n != windows.at)
        return false;
    if (!world_await(PATIENCE_NS)) {
        say("rank %d: the ranks do not agree on windows any more: the rest of the run is recorded as a whole",
            recorder.rank);
        return atomic_load(&recorder.is_silent);
    }
    struct windows_plan plan = windows.plan;
    windows.at += plan.n_next;
    if (recorder.rank == 0)
        windows.plan = windows_decide(&windows.clock, recorder_now_ns(), plan, windows.n_last);
    windows.n_last = plan.n_next;
    world_send(&windows.plan, sizeof windows.plan);
    return plan.turns;
}

void windows_choose(void)
{
    world_broadcast(&recorder.options.windows, sizeof recorder.options.windows);
    recorder.header.window_ns = recorder.options.windows.window_ns;
    recorder.header.every_ns = recorder.options.windows.every_ns;
}

void windows_begin(void)
{
    uint64_t n_off = !recorder_is_on();
    if (!recorder.options.windows.window_ns || !world_sum(&n_off, 1) || !world_broadcast(&n_off, sizeof n_off) || n_off)
        return;
    uint64_t now_ns = recorder_now_ns();
    windows.clock = (struct windows_clock){.window_ns = recorder.options.windows.window_ns,
                                           .every_ns = recorder.options.windows.every_ns,
                                           .begin_ns = now_ns,
                                           .due_ns = now_ns + recorder.options.windows.window_ns,
                                           .seen_ns = now_ns,
                                           .is_on = true};
    windows.at = windows.n_last = 1;
    windows.plan = (struct windows_plan){.n_next = 1};
    recorder.has_thread_calls = world_has_threads();
    record_windows = (struct record_windows){agree, turn};
    recorder.is_windowed = world_send(&windows.plan, sizeof windows.plan);
}

void windows_end(void)
{
    if (recorder.is_windowed && windows.n < windows.at)
        world_await(PATIENCE_NS);
}

uint32_t windows_n(void)
{
    return recorder.options.windows.window_ns ? atomic_load(&recorder.n_windows) + 1 : 0;
}
