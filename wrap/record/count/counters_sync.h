/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact counts at synchronisations; see counters.h for what is taken. */
#pragma once
#include <stdint.h>

/* The value for record_at_sync: appends the calling thread's counts to its spool. Nothing in programs without counters,
 * but for a look at the loader every so many calls. */
void counters_sync(uint16_t call_id, const void *return_address, const void *frame_address);

/* The value for record_at_callback. */
void counters_callback(void);
