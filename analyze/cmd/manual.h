/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands and their options as people and shells read them: help, man pages, completion. All to standard output. */
#pragma once
#include "analyze/cmd/options.h"

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
