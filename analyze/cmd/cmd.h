/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function a command, each in its own file. argv[0] is the command's name, argv[1] its first argument; the result
 * is the exit status of the tool: 0, or 1 after one line on stderr (record: the status of the recorded program).
 */
#pragma once
#include <stdbool.h>

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_rm(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_html(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_trend(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_cc(int argc, char **argv);
int cmd_salvage(int argc, char **argv);
int cmd_loops(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* For `whywait help`: one row a command; hidden ones are started by the tool itself. */
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *synopsis; /* NULL = hidden */
    const char *summary;
    bool is_done_once; /* of the processes that a launcher starts together, by the first */
};
extern const struct command commands[];
extern const unsigned n_commands;
