/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait check: what can be recorded here and of this program, and why the rest cannot. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/installation.h"
#include "analyze/cmd/preload.h"
#include "analyze/cmd/program.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include "wrap/never_waits.h"
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct options {
    const char *program;
    bool list_all;
};

enum { OPT_CALLS = OPT_OTHER };
static const struct option_row rows[] = {
    {"calls", OPT_CALLS, NULL, "list all entry points of MPI that the program refers to"},
    {0},
};

const struct manual manual_check = {
    .synopsis = "[OPTIONS] [PROGRAM]",
    .about = "Says which sources of data work on this machine and, for PROGRAM, which MPI it uses, which of its MPI "
             "calls are recorded, and whether loops can be named. Nothing of the program is run.",
    .rows = rows,
    .after = "Exit status: 0; 1 when the program cannot be recorded.",
};

static struct options parse(int argc, char **argv)
{
    struct options options = {0};
    int option;
    while ((option = option_next(argc, argv, &manual_check)) != -1)
        options.list_all |= option == OPT_CALLS;
    if (argc - optind > 1)
        die("check takes one program, without its arguments");
    options.program = argv[optind];
    return options;
}

/* Whether a source of data works for this user on this machine, found out by trying it. */
struct source_state {
    bool works;
    char reason[160]; /* why not, or on which terms */
};

/* The level of kernel.perf_event_paranoid is -1 to 4. */
enum { NO_PERF_EVENTS = 9 };

static struct source_state try_perf(const struct perf_event_attr *attributes)
{
    struct source_state state = {false, ""};
    long fd = syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    int level = NO_PERF_EVENTS;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (file && fscanf(file, "%d", &level) != 1)
        level = NO_PERF_EVENTS;
    if (file)
        fclose(file);
    if (fd >= 0) {
        close((int)fd);
        state.works = true;
        snprintf(state.reason, sizeof state.reason, "kernel.perf_event_paranoid is %d", level);
    } else if (level == NO_PERF_EVENTS) {
        snprintf(state.reason, sizeof state.reason, "this kernel has no perf events");
    } else if (errno == EACCES || errno == EPERM) {
        snprintf(state.reason, sizeof state.reason, "refused (kernel.perf_event_paranoid is %d; %s)", level,
                 level > 2 ? "2 or less is needed" : "a container's seccomp filter, perhaps");
    } else {
        snprintf(state.reason, sizeof state.reason, "perf_event_open: %s", strerror(errno));
    }
    return state;
}

static struct perf_event_attr task_clock(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .size = sizeof(struct perf_event_attr),
        .sample_period = 4000000,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static struct source_state source_timer(void)
{
    struct source_state state = {false, ""};
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
        timer_delete(timer);
        state.works = true;
        snprintf(state.reason, sizeof state.reason, "used where perf events are refused");
    } else {
        snprintf(state.reason, sizeof state.reason, "timer_create: %s", strerror(errno));
    }
    return state;
}

static void line_with(const char *what, const char *answer, const char *text)
{
    struct arena scratch = {0};
    printf("  %-18s %-4s %s\n", what, answer, text_escape(&scratch, text));
    arena_release(&scratch);
}

static void line(const char *what, bool works, const char *text)
{
    line_with(what, works ? "yes" : "no", text);
}

/* The standard's interface is C's. Fortran's bindings stand on it, and their calls of C are recorded. */
static bool is_of_binding(const struct program *program, const char *name)
{
    return program->mpi == PROGRAM_STANDARD_ABI && !strncmp(name, "mpi_", 4);
}

static const char *how_recorded(const struct program *program, const struct program_symbol *call)
{
    return call->is_intercepted                 ? "recorded"
           : never_waits(call->name)            ? "not recorded: nobody waits in it"
           : is_of_binding(program, call->name) ? "recorded if Fortran's binding calls MPI_ functions of C for it"
                                                : "not recorded";
}

/* A tool of MPI's profiling interface that was linked in takes calls before anything that is preloaded. */
static void print_own_calls(const struct program *program)
{
    size_t n = 0, first = 0;
    for (size_t i = program->mpi_own.n; i-- > 0;)
        if (program->mpi_own.at[i].is_intercepted) {
            first = i;
            n++;
        }
    if (!n)
        return;
    struct arena scratch = {0};
    line("other tools", false,
         arena_printf(&scratch,
                      "the program itself defines %s (%zu MPI functions in all), by a tool that was linked in: calls "
                      "that it passes on as PMPI are not recorded (link without it, or its shared library)",
                      program->mpi_own.at[first].name, n));
    arena_release(&scratch);
}

