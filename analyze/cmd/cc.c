/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait cc: the compiler flags that make a program count, for `mpicc $(whywait cc) -O2 -g ...`, at compiling and at
 * linking. A plugin works with one version of a compiler only, so the compiler is asked for its version first: a clear
 * line here instead of a failing build. With --from, a run's executions are written into that run for the plugin.
 */
#include "analyze/archive/run.h"
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/installation.h"
#include "analyze/cmd/program.h"
#include "analyze/counts/coverage.h"
#include "analyze/files/output.h"
#include "analyze/pipeline.h"
#include "wrap/base/err.h"
#include "wrap/only.h"
#include "whywait_features.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "whywait_plugin"
#define MEASURED "executions.txt"

struct options {
    const char *compiler; /* NULL = what mpicc uses, else gcc */
    const char *only[ONLY_MOST];
    unsigned n_only;
    const char *from; /* a run whose executions place the counters; NULL = none */
    bool notes, no_exceptions, no_bytes, initial_exec;
};

enum { OPT_COMPILER = OPT_OTHER, OPT_FROM, OPT_NOTES, OPT_ONLY, OPT_NO_EXCEPTIONS, OPT_NO_BYTES, OPT_INITIAL_EXEC };
static const struct option_row rows[] = {
    {"compiler", OPT_COMPILER, "CC",
     "ask CC for its version (mpicc, mpicxx, gfortran-12, clang ...; default: what mpicc runs, or gcc)"},
    {"from", OPT_FROM, "RUN",
     "place counters where RUN, an earlier run that counted, executed least; kept in RUN as " MEASURED},
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
    .about = "Prints the flags with which GCC or clang counts how often each loop runs, for about one percent of run "
             "time:\nmpicc $(whywait cc) -O2 -g ...\nGCC: C, C++ and Fortran; with -flto, use them at linking too. "
             "clang: C and C++, without -flto, and without bytes. The program runs alone as well as recorded.",
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
        case OPT_FROM:
            options.from = optarg;
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

/* The first line of what the compiler answers to a question; "" = nothing. */
static void ask(const char *compiler, const char *question, char answer[256])
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "%s %s 2>/dev/null", compiler, question);
    FILE *output = popen(command, "r");
    if (!output || !fgets(answer, 256, output))
        *answer = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    if (output)
        pclose(output);
}

/* "12.2.0" becomes "12.2.0 for aarch64" where that is another machine than the tool's. */
static void add_target(const char *compiler, char version[256])
{
    char machine[256];
    ask(compiler, "-dumpmachine", machine);
    size_t length = strcspn(machine, "-"), n = strlen(version);
    if (machine[length] && (length != strlen(WHYWAIT_ARCHITECTURE) || strncmp(machine, WHYWAIT_ARCHITECTURE, length)))
        snprintf(version + n, 256 - n, " for %.*s", (int)length, machine);
}

/* The compiler that will run: a wrapper such as mpicc asks the one behind it ($OMPI_CC, $MPICH_CC). Sets its version
 * ("12.2.0"), "" when it is none of those that a plugin can be built for. */
static enum installation_compiler identify(const char *compiler, char version[256])
{
    static const char sign[] = "clang version ";
    ask(compiler, "-dumpfullversion", version); /* known to GCC alone */
    if (*version) {
        add_target(compiler, version);
        return INSTALLATION_GCC;
    }
    char answer[256];
    ask(compiler, "--version", answer);
    const char *found = strstr(answer, sign);
    if (found)
        snprintf(version, 256, "%.*s", (int)strspn(found + strlen(sign), "0123456789."), found + strlen(sign));
    return INSTALLATION_CLANG;
}

/* "GCC 12.2.0, 11.3.0 or clang 14.0.6" */
static const char *name_plugins(char text[256])
{
    *text = '\0';
    for (int i = 0; i < INSTALLATION_COMPILERS; i++) {
        enum installation_compiler each = (enum installation_compiler)i;
        size_t n = strlen(text);
        if (*installation_versions(each))
            snprintf(text + n, 256 - n, "%s%s %s", n ? " or " : "", installation_compiler_name(each),
                     installation_versions(each));
    }
    return text;
}

static void check_path(const char *what, const char *path)
{
    if (strpbrk(path, " \t\n*?["))
        die("the shell would split the path of %s (%s): use one without blanks", what, path);
}

