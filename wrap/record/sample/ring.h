/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer through which the kernel hands over the records of one perf event. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
    struct perf_event_mmap_page *page; /* NULL = closed */
    size_t data_bytes;
    uint64_t tail;
};

/* Opens `attributes` for a thread with a buffer of `data_bytes` (a power of two), halved down to one page where the
 * limit on locked memory demands it. 0, or an errno. No descriptor stays open. */
int ring_open(struct ring *ring, struct perf_event_attr *attributes, int32_t tid, size_t data_bytes);
void ring_close(struct ring *ring);
/* The oldest record, in place or copied to `scratch` (65536 bytes) where it wraps around; NULL = none. */
const struct perf_event_header *ring_peek(struct ring *ring, void *scratch);
void ring_pop(struct ring *ring, const struct perf_event_header *record);
enum { RING_SCRATCH_BYTES = 65536 };