/* True when there is a recorder for it. */
static bool check_calls(struct program *program, bool list_all)
{
    char recorder[PATH_MAX], text[PATH_MAX + 64];
    struct preload preload;
    preload_choose(&preload, program);
    if (!*preload.library || *preload.unrecorded) {
        line("recorder", false, preload.unrecorded);
        return false;
    }
    installation_find(program_recorder(preload_mpi(program)), recorder);
    line("recorder", true, recorder);
    if (program_mark_intercepted(program, recorder))
        return false;
    size_t n_intercepted = 0, n_idle = 0, n_bound = 0;
    for (size_t i = 0; i < program->mpi_calls.n; i++) {
        const struct program_symbol *call = &program->mpi_calls.at[i];
        n_intercepted += call->is_intercepted;
        n_idle += !call->is_intercepted && never_waits(call->name);
        n_bound += is_of_binding(program, call->name);
    }
    bool is_part = n_bound || (n_intercepted && n_intercepted + n_idle < program->mpi_calls.n);
    snprintf(text, sizeof text, "%zu of the %zu entry points it refers to%s", n_intercepted, program->mpi_calls.n,
             n_idle && !is_part ? "; nobody waits in the others" : "");
    line_with("MPI calls", is_part ? "part" : n_intercepted ? "yes" : "no", text);
    struct arena scratch = {0};
    for (size_t i = 0; i < program->mpi_calls.n; i++) {
        const struct program_symbol *call = &program->mpi_calls.at[i];
        if (list_all || (!call->is_intercepted && !never_waits(call->name)))
            printf("    %-34s %s\n", text_escape(&scratch, call->name), how_recorded(program, call));
    }
    arena_release(&scratch);
    print_own_calls(program);
    return true;
}

/* Why a program without a recognised MPI is as it is. */
static const char *why_no_mpi(const struct program *program)
{
    struct stat status;
    if (program->kind == PROGRAM_SCRIPT)
        return "a script: what it starts is recorded if that is an MPI program";
    if (program->kind == PROGRAM_OTHER)
        return stat(program->path, &status) == 0 && S_ISDIR(status.st_mode)
                   ? "a directory, not a program"
                   : "no program that can be started: name a "
                     "script's interpreter first (python3 app.py)";
    if (program->kind == PROGRAM_LIBRARY)
        return "a shared library that is not linked with an MPI library; check the program that loads it";
    if (program->mpi == PROGRAM_STATIC_MPI)
        return "MPI is linked into the program statically, so its calls cannot be intercepted: link with the shared "
               "MPI library";
    if (program->kind == PROGRAM_STATIC)
        return "a static executable: nothing can be preloaded into it; link it dynamically";
    if (program->names_mpi)
        return "it is not linked with an MPI library, but MPI_Init stands in it as a text: if it looks that up in the "
               "MPI library (dlsym with a handle of it), its calls go past the recorder; link what calls MPI with the "
               "MPI library";
    return "it is not linked with an MPI library; it is recorded if it opens a library that is, as Python does with "
           "mpi4py, or starts a program that is, but not where it looks MPI up by dlsym itself";
}

/* True when it can be recorded. */
static bool check_program(struct program *program, bool list_all)
{
    bool has_mpi = program->mpi_library, is_library = program->kind == PROGRAM_LIBRARY,
         may_preload = program->kind == PROGRAM_DYNAMIC || is_library, may_run = access(program->path, X_OK) == 0;
    char text[PATH_MAX];
    struct arena scratch = {0};
    printf("%s\n", text_escape(&scratch, program->path));
    if (program->missing.n) {
        /* The program cannot start here: a module that was not loaded, mostly. Which MPI it wants is then open. */
        const char *names = "";
        for (size_t i = 0; i < program->missing.n; i++)
            names = arena_printf(&scratch, "%s%s%s", names, i ? ", " : "", program->missing.at[i]);
        line("libraries", false,
             arena_printf(&scratch, "not found: %s (load the modules it was built with, or set LD_LIBRARY_PATH)",
                          names));
    }
    arena_release(&scratch);
    if (may_preload && !is_library && !may_run)
        line("may be run", false, "it is not executable for you: chmod +x");
    if (!has_mpi || !may_preload) {
        if (!program->missing.n)
            line("MPI", false, why_no_mpi(program));
        return program->kind == PROGRAM_SCRIPT;
    }
    snprintf(text, sizeof text, "%s (%s)", program_mpi_name(program->mpi), program->mpi_library);
    line("MPI", true, text);
    bool has_recorder = check_calls(program, list_all);
    if (is_library)
        line("a program", false,
             "a shared library: record the program that opens it; its calls are recorded with RTLD_LOCAL as well, but "
             "with RTLD_DEEPBIND they go past the recorder");
    line("lines of loops", program->has_debug,
         program->has_debug ? "it has debug information"
                            : "no debug information: loops are named by routine and offset; compile with -g");
    line("exact counts", program->has_counters,
         program->has_counters ? "it was built with counters"
                               : "built without `whywait cc`: more work and slower are not told apart");
    if (!program->has_build_id)
        line("build id", false, "a program that changed after the run goes unnoticed: link with -Wl,--build-id");
    return has_recorder && may_run && !is_library && !program->missing.n;
}

int cmd_check(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct perf_event_attr sampling = task_clock(), switching = task_clock();
    switching.context_switch = 1;
    switching.sample_id_all = 1;
    struct source_state samples = try_perf(&sampling), switches = try_perf(&switching), timer = source_timer();
    printf("this machine\n");
    line("samples", samples.works, samples.reason);
    line("time without a CPU", switches.works, switches.reason);
    line("CPU timers", timer.works, timer.reason);
    bool has_plugin = installation_counts();
    line("exact counts", has_plugin,
         has_plugin ? "build the program with `mpicc $(whywait cc) ...`" : "no compiler plugin is beside this tool");
    if (!options.program)
        return 0;
    struct program program;
    bool is_good = program_read(&program, options.program) == 0 && check_program(&program, options.list_all);
    program_release(&program);
    return is_good ? 0 : 1;
}
