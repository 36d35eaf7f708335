/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drilling down: what the views of one cause (drill.c) and of the calls at which ranks wait (drill_sites.c) share. Each
 * view has about two screens: of every list the largest, and how many more there are. Every number of the overview is
 * found again here with its parts.
 */
#pragma once
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "analyze/out/report.h"

enum { DRILL_INDENT = 2, DRILL_HANG = 4, DRILL_DEEP = 6 };

struct drill {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
    const struct report_options *options;
    bool is_told[WAIT_N_KINDS]; /* what this kind of wait means */
};

void drill_init(struct drill *drill, FILE *out, const struct analysis *analysis, const struct report_options *options);
/* Of n items at most so many, or all on request. */
uint32_t drill_n_shown(const struct drill *drill, uint32_t n, uint32_t most);
/* "and 12 more ranks (--all)" */
void drill_say_more(struct drill *drill, size_t indent, uint32_t n_left, const char *one, const char *many);
/* The site's classes with their steps, the largest first; `at`: only those in which a cause has a part. */
void drill_classes(struct drill *drill, const struct wait_site *site, const struct cause_site *at);
/* "early reduce: the root needs data from all", once in a view. */
void drill_wait_kind(struct drill *drill, enum wait_kind kind);
/* The messages of a call, and their partners. */
void drill_exchange(struct drill *drill, const struct site_exchange *exchange);
