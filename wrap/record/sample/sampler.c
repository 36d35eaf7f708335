/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's side of sampling: which source of samples works here, which threads there are, and which of them sleep.
 */
#include "wrap/record/sample/sampler.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/process/say.h"
#include "wrap/record/sample/accounts.h"
#include "wrap/record/sample/asleep.h"
#include "wrap/record/sample/perf.h"
#include "wrap/record/sample/sampled.h"
#include "wrap/record/sample/timer.h"
#include "wrap/record/sample/visits.h"
#include "wrap/record/sample/writer.h"
#include "wrap/record/threads.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FIRST_RING_BYTES = 256 << 10, /* of the thread that initialised MPI; the others share less */
    OTHER_RING_BYTES = 64 << 10,
    FIRST_SWITCHES_BYTES = 128 << 10,
    OTHER_SWITCHES_BYTES = 32 << 10,
    FIRST_WINDOW_BYTES = 16 << 10, /* kernels of libraries keep blocks of that size on the stack */
    OTHER_WINDOW_BYTES = 4 << 10,
    LOOK_AT_THREADS_NS = 100000000,
    SHORT_LIFE_NS = 10000000,
    FEW_SHORT_LIVES = 4,
    MOST_SHORT_LIVES = 8,
    SIGHTED = 256,
    PATIENCE_NS = 20000000,
    PATIENCE_ASLEEP_NS = 13000000,
    SHORTEST_PATIENCE_NS = 4000000, /* more often it would cost a percent */
    TIMER_COST_NS = 5000,           /* a signal, a copy of the stack */
    HELPER_COST_NS = 4000,          /* walking the copied stack, elsewhere */
    /* What an interrupt costs outside a virtual machine is not seen inside: whole programs tell. */
    SHORTEST_NS = 4000000,
    LONGEST_NS = 20000000,
    FEWEST_OF_PERIOD = 3, /* samples: each change of the period delays the next one by half a period */
    COSTS_PER_PERIOD = 200,
    ODD_NS = 12347,
    SWITCHING_TICKS = 3, /* between samples of a thread that switches often */
    /* At least so long is watched how many threads need a CPU: a dozen share one in turns of some milliseconds. */
    AT_ONCE_NS = 50000000,
};

static struct {
    bool on, by_timer;
    bool has_switches; /* perf events tell when threads are off the CPU */
    uint64_t room_ns;  /* CPU time of a thread after which its ring is full */
    uint64_t period_ns, sample_cost_ns, n_samples, looked_at_threads_ns, n_task_links;
    uint32_t n_threads_begun;
    int32_t own_tid;
    unsigned n_short_lives;   /* of the last threads that ended */
    int32_t sighted[SIGHTED]; /* threads that were there at the last look, by number modulo SIGHTED */
    bool has_sighted;         /* some of them will be sampled if they are still there */
    uint64_t n_drawn;         /* random numbers */
    struct stop stop;         /* the last one */
    /* Since then it is watched how many threads need a CPU. Those that have ended needed it for so long. */
    uint64_t need_from_ns, ended_need_ns;
} sampler;

/* From three to five quarters of it, so that nothing goes on in step with the program. The numbers are those of
 * SplitMix (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). */
static uint64_t vary_ns(uint64_t ns)
{
    uint64_t x = recorder.start_ns + (uint64_t)recorder.pid + ++sampler.n_drawn * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return ns - ns / 4 + (x ^ x >> 31) % (ns / 2 + 1);
}

/* Keeps the cost below 0.5 %. Never a round number, for where it cannot be varied. */
static uint64_t choose_period_ns(uint64_t sample_cost_ns, uint64_t shortest_ns)
{
    if (recorder.options.rate_hz != RATE_CALIBRATED) {
        uint64_t period_ns = 1000000000u / recorder.options.rate_hz + 1;
        return period_ns > shortest_ns ? period_ns : shortest_ns;
    }
    uint64_t period_ns = (sample_cost_ns + HELPER_COST_NS) * COSTS_PER_PERIOD;
    if (period_ns < SHORTEST_NS)
        period_ns = SHORTEST_NS;
    if (period_ns > LONGEST_NS)
        period_ns = LONGEST_NS;
    return (period_ns + ODD_NS) | 1;
}

static bool choose_perf(void)
{
    int error = 0;
    sampler.sample_cost_ns = perf_choose(&error);
    if (error == 0) {
        sampler.has_switches = true;
        sampler.period_ns = choose_period_ns(sampler.sample_cost_ns, 0);
        return true;
    }
    say_note("perf_event_open: %s", strerror(error));
    return false;
}

