/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of commands. One table for each command says all: it is parsed by, and help, man page and completion show it.
 */
#pragma once
#include "analyze/cmd/manual.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For the output of a command on a terminal (terminal.h). */
#define TERMINAL_ROWS                                                                                                  \
    {"color", OPT_COLOR, "always|never|auto", "auto is the default: on a terminal, without NO_COLOR"},                 \
        {"no-pager", OPT_NO_PAGER, NULL, "not in $WHYWAIT_PAGER, $PAGER or less, however long it is"}

/* The next option of the command argv[0], -1 behind the last one. -h and --help print its help and end the tool. So
 * does an option that is not in the table or lacks its value, with one line that names the nearest. Of `record`, the
 * first word that is no option ends them. */
int option_next(int argc, char **argv, const struct manual *manual);
/* The one run behind the options, NULL when none is named; more end the tool. */
const char *option_run(int argc, char **argv);
/* The value of --option, at least `least`; dies with one line when it is no such number. */
uint32_t option_number(const char *option, const char *text, uint32_t least);
/* The same of a time in seconds, in ns. */
uint64_t option_seconds(const char *option, const char *text);
/* The value of --format: text or json; anything else ends the tool. */
bool option_is_json(const char *text);

/* Whether `known` may be meant by `typed`, and is nearer to it than *least, which is set to its distance. */
bool word_is_nearer(const char *typed, const char *known, size_t *least);
