/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run that is still going, seen from beside it: its spool is copied as it stands, and the copy is a run like one that
 * was cut off there. Nothing is written into the run, and nobody waits for whoever looks.
 */
#pragma once

enum live_state {
    LIVE_NOT_YET, /* nothing has been recorded */
    LIVE_GOING,
    LIVE_OVER, /* it has an archive, or none of the processes that record it is there any more */
};
enum live_state live_look(const char *run);
/*
 * A copy of the run in a directory of its own, under $TMPDIR or /tmp: the path of the run there, to be given to
 * live_drop. NULL after error().
 */
char *live_copy(const char *run);
/* Removes the copy; NULL is fine. */
void live_drop(char *copy);
