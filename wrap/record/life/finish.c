/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Finalize: every rank closes and converts what it wrote, the counts are added up, and rank 0 joins the parts.
 *
 * MPI's own finalisation takes some 50 ms, nearly all of it asleep. The join needs no MPI and about as long. It
 * therefore runs meanwhile, started by a thread of its own, and MPI_Finalize returns when both are done.
 */
#include "wrap/record/life/finish.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/life/helper.h"
#include "wrap/record/life/life.h"
#include "wrap/record/life/windows.h"
#include "wrap/record/modules.h"
#include "wrap/record/pmpi/world.h"
#include "wrap/record/process/aside.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/say.h"
#include "wrap/record/process/signals.h"
#include "wrap/record/process/tool.h"
#include "wrap/record/recorder.h"
#include "wrap/record/sample/sampler.h"
#include "wrap/record/spool/rundir.h"
#include "wrap/record/threads.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum sum {
    SUM_CALLS,
    SUM_POLLS,
    SUM_DROPPED,
    SUM_NESTED,
    SUM_OFF,
    SUM_DURATION,
    SUM_READY, /* of it, without a CPU though ready to run */
    SUM_OVERHEAD,
    SUM_UNCONVERTED,
    SUM_REMOVED, /* ranks whose files were removed while they were written */
    SUM_ENDLESS, /* ranks whose converter was killed */
    N_SUMS
};
static uint64_t sums[N_SUMS];
static uint64_t n_own_calls;
static uint64_t archive_ns; /* for which MPI_Finalize was held up on this rank */
enum { SHORT_RUN_NS = 100000000 };
static const double MUCH = 0.05; /* more than the scatter of most runs */

/* A call reads the clock twice, and does as much again. The quickest of several tries, as others may take the CPU. */
static uint64_t cost_of_call_ns(void)
{
    enum { N_TRIES = 10, N_READINGS = 100, REST_NS = 25 };
    uint64_t least_ns = UINT64_MAX;
    for (unsigned try = 0; try < N_TRIES; try++) {
        uint64_t from_ns = recorder_now_ns();
        for (unsigned i = 0; i < N_READINGS; i++)
            recorder_now_ns();
        uint64_t took_ns = recorder_now_ns() - from_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return 2 * least_ns / N_READINGS + REST_NS;
}

/* Of a process without files too. It may be one that could not be recorded. */
static void count_up(uint64_t helper_cpu_ns)
{
    uint64_t call_ns = cost_of_call_ns();
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        sums[SUM_CALLS] += t->n_calls + t->n_polls;
        sums[SUM_POLLS] += t->n_polls;
        sums[SUM_OVERHEAD] += t->n_calls * call_ns + t->n_polls_at_work * call_ns / 2;
        if (spool_is_open(&t->events))
            sums[SUM_DROPPED] += t->events.header->n_dropped;
        if (spool_is_open(&t->samples))
            sums[SUM_DROPPED] += t->samples.header->n_dropped;
    }
    sums[SUM_CALLS] += recorder.past_calls + recorder.past_polls;
    sums[SUM_POLLS] += recorder.past_polls;
    sums[SUM_DROPPED] += recorder.past_dropped + recorder.n_unrecorded;
    sums[SUM_NESTED] = recorder.n_nested;
    sums[SUM_OVERHEAD] += recorder.past_calls * call_ns + recorder.past_polls_at_work * call_ns / 2;
    sums[SUM_OVERHEAD] +=
        helper_cpu_ns + sampler_overhead_ns() + sampler_delay_ns() + recorder.threads_ns + recorder.counts_ns;
    sums[SUM_OFF] = recorder.has_given_up;
    sums[SUM_DURATION] = recorder.end_ns - recorder.start_ns;
    uint64_t ready_ns = machine_ready_ns() - recorder.start_ready_ns;
    sums[SUM_READY] = ready_ns < sums[SUM_DURATION] ? ready_ns : 0; /* more: another thread than at the start */
}

static void close_spools(void *unused)
{
    (void)unused;
    uint64_t helper_cpu_ns = helper_stop();
    if (recorder_self && spool_is_open(&recorder_self->events)) {
        modules_scan(&recorder_self->events);
        notes_write(&recorder_self->events);
    }
    sums[SUM_REMOVED] =
        recorder_self && spool_is_open(&recorder_self->events) && spool_is_removed(&recorder_self->events);
    atomic_store(&recorder.recording, false);
    count_up(helper_cpu_ns);
    enum ww_end how = recorder.has_given_up ? WW_END_GAVE_UP : WW_END_FINALIZE;
    threads_close_events(how, 0, recorder.end_ns);
    threads_close_samples(how, 0, recorder.end_ns);
    char spool[SPOOL_PATH_BYTES + 8];
    snprintf(spool, sizeof spool, "%s/spool", recorder.run_dir);
    if (recorder.spool_is_on_node && !rundir_collect(recorder.spool_dir, spool))
        say("rank %d: the spool stays in %s: %s", recorder.rank, recorder.spool_dir, strerror(errno));
}

