/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait record PROGRAM: becomes PROGRAM, with the recorder preloaded into it and into nothing else.
 *
 * Which recorder that is, preload.c chooses. Options reach the recorder as WHYWAIT_* variables.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/preload.h"
#include "analyze/cmd/program.h"
#include "wrap/base/err.h"
#include "wrap/format.h"
#include "wrap/launcher.h"
#include "wrap/only.h"
#include "wrap/presence.h"
#include "wrap/sizes.h"
#include "wrap/windows.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };
struct options {
    const char *dir, *spool, *rate, *limit, *last, *window, *every;
    char only[ONLY_BYTES];
    bool space, no_convert, quiet;
};

enum {
    OPT_SPOOL = OPT_OTHER,
    OPT_RATE,
    OPT_LIMIT,
    OPT_LAST,
    OPT_WINDOW,
    OPT_EVERY,
    OPT_ONLY,
    OPT_SPACE,
    OPT_NO_CONVERT
};
static const struct option_row rows[] = {
    {"dir", 'o', "DIR", "make the run directory in DIR (here)"},
    {"spool", OPT_SPOOL, "DIR",
     "write in DIR, a local disk of each node, and bring the data to the run directory at the end"},
    {"rate", OPT_RATE, "HZ",
     "samples a second of CPU time, 250 at most; 0 = no samples (default: as many as cost 0.5 % at most)"},
    {"limit", OPT_LIMIT, "SIZE", "record at most SIZE bytes a rank (k, m, g), then only count what is lost"},
    {"last", OPT_LAST, "SIZE",
     "keep the newest SIZE bytes of each thread only (k, m, g; 512k at least); the report is about the time from which "
     "on all ranks have their records"},
    {"window", OPT_WINDOW, "TIME",
     "record parts of the run, so long (500ms, 10s, 1h), begun and ended on all ranks at the same collective call"},
    {"every", OPT_EVERY, "TIME", "... one of them in so long a time, the first from the start"},
    {"only", OPT_ONLY, "NAME",
     "of a program built with $(whywait cc), count these source files or routines only (* and ? stand for anything; "
     "may be given several times)"},
    {"space", OPT_SPACE, NULL, "of such a program, also record how many bytes are allocated where"},
    {"no-convert", OPT_NO_CONVERT, NULL,
     "leave the archive, which is made while MPI_Finalize runs, to `whywait report`"},
    {"quiet", 'q', NULL,
     "print neither the closing line nor where a run is recorded that lasts longer than ten seconds or ends without "
     "MPI_Finalize"},
    {0},
};

const struct manual manual_record = {
    .synopsis = "[OPTIONS] PROGRAM [ARGUMENTS]",
    .about = "Runs PROGRAM, a rank of an MPI job, and records it:\nmpirun -n 4 whywait record ./app",
    .rows = rows,
    .after = "The exit status is the program's; 127 when it is not found, 126 when it cannot be run.",
};

static int parse(int argc, char **argv, struct options *options)
{
    int option;
    while ((option = option_next(argc, argv, &manual_record)) != -1) {
        if (option == 'o')
            options->dir = optarg;
        else if (option == OPT_SPOOL)
            options->spool = optarg;
        else if (option == OPT_RATE)
            options->rate = optarg;
        else if (option == OPT_LIMIT)
            options->limit = optarg;
        else if (option == OPT_LAST)
            options->last = optarg;
        else if (option == OPT_WINDOW)
            options->window = optarg;
        else if (option == OPT_EVERY)
            options->every = optarg;
        else if (option == OPT_ONLY) {
            size_t used = strlen(options->only);
            int n = snprintf(options->only + used, sizeof options->only - used, "%s%c", optarg, ONLY_SEPARATOR);
            if (!*optarg || n >= (int)(sizeof options->only - used))
                die("--only %s: expected the name of a routine or source file, %d characters in all at most", optarg,
                    ONLY_BYTES - 1);
        } else if (option == OPT_SPACE)
            options->space = true;
        else if (option == OPT_NO_CONVERT)
            options->no_convert = true;
        else if (option == 'q')
            options->quiet = true;
    }
    return optind;
}

/* The program, or a script that runs it, may change directory before MPI starts. The folder need not be there yet. */
static void pass_directory(const char *variable, const char *path)
{
    char here[PATH_MAX], *absolute = NULL;
    if (*path != '/' && *path && getcwd(here, sizeof here) && asprintf(&absolute, "%s/%s", here, path) < 0)
        err_out_of_memory(strlen(path));
    setenv(variable, absolute ? absolute : path, 1);
    free(absolute);
}

