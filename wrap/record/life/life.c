/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From MPI_Init to the end of the process. Until life_start nothing of the recorder exists but its code.
 *
 * Whatever fails on one rank, all ranks take part in the same collective calls on the private communicator: `started`
 * says that it exists, `recording` whether this rank still writes.
 */
#include "wrap/record/life/life.h"
#include "wrap/record/count/counters_sync.h"
#include "wrap/record/life/helper.h"
#include "wrap/record/life/windows.h"
#include "wrap/record/modules.h"
#include "wrap/record/pmpi/world.h"
#include "wrap/record/process/aside.h"
#include "wrap/record/process/image.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/say.h"
#include "wrap/record/record.h"
#include "wrap/record/recorder.h"
#include "wrap/record/sample/sampler.h"
#include "wrap/record/spool/rundir.h"
#include "wrap/record/threads.h"
#include "wrap/script.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void describe_process(struct ww_header *header)
{
    struct timespec real;
    ssize_t n = readlink("/proc/self/exe", header->program, sizeof header->program - 1);
    header->program[n > 0 ? n : 0] = '\0';
    size_t n_command = machine_read_text("/proc/self/cmdline", header->command, sizeof header->command);
    for (size_t i = 0; i + 1 < n_command; i++)
        if (header->command[i] == '\0')
            header->command[i] = ' ';
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
    machine_begin(&header->machine);
    clock_gettime(CLOCK_REALTIME, &real);
    header->start_ns = recorder.start_ns = recorder_now_ns();
    recorder.start_ready_ns = machine_ready_ns();
    header->init_ns = recorder.init_ns;
    header->realtime_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
}

/* By the script that an interpreter runs, or by the program. */
static bool make_directory(void)
{
    const struct ww_header *header = &recorder.header;
    char name[sizeof header->command];
    struct script_word script = script_of_command(header->program, header->command);
    snprintf(name, sizeof name, "%.*s", script.n ? (int)script.n : (int)sizeof header->program,
             script.n ? script.at : header->program);
    return rundir_create(recorder.options.dir, name, recorder.n_ranks, recorder.run_dir, sizeof recorder.run_dir);
}

/* Rank 0 makes the run directory. Its name, or nothing, goes to all, and a number of the run. */
static bool agree_on_directory(void)
{
    uint64_t *run = &recorder.header.run;
    if (recorder.rank == 0 && getrandom(run, sizeof *run, GRND_NONBLOCK) != sizeof *run)
        *run = 0;
    if (recorder.rank == 0 && !make_directory()) {
        recorder_give_up("cannot make a run directory in %s: %s (set WHYWAIT_DIR to a place that can be written)",
                         *recorder.options.dir ? recorder.options.dir : "the working directory", strerror(errno));
        recorder.run_dir[0] = '\0';
    }
    if (!world_broadcast(recorder.run_dir, sizeof recorder.run_dir) || !world_broadcast(run, sizeof *run) ||
        !recorder.run_dir[0])
        return false;
    struct stat status;
    if (rundir_ensure(recorder.run_dir) && stat(recorder.run_dir, &status) == 0) {
        recorder.run_device = status.st_dev;
        recorder.run_number = status.st_ino;
        return true;
    }
    recorder_give_up("cannot use %s: %s", recorder.run_dir, strerror(errno));
    return false;
}