static bool choose_timer(void)
{
    if (!timer_choose()) {
        say_note("no samples: no signal is free for the CPU timer");
        return false;
    }
    sampler.by_timer = true;
    sampler.sample_cost_ns = TIMER_COST_NS;
    sampler.period_ns = choose_period_ns(TIMER_COST_NS, TIMER_SHORTEST_NS);
    if (sampler.has_switches)
        return true;
    say_note(machine_ready_ns() > 0
                 ? "samples come from CPU timers: of time off the CPU it is known how long it was, not when"
                 : "samples come from CPU timers: time off the CPU while runnable cannot be told from computing");
    return true;
}

/* The kernel copies the stack of C code only: frames of Python are read by the thread itself, in its timer's signal.
 * Switches are still the kernel's. */
static bool choose_source(const char *wish)
{
    bool may_perf = strcmp(wish, "timer") != 0, may_timer = strcmp(wish, "perf") != 0;
    if (may_timer && python_is_there()) {
        bool has_perf = may_perf && choose_perf();
        return choose_timer() || has_perf;
    }
    return (may_perf && choose_perf()) || (may_timer && choose_timer());
}

void sampler_choose(void)
{
    const char *wish = recorder.options.sampler;
    if (strcmp(wish, "off") == 0 || recorder.options.rate_hz == 0)
        say_note(
            "no samples were asked for: code between two calls is named by these, and time off the CPU is not known");
    else
        sampler.on = choose_source(wish);
    atomic_store(&recorder.sample_period_ns, sampler.on ? sampler.period_ns : 0);
    atomic_store(&recorder.sample_cost_ns, sampler.on ? sampler.sample_cost_ns : 0);
}

static int open_samples(struct recorder_thread *thread, struct sampler_thread *s)
{
    size_t ring_bytes = thread->index == 0 ? FIRST_RING_BYTES : OTHER_RING_BYTES;
    int error =
        perf_open_samples(&s->samples, s->tid, s->period_ns, ring_bytes, &s->window_bytes, &s->kernel_is_hidden);
    uint64_t room_ns = error == 0 ? perf_room(&s->samples, s->window_bytes) * sampler.period_ns : 0;
    if (room_ns > 0 && (sampler.room_ns == 0 || room_ns < sampler.room_ns))
        sampler.room_ns = room_ns;
    return error;
}

static void open_switches(const struct recorder_thread *thread, struct sampler_thread *s)
{
    size_t switches_bytes = thread->index == 0 ? FIRST_SWITCHES_BYTES : OTHER_SWITCHES_BYTES;
    int error = perf_open_switches(&s->switches, s->tid, switches_bytes);
    if (error != 0 && error != ESRCH)
        say_note("time off the CPU is not known: %s", strerror(error));
}

static int attach_perf(struct recorder_thread *thread, struct sampler_thread *s)
{
    s->nominal_ns = sampler.period_ns;
    s->period_ns = vary_ns(s->nominal_ns);
    s->window_bytes = thread->index == 0 ? FIRST_WINDOW_BYTES : OTHER_WINDOW_BYTES;
    int error = open_samples(thread, s);
    if (error != ESRCH)
        open_switches(thread, s);
    return error;
}

static int attach_timer(struct recorder_thread *thread, struct sampler_thread *s)
{
    s->period_ns = sampler.period_ns;
    s->timer = timer_attach(s->tid, sampler.period_ns);
    int error = s->timer ? 0 : errno;
    if (sampler.has_switches && error == 0)
        open_switches(thread, s);
    return error;
}

static void attach(struct recorder_thread *thread, int32_t tid)
{
    struct sampler_thread *s = calloc(1, sizeof *s);
    int error = 0;
    if (!s)
        return;
    s->tid = tid;
    if (sampler.by_timer)
        error = attach_timer(thread, s);
    else
        error = attach_perf(thread, s);
    if (error == ESRCH) { /* it ended meanwhile */
        free(s);
        return;
    }
    if (error != 0)
        say_note("a thread has no samples: %s", strerror(error));
    s->fills_ns = UINT64_MAX;
    s->began_ns = s->looks.last_ns = s->drained_ns = s->switching.since_ns = recorder_now_ns();
    thread->sampler = s;
    need_begin(&s->need, machine_is_runnable(tid), s->began_ns);
    struct gap_account account;
    if (gap_read_account(tid, s->began_ns, &account)) {
        wake_take_count(&s->wake, account.ready_ns, false);
        if (thread->index == 0 || !sampler.has_switches)
            gap_begin(&s->gap, &account, true);
    }
    machine_read_thread(tid, &s->kernel);
    if (sampler.has_switches && error == 0)
        perf_begin(thread, s->began_ns);
}