static void pass_options(const struct options *options)
{
    if (options->dir)
        pass_directory("WHYWAIT_DIR", options->dir);
    if (options->spool)
        pass_directory("WHYWAIT_SPOOL", options->spool);
    if (options->rate)
        setenv("WHYWAIT_RATE", options->rate, 1);
    if (options->limit)
        setenv("WHYWAIT_LIMIT", options->limit, 1);
    if (options->last)
        setenv("WHYWAIT_LAST", options->last, 1);
    if (options->window)
        setenv("WHYWAIT_WINDOW", options->window, 1);
    if (options->every)
        setenv("WHYWAIT_EVERY", options->every, 1);
    if (*options->only)
        setenv("WHYWAIT_ONLY", options->only, 1);
    if (options->space)
        setenv("WHYWAIT_SPACE", "1", 1);
    if (options->no_convert)
        setenv("WHYWAIT_CONVERT", "0", 1);
    if (options->quiet)
        setenv("WHYWAIT_QUIET", "1", 1);
}

static uint64_t read_size(const char *option, const char *text)
{
    uint64_t bytes = 0;
    if (text && !size_read(text, &bytes))
        die("--%s %s: expected a number of bytes, with k, m or g", option, text);
    return bytes;
}

/* Puts a word in front of what a variable has, or behind it, with a colon between. */
static void environment_join(const char *name, const char *word, bool is_first)
{
    const char *before = getenv(name);
    char *list = NULL;
    bool is_alone = !before || !*before;
    if (asprintf(&list, "%s%s%s", is_alone || is_first ? word : before, is_alone ? "" : ":",
                 is_alone   ? ""
                 : is_first ? before
                            : word) < 0)
        err_out_of_memory(strlen(word));
    setenv(name, list, 1);
    free(list);
}

/* For a program that is to start the one that uses MPI: see wrap/presence.h. Without room for the descriptor nobody
 * will know. */
static void leave_presence(void)
{
    char number[16];
    int low = memfd_create(PRESENCE_NAME, MFD_CLOEXEC), fd = low >= 0 ? fcntl(low, F_DUPFD, PRESENCE_FD_LEAST) : -1;
    snprintf(number, sizeof number, "%d", fd);
    if (fd >= 0)
        setenv("WHYWAIT_CAME", number, 1);
    if (low >= 0)
        close(low);
}

/* A rank is as good as another to say what holds for the program. */
static void load_recorder(const char *path)
{
    struct program program;
    struct preload preload;
    program_glance(&program, path);
    preload_choose(&preload, &program);
    if (*preload.library)
        environment_join("LD_PRELOAD", preload.library, true);
    if (*preload.library && !program.mpi_library)
        leave_presence();
    /* The recorder defines nothing that the sanitizer has to see first. */
    if (*preload.library && program.has_asan)
        environment_join("ASAN_OPTIONS", "verify_asan_link_order=0", false);
    if (*preload.unrecorded && launcher_is_first_rank())
        warn("%s %s", path, preload.unrecorded);
    program_release(&program);
}

int cmd_record(int argc, char **argv)
{
    struct options options = {0};
    char path[PATH_MAX];
    int first = parse(argc, argv, &options);
    if (first >= argc)
        die("record what? `mpirun -n 4 whywait record ./app`");
    if (options.rate && (!*options.rate || options.rate[strspn(options.rate, "0123456789")]))
        die("--rate %s: expected a number of samples a second", options.rate);
    read_size("limit", options.limit);
    if (read_size("last", options.last) < WW_LEAST_RING_BYTES && options.last)
        die("--last %s: %s", options.last, WW_LEAST_RING_TEXT);
    struct windows windows;
    const char *fault = windows_read(options.window, options.every, options.last, &windows);
    if (fault)
        die("--window %s --every %s: %s", options.window ? options.window : "(none)",
            options.every ? options.every : "(none)", fault);
    if (!program_find(argv[first], path)) {
        program_not_found(argv[first]);
        return EXIT_NOT_FOUND;
    }
    load_recorder(path);
    pass_options(&options);
    char self[16];
    snprintf(self, sizeof self, "%d", (int)getpid());
    setenv("WHYWAIT_PROCESS", self, 1); /* the program's own, which is told when it uses no MPI */
    execv(path, argv + first);
    if (errno == ENOEXEC) /* a script without a first line: as the shell does */
        execvp(argv[first], argv + first);
    error("cannot run %s: %s", argv[first], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}
