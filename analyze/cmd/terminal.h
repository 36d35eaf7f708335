/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal that the text of a command goes to: its width, its look, the pager. */
#pragma once
#include "analyze/out/page.h"
#include <stdbool.h>

/* Columns of the terminal behind stdout, or 110. */
unsigned terminal_width(void);

/* Of TERMINAL_ROWS (options.h). */
struct terminal_options {
    enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
    bool no_pager;
};
/* True when the option was one of these rows. */
bool terminal_option(struct terminal_options *options, int option);
/* Colour and bars; before the pager begins. */
struct look terminal_look(const struct terminal_options *options);
/*
 * As git does it: on a terminal, what is printed from now on goes through a pager, which shows short texts as they are.
 * Returns what pager_end takes, before the tool ends. It waits until the pager is left.
 */
int pager_begin(const struct terminal_options *options);
void pager_end(int pager);
