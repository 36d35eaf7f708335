/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands share in reading their arguments. argv[0] is the command's name. */
#pragma once
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* Columns of the terminal behind stdout, or 110. */
unsigned terminal_width(void);
/* The next option (its `val`), -1 behind the last one. 'h' prints the usage and ends the tool; an option that is not in
 * the table, or lacks its value, ends it with one line. */
int option_next(int argc, char **argv, const struct option *options, const char *usage);
/* The one run behind the options, NULL when none is named; more end the tool. */
const char *option_run(int argc, char **argv);
/* The value of --option, at least `least`; dies with one line when it is no such number. */
uint32_t option_number(const char *option, const char *text, uint32_t least);
/* The value of --format: text or json; anything else ends the tool. */
bool option_is_json(const char *text);
