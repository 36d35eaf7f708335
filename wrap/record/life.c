/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From MPI_Init to the end of the process. Until record_start nothing of the recorder exists but its code.
 *
 * Whatever fails on one rank, all ranks take part in the same collective calls on the private communicator: `started`
 * says that it exists, `recording` whether this rank still writes.
 */
#include "wrap/record/counters_sync.h"
#include "wrap/record/away.h"
#include "wrap/record/helper.h"
#include "wrap/record/recorder.h"
#include "wrap/record/rundir.h"
#include "wrap/record/sampler.h"
#include "wrap/record/say.h"
#include "wrap/record/tool.h"
#include "wrap/record/world.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool record_is_on(void)
{
    return atomic_load_explicit(&recorder.recording, memory_order_relaxed);
}

void record_give_up(const char *why, ...)
{
    int saved = errno;
    char text[SPOOL_PATH_BYTES + 400];
    va_list arguments;
    bool before = atomic_exchange(&recorder.has_given_up, true);
    atomic_store(&recorder.recording, false);
    if (!before) {
        va_start(arguments, why);
        vsnprintf(text, sizeof text, why, arguments);
        va_end(arguments);
        say("recording is off on rank %d: %s", recorder.rank, text);
    }
    errno = saved;
}

/* Sizes take k, m or g. 0 when it is no number. */
static uint64_t number_option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    uint64_t value = strtoull(text, &end, 10);
    if (*end == 'k' || *end == 'K')
        value <<= 10;
    else if (*end == 'm' || *end == 'M')
        value <<= 20;
    else if (*end == 'g' || *end == 'G')
        value <<= 30;
    if (end == text)
        say("%s=%s is no number: ignored", name, text);
    return end == text ? otherwise : value;
}

static void read_options(struct recorder_options *options)
{
    const char *dir = getenv("WHYWAIT_DIR");
    snprintf(options->dir, sizeof options->dir, "%s", dir ? dir : "");
    const char *spool = getenv("WHYWAIT_SPOOL");
    snprintf(options->spool, sizeof options->spool, "%s", spool ? spool : "");
    options->limit_bytes = number_option("WHYWAIT_LIMIT", INT64_MAX);
    options->rate_hz = (unsigned)number_option("WHYWAIT_RATE", 0);
    const char *sampler = getenv("WHYWAIT_SAMPLER");
    snprintf(options->sampler, sizeof options->sampler, "%s", sampler ? sampler : "");
    const char *only = getenv("WHYWAIT_ONLY");
    if (only && strlen(only) >= sizeof options->only)
        say("WHYWAIT_ONLY is longer than %zu characters: cut", sizeof options->only - 1);
    snprintf(options->only, sizeof options->only, "%s", only ? only : "");
    options->space = number_option("WHYWAIT_SPACE", 0) != 0;
    options->convert = number_option("WHYWAIT_CONVERT", 1) != 0;
    options->quiet = number_option("WHYWAIT_QUIET", 0) != 0;
    recorder.budget.left_bytes = options->limit_bytes < INT64_MAX ? (int64_t)options->limit_bytes : INT64_MAX;
}

static void read_command(char *text, size_t size_bytes)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size_bytes - 1);
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    text[n] = '\0';
    for (ssize_t i = 0; i + 1 < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
}

static void describe_process(struct ww_header *header)
{
    struct timespec real;
    ssize_t n = readlink("/proc/self/exe", header->program, sizeof header->program - 1);
    header->program[n > 0 ? n : 0] = '\0';
    read_command(header->command, sizeof header->command);
    if (gethostname(header->host, sizeof header->host - 1) != 0)
        strcpy(header->host, "unknown");
    world_library(header->mpi, sizeof header->mpi);
    memcpy(header->magic, WW_MAGIC, sizeof header->magic);
    header->version = WW_FORMAT_VERSION;
    header->header_bytes = WW_HEADER_BYTES;
    header->pid = recorder.pid = getpid();
    header->rank = recorder.rank;
    header->n_ranks = recorder.n_ranks;
    memcpy(header->only, recorder.options.only, sizeof header->only);
    clock_gettime(CLOCK_REALTIME, &real);
    header->start_ns = recorder.start_ns = recorder_now_ns();
    header->realtime_ns = recorder.realtime_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
}

/* Rank 0 makes the run directory; its name, or nothing, goes to all. */
static bool agree_on_directory(void)
{
    if (recorder.rank == 0 && !rundir_create(recorder.options.dir, recorder.header.program, recorder.n_ranks,
                                             recorder.run_dir, sizeof recorder.run_dir)) {
        record_give_up("cannot make a run directory in %s: %s (set WHYWAIT_DIR to a place that can be written)",
                       *recorder.options.dir ? recorder.options.dir : "the working directory", strerror(errno));
        recorder.run_dir[0] = '\0';
    }
    if (!world_broadcast(recorder.run_dir, sizeof recorder.run_dir) || !recorder.run_dir[0])
        return false;
    if (rundir_ensure(recorder.run_dir))
        return true;
    record_give_up("cannot use %s: %s", recorder.run_dir, strerror(errno));
    return false;
}