/* Conversion takes a small part of the time that the run took, and so does joining, but for its fixed cost. A tool that
 * takes longer is not worth more of the program's time: the report does it again. */
static unsigned patience_s(void)
{
    enum { LEAST_S = 30, RANKS_A_SECOND = 10 };
    uint64_t ran_s = (recorder.end_ns - recorder.start_ns) / 1000000000;
    uint64_t least_s = LEAST_S + (uint64_t)recorder.n_ranks / RANKS_A_SECOND;
    return (unsigned)(ran_s > least_s ? ran_s : least_s);
}

static void run_tool(const char *command, const char *argument)
{
    int rc = tool_run(recorder.run_dir, command, argument, patience_s());
    sums[SUM_UNCONVERTED] |= rc != 0;
    sums[SUM_ENDLESS] |= rc == TOOL_ENDLESS;
}

/* Each rank converts what it wrote; rank 0 then joins the parts. The archives of very many threads take so long that
 * the program would be held up. They are left to the report. */
static void convert(void *unused)
{
    (void)unused;
    enum { MOST_THREADS = 1000 };
    char rank[16];
    int32_t n_threads = atomic_load(&recorder.n_files);
    snprintf(rank, sizeof rank, "%d", recorder.rank);
    if (n_threads > MOST_THREADS)
        sums[SUM_UNCONVERTED] = 1;
    else if (n_threads > 0)
        run_tool("convert", rank);
}

/* 81204 -> "81,204" */
static const char *grouped(uint64_t value, char text[32])
{
    char plain[24];
    int n = snprintf(plain, sizeof plain, "%llu", (unsigned long long)value), out = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = plain[i];
    }
    text[out] = '\0';
    return text;
}

/* Threads that work while MPI ends. */
struct beside {
    pthread_t thread;
    bool is_running;
};
static struct beside joiner;

static void beside_start(struct beside *beside, void *(*work)(void *))
{
    sigset_t before;
    signals_block(&before);
    workers_pause();
    beside->is_running = pthread_create(&beside->thread, NULL, work, NULL) == 0;
    workers_resume();
    signals_restore(&before);
}

static void beside_wait(struct beside *beside)
{
    if (beside->is_running)
        pthread_join(beside->thread, NULL);
    beside->is_running = false;
}

/* A user who sees that the program has written its last line and does not end learns what it still does. */
static struct {
    struct beside beside;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool has_ended;
} teller = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *tell_if_it_takes_long(void *unused)
{
    enum { PATIENCE_S = 2 };
    struct timespec until;
    char calls[32];
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&teller.lock);
    int rc = 0;
    while (!teller.has_ended && rc == 0)
        rc = pthread_cond_timedwait(&teller.wake, &teller.lock, &until);
    if (!teller.has_ended)
        say("the program is done; what %d rank%s recorded (%s calls on rank 0) is made into an archive. "
            "`whywait record --no-convert` leaves that to the report",
            recorder.n_ranks, recorder.n_ranks == 1 ? "" : "s", grouped(n_own_calls, calls));
    pthread_mutex_unlock(&teller.lock);
    return NULL;
}

static void archive_is_done(void)
{
    pthread_mutex_lock(&teller.lock);
    teller.has_ended = true;
    pthread_cond_signal(&teller.wake);
    pthread_mutex_unlock(&teller.lock);
}

