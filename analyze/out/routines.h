/* SPDX-License-Identifier: BSD-3-Clause */
/* The routine profile as text: a table of routines, gprof's graph of them, or one routine with its callers and callees.
 */
#pragma once
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "analyze/out/report.h"

/* The items of each list that are shown unless everything is asked for: about two screens in all. */
enum { ROUTINES_SHOWN = 20, ENTRIES_SHOWN = 8, NAMESAKES_SHOWN = 3, ARCS_SHOWN = 15, ENTRY_ARCS_SHOWN = 4 };

enum routines_order { ROUTINES_BY_TOTAL, ROUTINES_BY_SELF, ROUTINES_BY_CALLS, ROUTINES_BY_NAME };
struct routines_options {
    struct report_options text; /* n_top: routines shown, 0 = all, with all their callers and callees */
    enum routines_order order;
    const char *match;         /* only routines whose names contain it; NULL = all */
    const char *below, *above; /* only those that this routine calls, directly or not. Only those that lead to it */
};

/* profile: analysis->profile, analysis->blame_profile or one of bytes. Both return 0, or -1 after error() when options
 * name a routine that was not seen. */
int report_routines(FILE *out, const struct analysis *analysis, const struct profile *profile,
                    const struct routines_options *options);
/* An entry for each routine, with its callers above it and what it calls below it, and one for each cycle as a whole.
 */
int report_routine_graph(FILE *out, const struct analysis *analysis, const struct profile *profile,
                         const struct routines_options *options);
/* The routine of that name, also without its namespaces; of several, each. Returns 0, or -1 after error() when there is
 * none. */
int report_routine(FILE *out, const struct analysis *analysis, const struct profile *profile, const char *name,
                   const struct routines_options *options);

/* Shared by list and graph. */

struct routine_row {
    uint32_t number;
    bool is_cycle; /* number of a cycle as a whole, else of a routine */
};
/* Those that options choose, in their order; cycles as wholes stand before their members where they are wanted. Returns
 * how many; -1 after error(). */
int routines_choose(struct arena *arena, const struct profile *profile, const struct routines_options *options,
                    bool with_cycles, struct routine_row **rows);
/* Names of all, in the book's arena: without long template arguments where instances of a template read apart then. */
const char *const *routines_names(const struct label_book *book, const struct profile *profile);
/* "relax() jacobi.c:38 <cycle 1>" */
const char *routines_label(const struct label_book *book, const struct profile *profile, const char *const *names,
                           uint32_t number);
/* Of n items at most so many, or all on request. */
size_t routines_n_shown(const struct routines_options *options, size_t n, size_t most);
/* A time, or bytes; "-" for none. */
const char *routines_amount(struct arena *arena, const struct profile *profile, double ns);
const char *routines_share(struct arena *arena, const struct profile *profile, double ns);
/* The subject of the profile, and its size. */
void routines_print_head(struct page *page, const struct analysis *analysis, const struct profile *profile);
/* Which routines were never called, as far as that is known. */
void routines_print_uncalled(struct page *page, const struct label_book *book);
