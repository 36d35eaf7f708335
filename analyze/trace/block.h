/* SPDX-License-Identifier: BSD-3-Clause */
/* A portion of events that one process hands over to another, written as on a tape. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
    uint64_t n_records; /* that were read for these events */
    size_t n_bytes;
    bool is_last;     /* of this reading */
    uint32_t damaged; /* after these events, the records of this location cannot be read on; TRACE_NONE = of none */
    uint64_t damaged_raw_ns;
    unsigned char bytes[];
};
