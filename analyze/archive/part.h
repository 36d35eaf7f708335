/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of an archive that one rank's conversion leaves for the join, in RUNDIR/parts/R (complete once it has that
 * name; R.tmp before):
 *
 *   traces/LOCATION.evt    events, with local ids (archive.h)
 *   R-T.ev, R-T.sm         a spool header and the records that define things, then the records below
 *
 * The definition files are spool files in form, so that one reader reads both.
 */
#pragma once
#include "wrap/format.h"

enum part_type {
    PART_LOCATION = 0x7001, /* struct part_location: the last record of a file */
    PART_GROUP,             /* struct part_group: a PSCW group */
    PART_COUNTER,           /* struct part_counter */
    PART_BEFORE,            /* struct part_before */
    PART_START,             /* struct part_start, its positions and its counts (starts.h) */
    PART_USED,              /* struct part_used: a call, communicator, window or file that events refer to */
};

struct part_location {
    struct ww_head head;
    uint32_t has_pending; /* ended inside a call, or polling */
    uint64_t n_events;    /* 0 in a file of samples: its events are counted with the thread */
    uint64_t first_ns, last_ns;
    uint64_t first_call_ns; /* 0 = none */
    uint64_t lost_ns;       /* switches were lost for so long, outside MPI */
    uint64_t open_ns;       /* and so much of it is not known to be computing or not */
    uint64_t begin_ns;      /* of a ring that has lost records: it is complete from here on; 0 = it has lost none */
    uint32_t n_windows, n_ended; /* of the process (record --window): begun, and ended before the run */
    uint64_t windows_ns;         /* how long these took */
    uint32_t is_damaged;         /* some records of the spool file were not sound, or it was cut off */
};

struct part_group {
    struct ww_head head;
    uint32_t id, win, n;
    int32_t rank[]; /* of the window's communicator */
};

struct part_counter {
    struct ww_head head;
    uint32_t id, counters, point, what;
};

/* So many collectives on a communicator are before the first event. */
struct part_before {
    struct ww_head head;
    uint32_t comm, is_non_blocking, n;
};

struct part_start {
    struct ww_head head;
    uint32_t n_positions, n_counts, zero;
    uint64_t known_ns;
};

enum part_used_kind { PART_USED_CALL = 1, PART_USED_COMM, PART_USED_WIN, PART_USED_FILE };
struct part_used {
    struct ww_head head;
    uint32_t kind, id;
};