static void *join(void *unused)
{
    (void)unused;
    run_tool("join", NULL);
    /* The converter's standard error, when it had nothing to say. */
    char path[SPOOL_PATH_BYTES + 16];
    struct stat st;
    snprintf(path, sizeof path, "%s/convert.log", recorder.run_dir);
    if (recorder.run_dir[0] && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(path);
    archive_is_done();
    return NULL;
}

void finish_before_finalize(void)
{
    int saved = errno;
    if (!recorder.started || recorder.finished || recorder.pid != getpid())
        return;
    recorder.finished = true;
    windows_end();
    life_compare_clocks();
    recorder.end_ns = recorder_now_ns();
    if (recorder.n_files > 0)
        aside_run(close_spools, NULL);
    else
        count_up(0);
    n_own_calls = sums[SUM_CALLS];
    bool converts = recorder.run_dir[0] && recorder.options.convert;
    /* All ranks have come this far: their clocks have been compared. */
    if (converts && recorder.rank == 0 && !recorder.options.quiet)
        beside_start(&teller.beside, tell_if_it_takes_long);
    if (converts)
        aside_run(convert, NULL);
    world_sum(sums, N_SUMS);
    world_close();
    /* The archive's last step, which rank 0 does. Without a thread it is done at once. */
    if (recorder.rank == 0 && converts && !sums[SUM_UNCONVERTED]) {
        beside_start(&joiner, join);
        if (!joiner.is_running)
            join(NULL);
    } else
        archive_is_done();
    archive_ns = recorder_now_ns() - recorder.end_ns;
    errno = saved;
}

/* The user's facts about the run directory. */
static const char *describe_place(void)
{
    struct stat here;
    bool is_seen = stat(recorder.run_dir, &here) == 0, is_gone = !is_seen && (errno == ENOENT || errno == ENOTDIR);
    bool is_other = is_seen && (here.st_dev != recorder.run_device || here.st_ino != recorder.run_number);
    if (sums[SUM_REMOVED])
        return is_gone ? " (which was removed while the program ran: nothing is left)"
                       : " (in which files were removed while the program ran)";
    if (is_gone || is_other)
        return " (which has another name now, or is not seen from the program's root directory)";
    bool has_records = sums[SUM_OFF] < (uint64_t)recorder.n_ranks;
    if (!has_records || !recorder.options.convert || !sums[SUM_UNCONVERTED])
        return "";
    return sums[SUM_ENDLESS] ? " (making the archive took too long and was stopped: `whywait report` will convert it)"
                             : " (`whywait report` will convert it)";
}

static void describe_kept(char *text, size_t size_bytes)
{
    uint32_t n_windows = windows_n();
    uint64_t ran_ns = recorder.end_ns - recorder.start_ns;
    if (n_windows == 1 && !atomic_load(&recorder.is_silent) && ran_ns > recorder.options.windows.every_ns)
        snprintf(text, size_bytes, "all recorded: no collective call of all processes for a window to end at");
    else if (n_windows)
        snprintf(text, size_bytes, "recorded in %" PRIu32 " window%s", n_windows, n_windows == 1 ? "" : "s");
    else
        snprintf(text, size_bytes, recorder.options.last_bytes ? "the newest kept" : "nothing lost");
}

/* Where CPUs are short the program has to wait for those that the recorder takes, by as much as for its own. Starting
 * alone takes some milliseconds, which is no share of a run that does nothing. The archive is made behind the times
 * that are recorded: it lengthens the run, but nothing in the report. */
static void describe_overhead(char *text, size_t size_bytes)
{
    enum { TOLD_NS = 50000000 }; /* less is nothing at one digit */
    uint64_t n_ranks = (uint64_t)recorder.n_ranks, each_ns = sums[SUM_OVERHEAD] / n_ranks;
    double share = (double)sums[SUM_OVERHEAD] / (double)(sums[SUM_DURATION] - sums[SUM_READY] + 1);
    int n;
    if (sums[SUM_DURATION] < SHORT_RUN_NS * n_ranks)
        n = snprintf(text, size_bytes, "%" PRIu64 " ms", each_ns / 1000000 + 1);
    else
        n = snprintf(text, size_bytes, "%.1f %%%s", 100 * share,
                     share > MUCH ? " (much: times in the report are too long by that)" : "");
    if (archive_ns >= TOLD_NS)
        snprintf(text + n, size_bytes - (size_t)n, " and %.1f s at the end", (double)archive_ns / 1e9);
}

void finish_after_finalize(void)
{
    int saved = errno;
    uint64_t from_ns = recorder_now_ns();
    beside_wait(&joiner);
    archive_ns += recorder_now_ns() - from_ns;
    beside_wait(&teller.beside);
    if (recorder.started && recorder.rank == 0 && recorder.run_dir[0] && !recorder.options.quiet) {
        char calls[32], loss[80], overhead[128], number[32];
        if (sums[SUM_OFF])
            snprintf(loss, sizeof loss, "NOT RECORDED on %llu rank%s", (unsigned long long)sums[SUM_OFF],
                     sums[SUM_OFF] == 1 ? "" : "s");
        else if (sums[SUM_REMOVED])
            snprintf(loss, sizeof loss, "RECORDS REMOVED on %llu rank%s", (unsigned long long)sums[SUM_REMOVED],
                     sums[SUM_REMOVED] == 1 ? "" : "s");
        else if (sums[SUM_DROPPED])
            snprintf(loss, sizeof loss, "%s RECORDS LOST for want of room", grouped(sums[SUM_DROPPED], number));
        else if (sums[SUM_NESTED])
            snprintf(loss, sizeof loss, "%s CALLS LOST, made within other ones (callbacks)",
                     grouped(sums[SUM_NESTED], number));
        else
            describe_kept(loss, sizeof loss);
        describe_overhead(overhead, sizeof overhead);
        say("%d rank%s, %.1f s, %s MPI calls, %s, overhead about %s -> %s%s", recorder.n_ranks,
            recorder.n_ranks == 1 ? "" : "s", (double)(recorder.end_ns - recorder.start_ns) / 1e9,
            grouped(sums[SUM_CALLS], calls), loss, overhead, recorder.run_dir, describe_place());
    }
    recorder.started = false;
    errno = saved;
}
