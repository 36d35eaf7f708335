/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of a perf event: opened, and emptied record by record. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The buffer through which the kernel hands over the records of one event. */
struct ring {
    struct perf_event_mmap_page *page; /* NULL = closed */
    size_t data_bytes;
    uint64_t tail;
    uint64_t id; /* of the event, */
    int fd;      /* by which its period can be changed; -1 = not kept */
};

/* Of a thread (0 = the calling one), with a buffer of `data_bytes`, a power of two and a page at least, halved where
 * the limit on locked memory demands it. 0, or an errno. */
int ring_open(struct ring *ring, struct perf_event_attr *attributes, int32_t tid, size_t data_bytes);
/* From now on, and the period under way begins anew. False when the event's descriptor was not kept, or is the
 * program's by now. */
bool ring_change_period(struct ring *ring, uint64_t period_ns);
int ring_descriptor(const struct ring *ring); /* -1: likewise */
void ring_close(struct ring *ring);
/* The oldest record, in place or copied to `room` (RING_SCRATCH_BYTES) where it wraps around; NULL = none. */
enum { RING_SCRATCH_BYTES = 65536 };
const struct perf_event_header *ring_peek(struct ring *ring, void *room);
void ring_pop(struct ring *ring, const struct perf_event_header *record);
