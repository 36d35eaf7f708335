/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The point where ranks part: why the late side of a cause executes more in it than the others, each time that it is
 * entered.
 *
 * The counts of both sides are solved once more, with the edges of the graphs (flows.h). A cause is a loop or a
 * routine, of which compilers may have made several, in several routines. The one in which the late side did most is
 * looked at. Its work is that of its blocks (executions.h), with that of the counted routines they call, and as much as
 * calls weigh that are not counted. Four decisions can make it more for each entry:
 *
 *     trips       a loop goes round more often each time it is entered
 *     branch      control goes another way
 *     recursion   a routine calls itself more often for each call from outside
 *     callee      a routine does more in each call: then the same is asked of that one
 *
 * A decision is worth the work that the late side would spare if it decided as the others do. Trips or the probability
 * of the way are theirs then, and everything inside stays. Decisions contain each other: more iterations make more
 * executions of all that is inside. So the outermost one is taken that is worth at least half of the difference.
 *
 * If some of the others decide it as the late side does, it parts nobody from those. Then the outermost one is taken
 * that parts all others and is worth no less, if there is one. Of more than 64 others, the first 64 are asked.
 *
 * If the work for each entry is the same, the cause is entered more often. Then the loop around it is asked, its
 * routine, and the caller that calls it more often. Only the work of the cause itself counts there. If all ranks are
 * late at times, pieces of the run are compared, from one wait to the next. A loop with such a wait in it was entered
 * before the piece began. More iterations of it in the piece say that ranks take turns, and decide nothing.
 *
 * Cost: two solutions for each cause with 1 % or more of the waiting that is not the machine's. A branch costs one
 * search of its routine, and each rank that is asked one solution of the routine that decides.
 */
#pragma once
#include "analyze/blame/blame.h"

/* `weighed`: how much calls weigh that are not counted. */
void partings_add_to_causes(struct analysis *analysis, const struct measures *measures, struct executions *executions,
                            const struct work *weighed);
