/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/program.h"
#include "analyze/trace/helpers.h"
#include "analyze/trace/nodes.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 110;
}

bool terminal_option(struct terminal_options *options, int option)
{
    static const char *const words[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    if (option == OPT_NO_PAGER)
        options->no_pager = true;
    if (option != OPT_COLOR)
        return option == OPT_NO_PAGER;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(optarg, words[i])) {
            options->color = i;
            return true;
        }
    die("--color: \"%s\" is neither auto, always nor never", optarg);
}

struct look terminal_look(const struct terminal_options *options)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    bool is_terminal = isatty(STDOUT_FILENO) && !launcher_gives_terminals(), is_dumb = !term || !strcmp(term, "dumb");
    struct look look = {.has_colour = options->color == COLOR_ALWAYS ||
                                      (options->color == COLOR_AUTO && is_terminal && !is_dumb && (!none || !*none))};
    if (is_terminal || options->color == COLOR_ALWAYS) {
        /* Can the user's locale show blocks? Asked of a locale of its own, so that nothing else changes. */
        locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
        bool is_utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
        look.drawing = is_utf8 ? DRAW_UTF8 : DRAW_ASCII;
        if (locale)
            freelocale(locale);
    }
    return look;
}

/* NULL: none is wanted, or none is there. */
static const char *pager_command(void)
{
    const char *const wanted[] = {getenv("WHYWAIT_PAGER"), getenv("PAGER")};
    char path[PATH_MAX];
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i])
            return *wanted[i] && strcmp(wanted[i], "cat") != 0 ? wanted[i] : NULL;
    return program_find("less", path) ? "less" : NULL;
}

int pager_begin(const struct terminal_options *options)
{
    const char *command =
        options->no_pager || !isatty(STDOUT_FILENO) || launcher_gives_terminals() ? NULL : pager_command();
    int ends[2];
    fflush(stdout);
    if (!command || pipe(ends))
        return 0;
    pid_t pager = fork();
    if (pager == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LESS", "FRX", false);
        setenv("LV", "-c", false);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    if (pager > 0)
        dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    return pager > 0 ? pager : 0;
}

void pager_end(int pager)
{
    if (!pager)
        return;
    fflush(stdout);
    int nowhere = open("/dev/null", O_WRONLY); /* the pager sees the end only when nobody holds its pipe */
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    else
        close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Levenshtein's distance, of words up to a length beyond which nobody mistypes a name. */
static size_t distance(const char *a, const char *b)
{
    enum { WORD_MOST = 32 };
    size_t n_a = strlen(a), n_b = strlen(b), row[WORD_MOST + 1];
    if (n_a > WORD_MOST || n_b > WORD_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]), inserted = row[j - 1] + 1, removed = row[j] + 1;
            diagonal = row[j];
            row[j] = replaced < inserted ? replaced : inserted;
            row[j] = row[j] < removed ? row[j] : removed;
        }
    }
    return row[n_b];
}

/* True when `known` may be what was meant by `typed`, and is nearer to it than *least, which is set to its distance. */
static bool word_is_nearer(const char *typed, const char *known, size_t *least)
{
    size_t n = distance(typed, known);
    if (n >= *least || n > (strlen(typed) + 2) / 3)
        return false;
    *least = n;
    return true;
}

/* Ends the tool: the nearest option is named where one is near. */
_Noreturn static void die_of_option(char **argv, const struct option *options)
{
    const char *typed = argv[optind - 1], *nearest = NULL, *end = strchr(typed, '=');
    char name[64];
    size_t least = SIZE_MAX;
    snprintf(name, sizeof name, "%.*s", end ? (int)(end - typed) : (int)strlen(typed), typed);
    for (const struct option *at = options; !strncmp(name, "--", 2) && at->name; at++)
        if (word_is_nearer(name + 2, at->name, &least))
            nearest = at->name;
    if (nearest && !strcmp(name + 2, nearest))
        die("%s takes no value; `whywait help %s` lists the options", name, argv[0]);
    if (nearest)
        die("%s: unknown option; did you mean --%s? `whywait help %s` lists them all", typed, nearest, argv[0]);
    die("%s: unknown option; `whywait help %s` lists the options", typed, argv[0]);
}

