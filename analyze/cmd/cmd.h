/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function a command, each in its own file. argv[0] is the command's name, argv[1] its first argument. The result
 * is the exit status of the tool: 0, 1 after one line on stderr, or STATUS_DEGRADED; what else there is, the help says
 * (record: the status of the recorded program).
 */
#pragma once
#include "analyze/out/page.h"
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The exit status when a result was printed, but of a run that lacks something that its analysis should rest on. */
enum { STATUS_DEGRADED = 2 };

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

/* Shared by the commands when they read their arguments. */

/* Columns of the terminal behind stdout, or 110. */
unsigned terminal_width(void);

/* The look of a command's text. Its options take these two rows, and what they parse into. */
#define TERMINAL_OPTIONS                                                                                               \
    {"color", required_argument, NULL, OPT_COLOR},                                                                     \
    {                                                                                                                  \
        "no-pager", no_argument, NULL, OPT_NO_PAGER                                                                    \
    }
#define TERMINAL_USAGE                                                                                                 \
    "  --color WHEN      always, never or auto (default): on a terminal, without\n"                                    \
    "                    NO_COLOR\n"                                                                                   \
    "  --no-pager        not in $WHYWAIT_PAGER, $PAGER or less, however long it is\n"
enum { OPT_COLOR = 1000, OPT_NO_PAGER };
struct terminal_options {
    enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
    bool no_pager;
};
/* True when the option was one of the rows above. */
bool terminal_option(struct terminal_options *options, int option);
/* Colour and bars; before the pager begins. */
struct look terminal_look(const struct terminal_options *options);
/*
 * As git does it: on a terminal, what is printed from now on goes through a pager, which shows short texts as they are.
 * Returns what pager_end takes, before the tool ends. It waits until the pager is left.
 */
int pager_begin(const struct terminal_options *options);
void pager_end(int pager);

/* The next option (its `val`), -1 behind the last one. -h and --help print the usage and end the tool. An option that
 * is not in the table ends it with one line that names the nearest one, as does one that lacks its value. Of `record`,
 * the first word that is no option ends them. */
int option_next(int argc, char **argv, const struct option *options, const char *usage);
/* The one run behind the options, NULL when none is named; more end the tool. */
const char *option_run(int argc, char **argv);
/* The value of --option, at least `least`; dies with one line when it is no such number. */
uint32_t option_number(const char *option, const char *text, uint32_t least);
/* The same of a time in seconds, in ns. */
uint64_t option_seconds(const char *option, const char *text);
/* The value of --format: text or json; anything else ends the tool. */
bool option_is_json(const char *text);

/* The files that were built or installed together with this tool. */

/* Looks for a library of ours from where the tool itself lies. Returns false, and path is empty, when it is not there.
 */
bool installation_find(const char *name, char path[PATH_MAX]);
