/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool: a table of commands and the dispatch. Options, behaviour and messages of a command are in cmd/NAME.c.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
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
    if (command->is_done_once && !launcher_is_first_rank())
        return 0;
    int status = command->run(argc - 1, argv + 1);
    if ((fflush(stdout) || ferror(stdout)) && status == 0)
        die("cannot write to standard output: %s", strerror(errno));
    return status;
}