/* A success whose output found no room is none. */
static int output_status(int status)
{
    if ((fflush(stdout) || ferror(stdout)) && status == 0)
        die("cannot write to standard output: %s", strerror(errno));
    return status;
}

int option_next(int argc, char **argv, const struct option *options, const char *usage)
{
    opterr = 0;
    bool ends_at_program = !strcmp(argv[0], "record"); /* what follows is the program's */
    bool has_output = false;
    for (const struct option *at = options; at->name; at++)
        has_output |= at->val == 'o';
    int option = getopt_long(argc, argv, ends_at_program ? "+:ho:q" : has_output ? ":ho:" : ":h", options, NULL);
    if (option == ':')
        die("%s needs a value; `whywait help %s` says which", argv[optind - 1], argv[0]);
    if (option == '?')
        die_of_option(argv, options);
    if (option == 'h') {
        fputs(usage, stdout);
        exit(output_status(0));
    }
    return option;
}

const char *option_run(int argc, char **argv)
{
    if (argc - optind > 1)
        die("%s takes one run, not %d (`whywait diff` compares several)", argv[0], argc - optind);
    return argv[optind];
}

uint32_t option_number(const char *option, const char *text, uint32_t least)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || number < least || number > UINT32_MAX)
        die("--%s: \"%s\" is not a number from %u upwards", option, text, least);
    return (uint32_t)number;
}

uint64_t option_seconds(const char *option, const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}};
    char *end;
    double number = strtod(text, &end);
    for (unsigned i = 0; end != text && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name) && number >= 0 && number * units[i].seconds < 1e9)
            return (uint64_t)(1e9 * units[i].seconds * number);
    die("--%s: \"%s\" is no time: give seconds (1.5), or a number with ms, s, m or h (90s)", option, text);
}

bool option_is_json(const char *text)
{
    if (strcmp(text, "json") && strcmp(text, "text"))
        die("--format: \"%s\" is neither text nor json", text);
    return !strcmp(text, "json");
}