static void choose_spool(void)
{
    recorder.is_away =
        away_choose(recorder.run_dir, recorder.options.spool, recorder.spool_dir, sizeof recorder.spool_dir);
    if (recorder.is_away)
        return;
    if (errno != 0)
        say("the spool cannot be in %s: %s; it is in the run directory", recorder.options.spool, strerror(errno));
    snprintf(recorder.spool_dir, sizeof recorder.spool_dir, "%.*s/spool", (int)(sizeof recorder.spool_dir - 8),
             recorder.run_dir);
}

static void bring_spool_home(void)
{
    char home[SPOOL_PATH_BYTES + 8];
    snprintf(home, sizeof home, "%s/spool", recorder.run_dir);
    if (recorder.is_away && !away_bring_home(recorder.spool_dir, home))
        say("rank %d: the spool stays in %s: %s", recorder.rank, recorder.spool_dir, strerror(errno));
}

static int find_own_code(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t low = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (uint64_t)(uintptr_t)&find_own_code - low < p->p_memsz) {
            recorder.library_low = low;
            recorder.library_high = low + p->p_memsz;
            return 1;
        }
    }
    return 0;
}

static void before_fork(void)
{
    unwind_before_fork();
}

static void after_fork_in_parent(void)
{
    unwind_after_fork();
}

/* The files are the parent's: a child that is no MPI process of its own writes nothing. */
static void after_fork_in_child(void)
{
    unwind_after_fork();
    atomic_store(&recorder.recording, false);
    recorder.started = false;
    recorder_self = NULL;
}

/* Normal ends of the process, with or without MPI_Finalize. */
static void process_exits(int status, void *unused)
{
    (void)unused;
    if (recorder.pid != getpid() || recorder.finished || !atomic_load(&recorder.recording))
        return;
    threads_mark_end(WW_END_EXIT, status, recorder_now_ns());
}

static bool begin_recording(void)
{
    if (recorder_now_ns() == 0) {
        record_give_up("there is no monotonic clock");
        return false;
    }
    if (!unwind_init()) {
        record_give_up("no memory");
        return false;
    }
    stacks_learn_process();
    choose_spool();
    dl_iterate_phdr(find_own_code, NULL);
    atomic_store(&recorder.recording, true);
    struct recorder_thread *first = threads_enter();
    if (!first || !spool_is_open(&first->events)) {
        record_give_up("cannot write in %s: %s", recorder.spool_dir, strerror(recorder.open_error));
        return false;
    }
    modules_scan(&first->events);
    record_at_sync = counters_sync;
    if (!helper_start())
        record_note("no helper thread: %s; no samples were taken", strerror(errno));
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    on_exit(process_exits, NULL);
    return true;
}

/* Collective, on every rank that started. */
static void compare_clocks(void)
{
    struct world_clock own;
    if (!world_compare_clocks(recorder.n_ranks, &own) || !record_is_on())
        return;
    struct ww_clock *record = record_append(1);
    if (!record)
        return;
    record->error_ns = own.error_ns;
    record->local_ns = own.local_ns;
    record->reference_ns = own.reference_ns;
    record_commit(record, WW_CLOCK, 1);
}

void record_start(void)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    int saved = errno;
    if (atomic_flag_test_and_set(&once) || getauxval(AT_SECURE) || !world_is_up())
        return;
    recorder.started = world_open(&recorder.rank, &recorder.n_ranks);
    if (recorder.started) {
        read_options(&recorder.options);
        describe_process(&recorder.header);
        if (agree_on_directory())
            begin_recording();
        compare_clocks();
    } else
        record_give_up("MPI refused a communicator");
    errno = saved;
}

enum sum { SUM_CALLS, SUM_POLLS, SUM_DROPPED, SUM_OFF, SUM_DURATION, SUM_OVERHEAD, SUM_UNCONVERTED, N_SUMS };
static uint64_t sums[N_SUMS];