static void choose_spool(void)
{
    recorder.spool_is_on_node = rundir_choose_node_disk(recorder.run_dir, recorder.options.spool, recorder.spool_dir,
                                                        sizeof recorder.spool_dir);
    if (recorder.spool_is_on_node)
        return;
    if (errno != 0 && say_is_first_on_node())
        say("the spool cannot be in %s: %s; it is in the run directory", recorder.options.spool, strerror(errno));
    snprintf(recorder.spool_dir, sizeof recorder.spool_dir, "%.*s/spool", (int)(sizeof recorder.spool_dir - 8),
             recorder.run_dir);
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

/* The files are the parent's: a child that is no MPI process of its own writes nothing. */
static void after_fork_in_child(void)
{
    unwind_after_fork();
    atomic_store(&recorder.recording, false);
    recorder.started = false;
    recorder_self = NULL;
}

/* No closing line will come: one rank says where the records are. */
static bool tells_end(void)
{
    return !recorder.options.quiet && rundir_is_first_end(recorder.run_dir);
}

/* The process ends as no closing line will tell, perhaps in a signal handler. */
struct last_words {
    enum ww_end how;
    int detail;
};

static void say_last_words(void *context)
{
    const struct last_words *last = context;
    threads_mark_end(last->how, last->detail, recorder_now_ns());
    if (!tells_end())
        return;
    if (last->how == WW_END_ABORT)
        say("rank %d has called MPI_Abort(%d); what was recorded is in %s", recorder.rank, last->detail,
            recorder.run_dir);
    else
        say("rank %d has ended with status %d without calling MPI_Finalize; what was recorded is in %s", recorder.rank,
            last->detail, recorder.run_dir);
}

/* Normal ends of the process, with or without MPI_Finalize. */
static void process_exits(int status, void *unused)
{
    (void)unused;
    if (recorder.pid == getpid() && !recorder.finished && atomic_load(&recorder.recording))
        aside_run(say_last_words, &(struct last_words){WW_END_EXIT, status});
}

static bool begin_recording(void)
{
    if (recorder_now_ns() == 0) {
        recorder_give_up("there is no monotonic clock");
        return false;
    }
    if (!unwind_init()) {
        recorder_give_up("no memory");
        return false;
    }
    stacks_learn_process();
    choose_spool();
    dl_iterate_phdr(find_own_code, NULL);
    atomic_store(&recorder.recording, true);
    struct recorder_thread *first = threads_enter();
    if (!first || !spool_is_open(&first->events)) {
        recorder_give_up("cannot write in %s: %s", recorder.spool_dir, strerror(recorder.open_error));
        return false;
    }
    modules_scan(&first->events);
    record_at_sync = counters_sync;
    record_at_callback = counters_callback;
    sampler_begin(first);
    if (!helper_start())
        say_note("no helper thread: %s; no samples were taken", strerror(errno));
    pthread_atfork(unwind_before_fork, unwind_after_fork, after_fork_in_child);
    on_exit(process_exits, NULL);
    image_leave_word(recorder.run_dir, recorder.rank);
    return true;
}

void life_compare_clocks(void)
{
    struct world_clock own;
    if (!world_compare_clocks(recorder.n_ranks, &own) || !recorder_is_on())
        return;
    struct ww_clock *record = record_define(1);
    if (!record)
        return;
    record->error_ns = own.error_ns;
    record->local_ns = own.local_ns;
    record->reference_ns = own.reference_ns;
    record_commit(record, WW_CLOCK, 1);
}

/* A launcher of another MPI starts each process as a job of its own. */
static void notice_lone_rank(void)
{
    static const char text[] =
        "the launcher started %u processes, but each of them is alone in its MPI_COMM_WORLD, so none "
        "waits for another: the launcher is of another MPI than the program. Use the mpirun of the "
        "program's MPI, which `whywait check PROGRAM` names";
    unsigned n_started = launcher_n_processes();
    if (recorder.n_ranks > 1 || n_started < 2)
        return;
    if (say_is_first_rank())
        say(text, n_started);
    say_note(text, n_started);
}

static int32_t n_off_below;

static void note_off(int32_t rank)
{
    struct ww_off *record = record_define(1);
    if (!record)
        return;
    record->rank = (uint32_t)rank;
    record_commit(record, WW_OFF, 1);
}

/* The lowest rank that is recorded writes it down: below it, all are off. */
static void take_off(int32_t rank)
{
    if (rank < recorder.rank)
        n_off_below++;
    else if (recorder_is_on() && n_off_below == recorder.rank)
        note_off(rank);
}

/* Collective. */
static void tell_who_is_off(void)
{
    world_each(!recorder_is_on(), take_off);
    for (int32_t rank = 0; recorder_is_on() && n_off_below == recorder.rank && rank < recorder.rank; rank++)
        note_off(rank);
}

void life_start(void)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    int saved = errno;
    if (atomic_flag_test_and_set(&once) || getauxval(AT_SECURE) || !world_is_up())
        return;
    options_read();
    python_look();
    /* Takes longer here than there, as the kernel likes: before the ranks leave the first collective call together. */
    sampler_choose();
    recorder.started = world_open(&recorder.rank, &recorder.n_ranks);
    if (recorder.started) {
        describe_process(&recorder.header);
        windows_choose();
        if (agree_on_directory())
            begin_recording();
        notice_lone_rank();
        windows_begin();
        life_compare_clocks();
        if (recorder.run_dir[0])
            tell_who_is_off();
        /* Time that the recorder's begin takes longer here than there is nobody's start-up. */
        world_barrier();
    } else
        recorder_give_up("MPI refused a communicator");
    errno = saved;
}

void life_abort(int mpi_error)
{
    int saved = errno;
    if (recorder.pid == getpid() && atomic_load(&recorder.recording))
        aside_run(say_last_words, &(struct last_words){WW_END_ABORT, mpi_error});
    errno = saved;
}