void sampler_begin(struct recorder_thread *first)
{
    if (sampler.on)
        attach(first, first->tid);
}

int sampler_descriptor(const struct recorder_thread *first)
{
    return first->sampler ? ring_descriptor(&first->sampler->samples) : -1;
}

static void detach(struct recorder_thread *thread)
{
    if (thread->sampler->timer)
        timer_detach(thread->sampler->timer);
    ring_close(&thread->sampler->samples);
    ring_close(&thread->sampler->switches);
    free(thread->sampler);
    thread->sampler = NULL;
}

/* What was sampled later than that stays for the next time, so that a look at this time is written in order. */
static void drain(struct recorder_thread *thread, uint64_t until_ns)
{
    struct timer_ring *timer = thread->sampler->timer;
    struct sample sample;
    if (sampler.has_switches) {
        sampler.n_samples += perf_drain(thread, &sampler.stop);
        return;
    }
    for (; timer && timer_peek(timer, &sample) && sample.time_ns <= until_ns; timer_pop(timer)) {
        sampler.n_samples++;
        accounts_take(thread, (struct gap_account){.time_ns = sample.time_ns,
                                                   .cpu_ns = sample.cpu_ns,
                                                   .ready_ns = sample.ready_ns,
                                                   .has_ready = sample.ready_ns > 0});
        writer_sample(thread, &sample);
    }
}

/* A time ready that began before counts as well, but no more than there was time. */
static uint64_t take_need_ns(struct sampler_thread *s, uint64_t now_ns)
{
    uint64_t from_ns = s->began_ns > sampler.need_from_ns ? s->began_ns : sampler.need_from_ns;
    uint64_t needed_ns = need_take_ns(&s->need, now_ns), most_ns = now_ns > from_ns ? now_ns - from_ns : 0;
    return needed_ns < most_ns ? needed_ns : most_ns;
}

/* A thread that has ended: what it left in the rings. Without a file of events nobody goes on with its files. */
static void end_thread(struct recorder_thread *thread)
{
    int32_t tid = thread->sampler->tid;
    if (recorder_now_ns() - thread->sampler->began_ns > SHORT_LIFE_NS)
        sampler.n_short_lives -= sampler.n_short_lives > 0;
    else
        sampler.n_short_lives += sampler.n_short_lives < MOST_SHORT_LIVES;
    drain(thread, UINT64_MAX);
    sampler.ended_need_ns += take_need_ns(thread->sampler, thread->sampler->need.since_ns);
    detach(thread);
    threads_close(thread, THREAD_RUNS, tid);
}

/* Opening the events of a thread takes 100 us: where most threads end before they are sampled once, only those are
 * worth it that are there at two looks. */
static bool is_worth_sampling(int32_t tid)
{
    int32_t *sighted = &sampler.sighted[tid % SIGHTED];
    if (sampler.n_short_lives < FEW_SHORT_LIVES || *sighted == tid)
        return true;
    *sighted = tid;
    sampler.has_sighted = true;
    return false;
}

static void follow(int32_t tid)
{
    struct recorder_thread *thread = tid == sampler.own_tid ? NULL : threads_find(tid, false);
    if (tid == sampler.own_tid ||
        (!(thread && thread->sampler && thread->sampler->tid == tid) && !is_worth_sampling(tid)))
        return;
    if (!thread)
        thread = threads_find(tid, true);
    if (thread && thread->sampler && thread->sampler->tid != tid)
        end_thread(thread);
    if (thread && !thread->sampler)
        attach(thread, tid);
    if (thread && thread->sampler)
        thread->sampler->seen = true;
}

/* The link count of the folder tells how many threads there are, far cheaper than reading it. As many as before may be
 * others. */
static bool threads_may_have_changed(void)
{
    struct stat st;
    uint64_t now_ns = recorder_now_ns();
    uint64_t n_links = stat("/proc/self/task", &st) == 0 ? st.st_nlink : 0;
    uint32_t n_begun = atomic_load_explicit(&recorder.n_threads_begun, memory_order_relaxed);
    if (n_links == sampler.n_task_links && n_begun == sampler.n_threads_begun && !sampler.has_sighted &&
        now_ns - sampler.looked_at_threads_ns < LOOK_AT_THREADS_NS)
        return false;
    sampler.n_threads_begun = n_begun;
    sampler.has_sighted = false;
    sampler.n_task_links = n_links;
    sampler.looked_at_threads_ns = now_ns;
    return true;
}

