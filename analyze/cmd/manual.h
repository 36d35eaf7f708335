/* SPDX-License-Identifier: BSD-3-Clause */
/* A command and its options in a table, and as people and shells read it: help, man pages, completion. All to standard
 * output. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct option_row {
    const char *name;  /* without dashes; NULL: `value` is one that the option above takes */
    int val;           /* returned by option_next; a letter is the short option as well */
    const char *value; /* a word in capitals, or the values between bars (text|json); [=S]: optional; NULL: none */
    const char *help;
};

/* A command as `whywait help` and its man page show it. */
struct manual {
    const char *synopsis; /* behind the command's name; lines are parted by \n; NULL: the command is hidden */
    const char *about;
    const struct option_row *rows; /* up to an empty one; NULL = none but --help */
    const char *after;             /* a paragraph behind the options, or NULL */
};

/* Values of rows that have no letter. */
enum { OPT_OTHER = 256, OPT_COLOR = 1000, OPT_NO_PAGER };

/* `whywait help NAME`, in 80 columns. */
void manual_print(const char *name, const struct manual *manual);
/* whywait-NAME(1), in the macros of man(7). */
void manual_print_page(const char *name, const struct manual *manual, const char *summary);

/* A command for completion. */
struct manual_entry {
    const char *name, *summary;
    const struct manual *manual;
};
void manual_complete_bash(const struct manual_entry *entries, unsigned n);
void manual_complete_zsh(const struct manual_entry *entries, unsigned n);
