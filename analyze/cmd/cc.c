/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait cc: the compiler flags that make a program count, for `mpicc $(whywait cc) -O2 -g ...`, at compiling and at
 * linking. A GCC plugin works with one version of GCC only, so the compiler is asked for its version first: a clear
 * line here instead of a failing build.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/program.h"
#include "whywait_plugin_gcc.h"
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

static const char usage[] = "Usage: mpicc $(whywait cc [OPTIONS]) -O2 -g ...\n"
                            "Prints the flags with which GCC counts how often each loop runs, for less than\n"
                            "one percent of run time. Use them at compiling, and with -flto at linking too.\n"
                            "C, C++ and Fortran. The program runs alone as well as recorded.\n"
                            "\n"
                            "  --compiler CC     ask CC for its version (mpicc, mpicxx, gfortran-12 ...;\n"
                            "                    default: what mpicc runs, or gcc)\n"
                            "  --notes           have the compiler name each function that cannot be counted,\n"
                            "                    and why\n"
                            "  --only NAME       count these source files or routines only (* and ? stand for\n"
                            "                    anything; several times)\n"
                            "  --no-exceptions   spend fewer counters; counts are wrong where an exception\n"
                            "                    passes through\n"
                            "  --no-bytes        do not count bytes where memory is allocated\n"
                            "  --initial-exec    faster counters in shared libraries that are never loaded\n"
                            "                    with dlopen\n"
                            "  --help            this text\n";

static struct options parse(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"compiler", required_argument, NULL, 'c'}, {"notes", no_argument, NULL, 'n'},
        {"only", required_argument, NULL, 'o'},     {"no-exceptions", no_argument, NULL, 'e'},
        {"no-bytes", no_argument, NULL, 'b'},       {"initial-exec", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},           {0},
    };
    struct options options = {0};
    int option;
    while ((option = option_next(argc, argv, long_options, usage)) != -1) {
        switch (option) {
        case 'c':
            options.compiler = optarg;
            break;
        case 'n':
            options.notes = true;
            break;
        case 'o': /* the shell splits what is printed: nothing that it would take for something else */
            if (!*optarg || strpbrk(optarg, " \t\n;") || options.n_only == ONLY_MOST)
                die("--only %s: expected the name of a routine or source file without blanks, %d at most", optarg,
                    ONLY_MOST);
            options.only[options.n_only++] = optarg;
            break;
        case 'e':
            options.no_exceptions = true;
            break;
        case 'b':
            options.no_bytes = true;
            break;
        case 'i':
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

/* The compiler that will run: a wrapper such as mpicc asks the one behind it ($OMPI_CC, $MPICH_CC). */
static void check_compiler(const char *asked)
{
    char path[PATH_MAX], version[64] = "";
    const char *compiler = asked ? asked : program_find("mpicc", path) ? "mpicc" : "gcc";
    read_gcc_version(compiler, version);
    if (!*version)
        die("%s is not GCC, or is not there; exact counts need GCC " WHYWAIT_PLUGIN_GCC " (name it with --compiler)",
            compiler);
    if (strcmp(version, WHYWAIT_PLUGIN_GCC) != 0)
        die("%s is GCC %s, but the plugin was built for GCC " WHYWAIT_PLUGIN_GCC
            "; build whywait with that compiler, or "
            "use GCC " WHYWAIT_PLUGIN_GCC,
            compiler, version);
}

int cmd_cc(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    char plugin[PATH_MAX];
    if (!installation_find(PLUGIN ".so", plugin))
        die(*WHYWAIT_PLUGIN_GCC ? "the compiler plugin " PLUGIN ".so is not beside this tool (in ../lib)"
                                : "the compiler plugin was not built: install GCC's plugin headers (on Debian: apt-get "
                                  "install gcc-12-plugin-dev) and build whywait again; everything but exact counts "
                                  "works without it");
    if (strpbrk(plugin, " \t\n*?["))
        die("the shell would split the path of the plugin (%s): install whywait where paths have no blanks", plugin);
    check_compiler(options.compiler);
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
