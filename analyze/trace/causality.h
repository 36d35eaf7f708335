/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cause before effect, checked over a whole archive. A message is received after it was sent, a collective is left
 * after those entered it on whom it depends. Locations are replayed each at its own pace, so that causes are always
 * known before their effects, whatever the clocks say.
 */
#pragma once
#include "analyze/trace/clock.h"
#include "analyze/trace/locations.h"

struct causality {
    uint64_t n_violations, largest_violation_ns; /* with the present correction */
    uint64_t n_records, n_regions; /* collective operations as records, and as regions that are named like one */
    uint64_t n_floors;             /* repaired by them */
    struct clock_pairs *pairs;     /* takes bounds between processes (clocks_align), or NULL */
    struct clock_steps *steps;     /* takes the bounds with process 0, or NULL */
    uint64_t first_ns, last_ns;    /* of all events, relative to the origin */
};

/*
 * The same while events are read in order of time: as long as every cause comes before its effect there, the clocks
 * hold. This costs no reading. If they do not hold, the replay says what to do.
 */
struct causality_watch *causality_watch_begin(struct archive_reader *archive);
/* The next events. False from the first effect on whose cause has not come. */
bool causality_watch_feed(struct causality_watch *watch, const struct event_block *block);
/* It fails: what was read did not begin where causes and effects are all before or all behind. */
void causality_watch_fail(struct causality_watch *watch);
/* The end: true when all causes came before their effects, and what the replay would have found. Releases it.
 * `goes_on`: more events follow, of which the last ones that were seen may be effects. Whoever reads on sees them, too.
 */
bool causality_watch_end(struct causality_watch *watch, bool goes_on, struct causality *result);
/* Of all that was read: collectives were seen, if there are any. */
bool causality_has_collectives(const struct archive_reader *archive, uint64_t n_records, uint64_t n_regions);
/* Findings about clocks that hold, or that have been repaired: how well they are known, and when the run ends. */
void clocks_take(struct archive_reader *archive, const struct causality *found);
/* Decides what to do about the clocks and does it. With `watch` the first reading may find out whether they hold: then
 * *watch is to be fed. 0, or -1 after error(). */
int clocks_prepare(struct archive_reader *archive, struct causality_watch **watch);
/* Checks them by a reading, and repairs them where they need it. 0, or -1 after error(). */
int clocks_check(struct archive_reader *archive);
