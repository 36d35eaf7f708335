/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait cc: the compiler flags that make a program count, for `mpicc $(whywait cc) -O2 -g ...`, at compiling and at
 * linking. A GCC plugin works with one version of GCC only, so the compiler is asked for its version first: a clear
 * line here instead of a failing build.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/installation.h"
#include "analyze/cmd/program.h"
#include "wrap/base/err.h"
#include "wrap/only.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "whywait_plugin"

struct options {
    const char *compiler; /* NULL = what mpicc uses, else gcc */
    const char *only[ONLY_MOST];
    unsigned n_only;
    bool notes, no_exceptions, no_bytes, initial_exec;
};

enum { OPT_COMPILER = OPT_OTHER, OPT_NOTES, OPT_ONLY, OPT_NO_EXCEPTIONS, OPT_NO_BYTES, OPT_INITIAL_EXEC };
static const struct option_row rows[] = {
    {"compiler", OPT_COMPILER, "CC",
     "ask CC for its version (mpicc, mpicxx, gfortran-12 ...; default: what mpicc runs, or gcc)"},
    {"notes", OPT_NOTES, NULL, "have the compiler name each function that cannot be counted, and why"},
    {"only", OPT_ONLY, "NAME",
     "count these source files or routines only (* and ? stand for anything; may be given several times)"},
    {"no-exceptions", OPT_NO_EXCEPTIONS, NULL,
     "spend fewer counters; counts are wrong where an exception passes through"},
    {"no-bytes", OPT_NO_BYTES, NULL, "do not count bytes where memory is allocated"},
    {"initial-exec", OPT_INITIAL_EXEC, NULL, "faster counters in shared libraries that are never loaded with dlopen"},
    {0},
};

const struct manual manual_cc = {
    .synopsis = "[OPTIONS]",
    .about = "Prints the flags with which GCC counts how often each loop runs, for less than one percent of run "
             "time:\nmpicc $(whywait cc) -O2 -g ...\nUse them at compiling, and with -flto at linking too. C, C++ and "
             "Fortran. The program runs alone as well as recorded.",
    .rows = rows,
};

static struct options parse(int argc, char **argv)
{
    struct options options = {0};
    int option;
    while ((option = option_next(argc, argv, &manual_cc)) != -1) {
        switch (option) {
        case OPT_COMPILER:
            options.compiler = optarg;
            break;
        case OPT_NOTES:
            options.notes = true;
            break;
        case OPT_ONLY: /* the shell splits what is printed: nothing that it would take for something else */
            if (!*optarg || strpbrk(optarg, " \t\n;") || options.n_only == ONLY_MOST)
                die("--only %s: expected the name of a routine or source file without blanks, %d at most", optarg,
                    ONLY_MOST);
            options.only[options.n_only++] = optarg;
            break;
        case OPT_NO_EXCEPTIONS:
            options.no_exceptions = true;
            break;
        case OPT_NO_BYTES:
            options.no_bytes = true;
            break;
        case OPT_INITIAL_EXEC:
            options.initial_exec = true;
            break;
        }
    }
    if (optind < argc)
        die("cc takes options only, not \"%s\": `mpicc $(whywait cc) ...`", argv[optind]);
    return options;
}

/* The first line of what `COMPILER -dumpfullversion` says, which other compilers do not know; "" = nothing. */
static void read_gcc_version(const char *compiler, char version[64])
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "%s -dumpfullversion 2>/dev/null", compiler);
    FILE *answer = popen(command, "r");
    if (!answer || !fgets(version, 64, answer))
        *version = '\0';
    version[strcspn(version, "\n")] = '\0';
    if (answer)
        pclose(answer);
}

/* For the compiler that will run: a wrapper such as mpicc asks the one behind it ($OMPI_CC, $MPICH_CC). */
static void choose_plugin(const char *asked, char plugin[PATH_MAX])
{
    char path[PATH_MAX], version[64] = "";
    const char *compiler = asked ? asked : program_find("mpicc", path) ? "mpicc" : "gcc", *built = installation_gccs();
    if (!installation_plugin(NULL, plugin))
        die(*built ? "the compiler plugin is not beside this tool (in ../lib/whywait)"
                   : "no compiler plugin was built: install GCC's plugin headers (on Debian: apt-get install "
                     "gcc-12-plugin-dev) and build whywait again; everything but exact counts works without it");
    read_gcc_version(compiler, version);
    if (!*version)
        die("%s is not GCC, or is not there; exact counts need GCC %s (name it with --compiler)", compiler, built);
    if (!installation_plugin(version, plugin))
        die("%s is GCC %s, but the plugin was built for GCC %s; use one of these (--compiler), or build whywait where "
            "the plugin headers of GCC %s are",
            compiler, version, built, version);
    if (strpbrk(plugin, " \t\n*?["))
        die("the shell would split the path of the plugin (%s): install whywait where paths have no blanks", plugin);
}

int cmd_cc(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    char plugin[PATH_MAX];
    choose_plugin(options.compiler, plugin);
    printf("-fplugin=%s", plugin);
    const struct {
        bool is_on;
        const char *flag;
    } flags[] = {{options.notes, "verbose"},
                 {options.no_exceptions, "no-exceptions"},
                 {options.no_bytes, "no-bytes"},
                 {options.initial_exec, "tls=initial-exec"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].is_on)
            printf(" -fplugin-arg-" PLUGIN "-%s", flags[i].flag);
    for (unsigned i = 0; i < options.n_only; i++)
        printf(" -fplugin-arg-" PLUGIN "-only=%s", options.only[i]);
    putchar('\n');
    return 0;
}
