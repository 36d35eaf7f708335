/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/installation.h"
#include "analyze/cmd/manual.h"
#include "analyze/cmd/program.h"
#include "analyze/engine/launched.h"
#include "analyze/serve.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A result whose output found no room is none. A command that failed has said why. */
static int output_status(int status)
{
    if ((fflush(stdout) || ferror(stdout)) && status != 1)
        die("cannot write to standard output: %s", strerror(errno));
    return status;
}

/*
 * The tool: a table of commands and the dispatch. Options, behaviour and messages of a command are in cmd/NAME.c.
 */

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const struct manual *manual;
    const char *summary; /* NULL = hidden: the tool itself starts it */
    bool is_done_once;   /* of the processes that a launcher starts together, by the first */
};

static int cmd_help(int argc, char **argv);
static int cmd_completion(int argc, char **argv);
static int cmd_version(int argc, char **argv);

enum { OPT_MAN = OPT_OTHER };
static const struct option_row help_rows[] = {{"man", OPT_MAN, NULL, "the same as a man page"}, {0}};
static const struct manual manual_help = {
    .synopsis = "[OPTIONS] [COMMAND]",
    .about = "Lists the commands, or the options of one.",
    .rows = help_rows,
};
static const struct manual manual_completion = {
    .synopsis = "bash|zsh",
    .about = "Prints what completes commands, options and their values in a shell, for a file that it reads at its "
             "start:\neval \"$(whywait completion bash)\"",
};
static const struct manual manual_version = {
    .synopsis = "[OPTIONS]",
    .about = "Prints the version, then which recorders are installed here, for which MPI, and which compilers count.",
};

static const struct command commands[] = {
    {"record", cmd_record, &manual_record, "run a rank of an MPI program and record it (inside mpirun)", false},
    {"report", cmd_report, &manual_report, "say which loops make the ranks wait", true},
    {"html", cmd_html, &manual_html, "write a page for a browser: causes, timeline, ranks, in one file", true},
    {"diff", cmd_diff, &manual_diff, "say which causes changed between runs, and what is noise", true},
    {"trend", cmd_trend, &manual_trend, "show runs over time: causes as bars, and where they changed", true},
    {"export", cmd_export, &manual_export, "write a run for other tools: tables, graphs, exact counts", true},
    {"list", cmd_list, &manual_list, "list the runs here: program, ranks, date, time, waiting, size", true},
    {"rm", cmd_rm, &manual_rm, "remove runs", true},
    {"annotate", cmd_annotate, &manual_annotate, "print the source with blame in the margin", true},
    {"check", cmd_check, &manual_check, "what can be recorded here, and why the rest cannot", false},
    {"cc", cmd_cc, &manual_cc, "print the compiler flags for exact counts", false},
    {"salvage", cmd_salvage, &manual_salvage, "make the archive of a run that did not end in order", true},
    {"loops", cmd_loops, &manual_loops, "print the loops found in a program", false},
    {"completion", cmd_completion, &manual_completion, "complete commands and options in bash or zsh", false},
    {"help", cmd_help, &manual_help, "this text, or the options of a command", false},
    {"version", cmd_version, &manual_version, "print the version, the recorders and the compilers that count", false},
    {"convert", cmd_convert, &manual_convert, NULL, false},
    {"join", cmd_join, &manual_join, NULL, false},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const struct command *command_find(const char *name)
{
    for (unsigned i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

_Noreturn static void die_of_command(const char *typed)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (unsigned i = 0; i < N_COMMANDS; i++)
        if (commands[i].summary && word_is_nearer(typed, commands[i].name, &least))
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
    for (unsigned i = 0; i < N_COMMANDS; i++)
        if (commands[i].summary)
            fprintf(out, "  %-11s%s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`whywait help COMMAND` lists the options of a command.\n");
}

static int cmd_help(int argc, char **argv)
{
    bool is_page = false;
    while (argc > 1 && option_next(argc, argv, &manual_help) != -1)
        is_page = true;
    if (argc < 2 || optind >= argc) {
        usage(stdout);
        return 0;
    }
    const struct command *command = command_find(argv[optind]);
    if (!command)
        die_of_command(argv[optind]);
    if (is_page)
        manual_print_page(command->name, command->manual, command->summary);
    else
        manual_print(command->name, command->manual);
    return 0;
}

static int cmd_completion(int argc, char **argv)
{
    while (option_next(argc, argv, &manual_completion) != -1)
        continue;
    struct manual_entry entries[N_COMMANDS];
    unsigned n = 0;
    for (unsigned i = 0; i < N_COMMANDS; i++)
        if (commands[i].summary)
            entries[n++] = (struct manual_entry){commands[i].name, commands[i].summary, commands[i].manual};
    const char *shell = optind < argc ? argv[optind] : "";
    if (!strcmp(shell, "bash"))
        manual_complete_bash(entries, n);
    else if (!strcmp(shell, "zsh"))
        manual_complete_zsh(entries, n);
    else
        die("completion for which shell? `whywait completion bash` or zsh");
    return 0;
}

static int cmd_version(int argc, char **argv)
{
    while (argc > 1 && option_next(argc, argv, &manual_version) != -1)
        continue;
    installation_print();
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
    const char *name = launcher_is_of_open_mpi() ? "whywait-mpi" : "whywait-mpi-mpich";
    if (!launched_are_several())
        return launcher_is_first_rank();
    if (!installation_find(name, program)) {
        if (launcher_is_first_rank())
            warn("%s is not installed with the tool, so it goes on without other nodes", name);
        return launcher_is_first_rank();
    }
    enum launched_role role = launched_meet(program);
    if (role == LAUNCHED_OTHER)
        serve_analyses();
    return role == LAUNCHED_FIRST;
}

static int run_once(const struct command *command, int argc, char **argv)
{
    int status = is_one_to_work() ? output_status(command->run(argc, argv)) : 0;
    engine_give_up(launched_engine());
    return status;
}

struct started {
    const struct command *command;
    int argc, status;
    char **argv;
};

static void *run_started(void *context)
{
    struct started *started = context;
    const struct command *command = started->command;
    started->status = command->is_done_once ? run_once(command, started->argc, started->argv)
                                            : output_status(command->run(started->argc, started->argv));
    return NULL;
}

/* Where the limit of stacks is below the usual one, a thread with the usual stack runs the command. So have threads
 * that it begins. The limit itself may be a hard one, and stays for programs that the tool starts. */
static int run_with_stack(struct started *started)
{
    enum { USUAL_BYTES = 8 << 20 };
    struct rlimit limit;
    pthread_attr_t usual;
    pthread_t thread;
    bool is_small = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < USUAL_BYTES, is_begun = false;
    if (is_small && pthread_attr_init(&usual) == 0) {
        is_begun = pthread_attr_setstacksize(&usual, USUAL_BYTES) == 0 && pthread_setattr_default_np(&usual) == 0 &&
                   pthread_create(&thread, NULL, run_started, started) == 0;
        pthread_attr_destroy(&usual);
    }
    if (is_begun)
        pthread_join(thread, NULL);
    else
        run_started(started);
    return started->status;
}

static void go_on(int number)
{
    (void)number;
}

/* A write beyond the limit of file sizes fails, and is told, instead of ending the tool. Programs that it starts get
 * back what was before. */
static void survive_size_limit(void)
{
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) || action.sa_handler != SIG_DFL)
        return;
    action = (struct sigaction){.sa_flags = SA_RESTART};
    action.sa_handler = go_on;
    sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
    survive_size_limit();
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
    return run_with_stack(&(struct started){.command = command, .argc = argc - 1, .argv = argv + 1});
}