void sampler_follow_threads(void)
{
    if (!sampler.on || !threads_may_have_changed())
        return;
    sampler.own_tid = (int32_t)syscall(SYS_gettid);
    DIR *list = opendir("/proc/self/task");
    if (!list)
        return;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler)
            t->sampler->seen = false;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            follow((int32_t)strtol(entry->d_name, NULL, 10));
    closedir(list);
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler && !t->sampler->seen)
            end_thread(t);
}

/* A new event, which counts anew. */
static void reopen_samples(struct recorder_thread *thread)
{
    struct sampler_thread *s = thread->sampler;
    ring_close(&s->samples);
    s->cpu_ns = s->before_ns = s->changed_ns = s->n_of_period = 0;
    s->period_ns = vary_ns(s->nominal_ns);
    int error = open_samples(thread, s);
    if (error != 0 && error != ESRCH)
        say_note("a thread has no samples any more: %s", strerror(error));
}

static bool change_period(struct sampler_thread *s)
{
    uint64_t period_ns = vary_ns(s->nominal_ns), now_ns = recorder_now_ns();
    if (!ring_change_period(&s->samples, period_ns))
        return false;
    if (s->n_of_period)
        s->before_ns = s->period_ns;
    s->period_ns = period_ns;
    s->changed_ns = now_ns;
    s->n_of_period = 0;
    return true;
}

/* A rate that the user asked for is kept. */
static void adapt_period(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (!s->samples.page || recorder.options.rate_hz != RATE_CALIBRATED || !switching_changed(&s->switching, now_ns))
        return;
    struct timespec tick = {0, 0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    uint64_t rare_ns = SWITCHING_TICKS * (uint64_t)tick.tv_nsec + ODD_NS;
    bool is_rarer = s->switching.is_frequent && rare_ns > sampler.period_ns; /* never more often than others */
    uint64_t nominal_ns = is_rarer ? rare_ns : sampler.period_ns;
    if (nominal_ns == s->nominal_ns)
        return;
    s->is_rarer = is_rarer;
    s->nominal_ns = nominal_ns;
    if (!change_period(s))
        reopen_samples(thread);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec cpu = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

static bool look(struct recorder_thread *thread, uint64_t now_ns, uint64_t weight_ns)
{
    uint64_t before_ns = own_cpu_ns();
    bool is_asleep = writer_blocked(thread, now_ns, weight_ns);
    looks_take(&thread->sampler->looks, now_ns, own_cpu_ns() - before_ns);
    return is_asleep;
}

/* Asleep outside MPI: where? A look that finds the thread asleep stands for all that it slept since the last one, so
 * that many short sleeps are seen as well as a long one. */
static void look_if_asleep(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    if (s->state != OFF_ASLEEP || now_ns <= s->asleep_since_ns ||
        !look(thread, now_ns, s->asleep_ns + (now_ns - s->asleep_since_ns)))
        return;
    s->asleep_ns = 0;
    s->asleep_since_ns = now_ns;
}

/* Without switches: where is it asleep? A look that finds the thread so stands for all the time since the last one, or
 * since the thread left MPI. For how long it was off the CPU, the kernel's counts tell. */
static void look_without_switches(struct recorder_thread *thread, uint64_t now_ns)
{
    struct sampler_thread *s = thread->sampler;
    uint64_t left_ns = visits_last_leave_ns(thread, now_ns);
    uint64_t weight_ns = now_ns - (left_ns > s->looks.last_ns ? left_ns : s->looks.last_ns);
    bool is_unwanted = visits_is_unwanted(thread, now_ns);
    s->state = !is_unwanted && look(thread, now_ns, weight_ns) ? OFF_ASLEEP : ON_CPU;
    s->looks.last_ns = now_ns;
    accounts_follow(thread, now_ns);
}

/* Another thread waits for one of its process, and this one may be it: it sleeps for something outside of that. A
 * thread of the program is of interest from then on. */
static void look_at_sleeper(struct recorder_thread *thread, uint64_t now_ns)
{
    struct asleep at;
    uint64_t before_ns = own_cpu_ns();
    bool sleeps = workers_has(thread->tid) && asleep_find(thread->tid, &at) == THREAD_SLEEPS &&
                  !(asleep_flags(thread, &at, false) & WW_S_SYNC);
    looks_take(&thread->sampler->looks, now_ns, own_cpu_ns() - before_ns);
    if (sleeps && threads_open_samples(thread) && sampler.has_switches)
        perf_begin(thread, now_ns);
}

void sampler_drain(void)
{
    if (!sampler.on)
        return;
    uint64_t now_ns = recorder_now_ns();
    unsigned n_threads = 0;
    bool one_waits = false;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        n_threads += t->sampler && sampled_is_of_interest(t);
        one_waits |= t->sampler && t->sampler->state == OFF_ASLEEP && t->sampler->awaits_thread;
    }
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        if (!t->sampler)
            continue;
        drain(t, now_ns);
        if (t->sampler->tid != t->tid)
            continue;
        adapt_period(t, now_ns);
        /* Twice at most in the life of a thread, also where memory is short. */
        struct sampler_thread *s = t->sampler;
        if (s->n_of_period >= FEWEST_OF_PERIOD)
            change_period(s);
        if (s->samples.page && s->wanted_bytes > s->window_bytes && s->n_widened < 2) {
            s->n_widened++;
            s->window_bytes = s->wanted_bytes <= FIRST_WINDOW_BYTES ? FIRST_WINDOW_BYTES : PERF_WIDEST;
            reopen_samples(t);
        }
        bool is_of_interest = sampled_is_of_interest(t);
        if (!(is_of_interest || one_waits) || !looks_is_time(&s->looks, now_ns, n_threads))
            continue;
        if (!is_of_interest)
            look_at_sleeper(t, now_ns);
        else if (!sampler.has_switches)
            look_without_switches(t, now_ns);
        else
            look_if_asleep(t, now_ns);
    }
}