static enum installation_compiler choose_plugin(const char *asked, char plugin[PATH_MAX])
{
    char path[PATH_MAX], version[256] = "", built[256];
    const char *compiler = asked ? asked : program_find("mpicc", path) ? "mpicc" : "gcc";
    name_plugins(built);
    if (!installation_counts())
        die(*built ? "the compiler plugin is not beside this tool (in ../lib/whywait)"
                   : "no compiler plugin was built: install GCC's plugin headers or LLVM's headers (on Debian: apt-get "
                     "install gcc-12-plugin-dev llvm-14-dev) and build whywait again; everything but exact counts "
                     "works without it");
    enum installation_compiler kind = identify(compiler, version);
    if (!*version)
        die("%s is neither GCC nor clang, or is not there; exact counts need %s (name it with --compiler)", compiler,
            built);
    const char *name = installation_compiler_name(kind);
    if (!installation_plugin(kind, version, plugin))
        die("%s is %s %s, but plugins were built for %s; use one of these (--compiler), or build whywait where the "
            "headers of %s %s are",
            compiler, name, version, built, name, version);
    check_path("the plugin", plugin);
    return kind;
}

static int write_measured(const char *run, const char *file)
{
    struct loaded loaded;
    struct coverage coverage = {0};
    struct output output;
    int status = load_trace(&loaded, run);
    if (status == 0)
        status = coverage_read(&coverage, loaded.trace, loaded.code = load_code(loaded.trace));
    if (status == 0 && load_lacks_counts(&loaded)) /* the file stays: later builds would not know what it lacks */
        status = error("%s lacks counts, so no counter is placed by it; name a run that is whole", run);
    if (status == 0 && output_begin(&output, file, OUTPUT_CHOSEN) == 0) {
        coverage_write_measured(&coverage, output.file);
        status = output_end(&output, true);
    } else {
        status = -1;
    }
    coverage_release(&coverage);
    load_release(&loaded);
    return status;
}

/* The file with what the run executed, which is made once: a build asks for each source file. Dies where there is none.
 */
static char *find_measured(const char *run)
{
    char path[PATH_MAX], *directory = run_find_directory(run), *file = NULL;
    if (!directory)
        exit(1);
    if (!realpath(directory, path) || asprintf(&file, "%s/" MEASURED, path) < 0)
        die("%s: %s", directory, strerror(errno));
    check_path("the run", file);
    if (access(file, R_OK) != 0 && write_measured(directory, file) != 0)
        exit(1);
    free(directory);
    return file;
}

static void print_option(enum installation_compiler compiler, const char *option, const char *value)
{
    static const char *const forms[INSTALLATION_COMPILERS] = {
        [INSTALLATION_GCC] = " -fplugin-arg-" PLUGIN "-%s%s%s",
        [INSTALLATION_CLANG] = " -Xclang -mllvm -Xclang -whywait-%s%s%s",
    };
    printf(forms[compiler], option, value ? "=" : "", value ? value : "");
}

static void print_options(enum installation_compiler compiler, const struct options *options, const char *measured)
{
    const struct {
        bool is_on;
        const char *option[INSTALLATION_COMPILERS]; /* NULL = needs none */
    } flags[] = {{options->notes, {"verbose", "verbose"}},
                 {options->no_exceptions, {"no-exceptions", "no-exceptions"}},
                 {options->no_bytes, {"no-bytes", NULL}},
                 {options->initial_exec, {"tls=initial-exec", "initial-exec"}}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].is_on && flags[i].option[compiler])
            print_option(compiler, flags[i].option[compiler], NULL);
    for (unsigned i = 0; i < options->n_only; i++)
        print_option(compiler, "only", options->only[i]);
    if (measured)
        print_option(compiler, "from", measured);
}

int cmd_cc(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    char plugin[PATH_MAX];
    enum installation_compiler compiler = choose_plugin(options.compiler, plugin);
    char *measured = options.from ? find_measured(options.from) : NULL;
    if (compiler == INSTALLATION_GCC)
        printf("-fplugin=%s", plugin);
    else /* loaded twice: in time for its options, and for its passes */
        printf("-Xclang -load -Xclang %s -fpass-plugin=%s", plugin, plugin);
    print_options(compiler, &options, measured);
    free(measured);
    putchar('\n');
    return 0;
}
