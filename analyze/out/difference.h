/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison of two sides, as text, as JSON (docs/json.md) and as a short table in Markdown. */
#pragma once
#include "analyze/compare/gate.h"
#include "analyze/out/page.h"
#include <stdio.h>

struct difference_options {
    unsigned n_top; /* causes and exact counts shown; 0 = all */
    unsigned width; /* columns of the text */
    struct look look;
    bool parts; /* show the parts of causes */
};

void difference_print(FILE *out, const struct comparison *comparison, const struct difference_options *options);
void difference_print_markdown(FILE *out, const struct comparison *comparison,
                               const struct difference_options *options);
/* Returns 0, or -1 after error(). */
int difference_print_json(FILE *out, const struct comparison *comparison);
/* JSON's name of a group of rows. */
const char *difference_group_field(enum compare_group group);

/* One line for each increase beyond the limit. */
void difference_print_hits(FILE *out, const gate_hits *hits);

/* A sentence if runs of one side are of different programs, else NULL; and it as a warning, where it is one. */
const char *difference_programs(struct arena *arena, const struct comparison *comparison);
void difference_warn_of_programs(struct page *page, const char *programs);
/* Other differences between the runs, each once, in whole sentences; NULL behind the last. */
const char **difference_notes(struct arena *arena, const struct comparison *comparison);
/* "loop jacobi.c:58-63 in relax(): 14 -> 1 trips each time it is entered, on rank 1" */
const char *difference_fact(struct arena *arena, const struct compare_fact *fact);
/* The name of a row; indented by its depth when `indent` says so. */
const char *difference_row_name(struct arena *arena, const struct compare_row *row, bool indent);
/* The shares in the run time's difference. */
const char *difference_share_name(struct arena *arena, const struct comparison *comparison,
                                  const struct compare_share *share);
/* What there is to say first; NULL: nothing. */
const char *difference_news(struct arena *arena, const struct comparison *comparison);