static void count_up(uint64_t helper_cpu_ns)
{
    uint64_t t0 = recorder_now_ns();
    for (unsigned i = 0; i < 1000; i++)
        recorder_now_ns();
    uint64_t call_ns = 2 * (recorder_now_ns() - t0) / 1000 + 25;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        sums[SUM_CALLS] += t->n_calls + t->n_polls;
        sums[SUM_POLLS] += t->n_polls;
        sums[SUM_OVERHEAD] += t->n_calls * call_ns + t->n_polls * call_ns / 2;
        if (spool_is_open(&t->events))
            sums[SUM_DROPPED] += t->events.header->n_dropped;
        if (spool_is_open(&t->samples))
            sums[SUM_DROPPED] += t->samples.header->n_dropped;
    }
    sums[SUM_CALLS] += recorder.past_calls + recorder.past_polls;
    sums[SUM_POLLS] += recorder.past_polls;
    sums[SUM_DROPPED] += recorder.past_dropped;
    sums[SUM_OVERHEAD] += recorder.past_calls * call_ns + recorder.past_polls * call_ns / 2;
    sums[SUM_OVERHEAD] += helper_cpu_ns + sampler_overhead_ns();
    sums[SUM_OFF] = recorder.has_given_up;
    sums[SUM_DURATION] = recorder.end_ns - recorder.start_ns;
}

static void close_spools(void)
{
    recorder.end_ns = recorder_now_ns();
    uint64_t helper_cpu_ns = helper_stop();
    if (recorder_self && spool_is_open(&recorder_self->events)) {
        modules_scan(&recorder_self->events);
        say_write_notes(&recorder_self->events);
    }
    atomic_store(&recorder.recording, false);
    count_up(helper_cpu_ns);
    enum ww_end how = recorder.has_given_up ? WW_END_GAVE_UP : WW_END_FINALIZE;
    threads_close_events(how, 0, recorder.end_ns);
    threads_close_samples(how, 0, recorder.end_ns);
    bring_spool_home();
}

/* Each rank converts what it wrote; rank 0 then joins the parts. */
static void convert(void)
{
    char rank[16];
    snprintf(rank, sizeof rank, "%d", recorder.rank);
    if (recorder.options.convert && recorder.run_dir[0] && atomic_load(&recorder.n_files) > 0 &&
        tool_run(recorder.run_dir, "convert", rank) != 0)
        sums[SUM_UNCONVERTED] = 1;
}

/* The converter's standard error, when it had nothing to say. */
static void remove_empty_log(void)
{
    char path[SPOOL_PATH_BYTES + 16];
    struct stat st;
    snprintf(path, sizeof path, "%s/convert.log", recorder.run_dir);
    if (recorder.run_dir[0] && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(path);
}

void record_before_finalize(void)
{
    int saved = errno;
    if (!recorder.started || recorder.finished || recorder.pid != getpid())
        return;
    recorder.finished = true;
    bool has_files = recorder.n_files > 0;
    compare_clocks();
    if (has_files)
        close_spools();
    if (recorder.run_dir[0])
        convert();
    world_sum(sums, N_SUMS);
    if (recorder.rank == 0 && recorder.run_dir[0] && recorder.options.convert && sums[SUM_UNCONVERTED] == 0 &&
        tool_run(recorder.run_dir, "join", NULL) != 0)
        sums[SUM_UNCONVERTED] = 1;
    world_close();
    if (recorder.rank == 0)
        remove_empty_log();
    errno = saved;
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

static void describe_loss(char *text, size_t size_bytes)
{
    char number[32];
    if (sums[SUM_OFF])
        snprintf(text, size_bytes, "NOT RECORDED on %llu ranks", (unsigned long long)sums[SUM_OFF]);
    else if (sums[SUM_DROPPED])
        snprintf(text, size_bytes, "%s RECORDS LOST for want of room", grouped(sums[SUM_DROPPED], number));
    else
        snprintf(text, size_bytes, "nothing lost");
}

void record_after_finalize(void)
{
    char calls[32], loss[80];
    if (!recorder.started || recorder.rank != 0 || !recorder.run_dir[0] || recorder.options.quiet)
        return;
    recorder.started = false;
    describe_loss(loss, sizeof loss);
    double wall_ns = sums[SUM_DURATION] ? (double)sums[SUM_DURATION] : 1;
    say("%d rank%s, %.1f s, %s MPI calls, %s, overhead about %.1f %% -> %s%s", recorder.n_ranks,
        recorder.n_ranks == 1 ? "" : "s", (double)(recorder.end_ns - recorder.start_ns) / 1e9,
        grouped(sums[SUM_CALLS], calls), loss, 100 * (double)sums[SUM_OVERHEAD] / wall_ns, recorder.run_dir,
        recorder.options.convert && sums[SUM_UNCONVERTED] ? " (`whywait report` will convert it)" : "");
}

void record_abort(int mpi_error)
{
    if (recorder.pid == getpid() && atomic_load(&recorder.recording))
        threads_mark_end(WW_END_ABORT, mpi_error, recorder_now_ns());
}

void record_pcontrol(int level)
{
    struct ww_control *record = record_append(1);
    if (!record)
        return;
    record->level = (uint32_t)level;
    record->time_ns = recorder_now_ns();
    record_commit(record, WW_CONTROL, 1);
}
