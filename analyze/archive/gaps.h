/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where switches of a thread were lost, its CPU time bounds what it computed.
 *
 * A WW_GAP says for how long a thread was on a CPU between two times, not when. Most of it may have passed inside MPI
 * calls, where nobody asks. So the gap's time outside MPI is summed up; where the thread was on a CPU for less, it
 * cannot have computed all that time, and each part of it gets its share off the CPU. That is written as switches,
 * between the samples of the gap, which were taken on a CPU. Where the CPU time covers all of it, nothing is said.
 * Where switches are not recorded, all time off the CPU is told like that, and none of it counts as lost.
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/format.h"

struct gaps {
    VEC(struct ww_switch) switches; /* in order of time */
    uint64_t outside_ns;            /* length of all gaps, without MPI calls */
    uint64_t open_ns; /* of which so much was computing or was not: the CPU time may have passed inside MPI as well */
};
/* From the two files of a thread; of one that made no MPI call there is one only. A damaged file adds nothing. Returns
 * 0, or SPOOL_UNREAD after error() where the system could not read. */
int gaps_find(struct gaps *gaps, const char *samples_path, const char *events_path);
void gaps_release(struct gaps *gaps);