bool installation_find(const char *name, char path[PATH_MAX])
{
    static const char *const folders[] = {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu"};
    char tool[PATH_MAX], candidate[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", tool, sizeof tool - 1);
    tool[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(tool, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s/%s", tool, folders[i], name);
        if (realpath(candidate, path))
            return true;
    }
    *path = '\0';
    return false;
}

/*
 * The tool: a table of commands and the dispatch. Options, behaviour and messages of a command are in cmd/NAME.c.
 */

const struct command commands[] = {
    {"record", cmd_record, "[OPTIONS] PROGRAM [ARGUMENTS]",
     "run a rank of an MPI program and record it (inside mpirun)", false},
    {"report", cmd_report, "[OPTIONS] [RUN]", "say which loops make the ranks wait", true},
    {"html", cmd_html, "[-o FILE] [RUN... [vs RUN...]]",
     "write a page for a browser: causes, timeline, ranks, in one file", true},
    {"diff", cmd_diff, "[OPTIONS] BEFORE... vs AFTER...", "say which causes changed between runs, and what is noise",
     true},
    {"trend", cmd_trend, "[OPTIONS] RUN...", "show runs over time: causes as bars, and where they changed", true},
    {"export", cmd_export, "[OPTIONS] [RUN]", "write a run for other tools: tables, graphs, exact counts", true},
    {"list", cmd_list, "[OPTIONS] [DIRECTORY]", "list the runs here: program, ranks, date, time, waiting, size", true},
    {"rm", cmd_rm, "RUN...", "remove runs", true},
    {"annotate", cmd_annotate, "[OPTIONS] [RUN]", "print the source with blame in the margin", true},
    {"check", cmd_check, "[PROGRAM]", "what can be recorded here, and why the rest cannot", false},
    {"cc", cmd_cc, "[OPTIONS]", "print the compiler flags for exact counts", false},
    {"salvage", cmd_salvage, "[RUN]", "make the archive of a run that did not end in order", true},
    {"loops", cmd_loops, "PROGRAM [ADDRESS...]", "print the loops found in a program", false},
    {"help", cmd_help, "[COMMAND]", "this text, or the options of a command", false},
    {"version", cmd_version, "", "print the version", false},
    {"convert", cmd_convert, NULL, "spool of one rank to its part of the archive", false},
    {"join", cmd_join, NULL, "parts of an archive to the whole", false},
};
const unsigned n_commands = sizeof commands / sizeof *commands;

static const struct command *command_find(const char *name)
{
    for (unsigned i = 0; i < n_commands; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

_Noreturn static void die_of_command(const char *typed)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (unsigned i = 0; i < n_commands; i++)
        if (commands[i].synopsis && word_is_nearer(typed, commands[i].name, &least))
            nearest = commands[i].name;
    if (nearest)
        die("no command \"%s\"; did you mean `whywait %s`? `whywait help` lists all", typed, nearest);
    char path[PATH_MAX];
    if (strchr(typed, '/') && program_find(typed, path))
        die("no command \"%s\"; to record this program: mpirun -n 4 whywait record %s", typed, typed);
    die("no command \"%s\"; `whywait help` lists them", typed);
}

static void usage(FILE *out)
{
    fprintf(out, "Usage: whywait COMMAND [OPTIONS] [ARGUMENTS]\n\n"
                 "    mpirun -n 4 whywait record ./app    record a run\n"
                 "    whywait report                      which loop makes the others wait\n\n");
    for (unsigned i = 0; i < n_commands; i++)
        if (commands[i].synopsis)
            fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`whywait help COMMAND` lists the options of a command.\n");
}

int cmd_help(int argc, char **argv)
{
    if (argc < 2) {
        usage(stdout);
        return 0;
    }
    const struct command *command = command_find(argv[1]);
    if (!command)
        die_of_command(argv[1]);
    if (command->run == cmd_help || command->run == cmd_version) {
        printf("Usage: whywait %s %s\n%s\n", command->name, command->synopsis, command->summary);
        return 0;
    }
    char *help_argv[] = {argv[1], "--help", NULL};
    return command->run(2, help_argv);
}

int cmd_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("whywait " WHYWAIT_VERSION);
    return 0;
}

static void linger(void)
{
    enum { PATIENCE_S = 1 };
    sleep(PATIENCE_S);
}

/* What is wrong with the command line of a job is wrong for each of its processes: one of a node says so, and stays
 * until the others have found out. */
static bool is_first_to_fail(void)
{
    int claim = launcher_claim("fault");
    if (claim >= 0)
        atexit(linger);
    return claim != LAUNCHER_TAKEN;
}

/* Whether this process is the one that does what need not be done twice. Another may serve it first, and has nothing
 * more to do then. */
static bool is_one_to_work(void)
{
    char program[PATH_MAX];
    const char *name = launcher_is_of_open_mpi() ? "whywait-meet" : "whywait-meet-mpich";
    if (!nodes_are_several() || !installation_find(name, program))
        return launcher_is_first_rank();
    enum nodes_role role = nodes_meet(program);
    if (role == NODES_ALONE)
        warn("some processes on other nodes have not come within %u s ($WHYWAIT_MEETING), so it goes on without them; "
             "is the tool, with %s, the same on all nodes?",
             nodes_patience_s(), launcher_is_of_open_mpi() ? "Open MPI" : "MPICH");
    if (role == NODES_FAR)
        helpers_serve();
    return role == NODES_FIRST || role == NODES_ALONE;
}

int main(int argc, char **argv)
{
    if (launcher_n_processes() > 1)
        err_ask(is_first_to_fail);
    if (argc < 2) {
        usage(stderr);
        return 1;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        name = "help";
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        name = "version";
    const struct command *command = command_find(name);
    if (!command)
        die_of_command(argv[1]);
    if (command->is_done_once && !is_one_to_work())
        return 0;
    return output_status(command->run(argc - 1, argv + 1));
}