unsigned sampler_at_once(uint64_t now_ns)
{
    uint64_t watched_ns = now_ns - sampler.need_from_ns, needed_ns = sampler.ended_need_ns;
    if (!sampler.on || !sampler.has_switches || watched_ns < AT_ONCE_NS)
        return 0;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        needed_ns += t->sampler ? take_need_ns(t->sampler, now_ns) : 0;
    bool is_first = sampler.need_from_ns == 0; /* what MPI's own threads need to start is not counted */
    sampler.need_from_ns = now_ns;
    sampler.ended_need_ns = 0;
    return is_first ? 0 : (unsigned)((needed_ns + watched_ns / 2) / watched_ns);
}

void sampler_stop(void)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->sampler) {
            drain(t, UINT64_MAX);
            if (!sampler.has_switches)
                accounts_follow(t, recorder_now_ns());
            detach(t);
        }
    sampler.on = false;
}

void sampler_slept(uint64_t began_ns, uint64_t due_ns, uint64_t ready_ns)
{
    uint64_t now_ns = recorder_now_ns(), ready_by_now_ns = now_ns > due_ns ? machine_ready_ns() : 0;
    if (ready_by_now_ns == 0) /* in time, or not counted */
        return;
    if (!sampler.on || !sampler.has_switches) /* no switches to which it could be applied */
        return;
    struct stop stop = stop_between(began_ns, due_ns, now_ns, ready_by_now_ns - ready_ns);
    if (stop.until_ns > 0)
        sampler.stop = stop;
}

uint64_t sampler_patience_ns(void)
{
    if (!sampler.on)
        return PATIENCE_NS;
    uint64_t room_ns = sampler.room_ns ? sampler.room_ns / 2 : UINT64_MAX;
    uint64_t patience_ns = PATIENCE_NS;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        const struct sampler_thread *s = t->sampler;
        if (!s)
            continue;
        bool sleeps = s->asleep_ns > 0 || s->state == OFF_ASLEEP;
        uint64_t look_ns = s->looks.n < LOOKS_FIRST ? SHORTEST_PATIENCE_NS : PATIENCE_ASLEEP_NS;
        patience_ns = sleeps && look_ns < patience_ns ? look_ns : patience_ns;
        uint64_t fills_ns = s->fills_ns / 2 > SHORTEST_PATIENCE_NS ? s->fills_ns / 2 : SHORTEST_PATIENCE_NS;
        if (fills_ns < room_ns)
            room_ns = fills_ns;
    }
    patience_ns = vary_ns(patience_ns);
    return room_ns < patience_ns ? room_ns : patience_ns;
}

uint64_t sampler_overhead_ns(void)
{
    return sampler.n_samples * sampler.sample_cost_ns + perf_switches_ns();
}

uint64_t sampler_delay_ns(void)
{
    return perf_switches_in_calls_ns();
}
