/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of a cause are late: by their blame, by their time in it, and by their work there. */
#pragma once
#include "analyze/result/result.h"

/* By falling blame, then by rank. */
void late_sort(struct cause_rank *ranks, uint32_t n);
/* By falling time, then by rank. */
void late_sort_by_time(struct cause_rank *ranks, uint32_t n);
/* Of ranks so sorted, the fewest that carry half of the blame, and each that carries at least half as much as the last
 * of them. Others waited n_times in all. Chance alone may make one rank late more often than another: as much is
 * allowed for. INFINITY: no chance. */
uint32_t late_count(const struct cause_rank *ranks, uint32_t n, double waiting_ns, double n_times);
/* Of ranks that are late together, the last one by a hair carries the blame; of those that wait in a ring or a grid
 * most never meet the others. So each that spends as long in it is late as well, and is compared with no one. */
void late_add_as_long(struct cause *cause, struct arena *arena);
/* A rank that does half the work of the one first to blame, or less, cannot be late for more work as often: it lacked a
 * CPU at times. Exact counts tell, once the kind is known. So does the time that threads worked, once that is known,
 * where a process's time is not theirs. */
void late_leave_out_less(struct cause *cause);
/* Late ranks are compared with those that have a part in the cause. One that hands out work never comes to it, and does
 * not say how much of it is usual. If no other rank has a part, late ranks are compared with all. A rank with less than
 * the floor has none. */
struct part_floor {
    double executions, ns;
};
struct part_floor late_part_floor(const struct cause *cause);
bool late_has_part(const struct part_floor *floor, const struct cause_rank *rank);
/* True where the others come to next to nothing of it, as far as samples tell: by how much longer the late ones take is
 * no question then. */
bool late_is_alone(const struct cause *cause);
