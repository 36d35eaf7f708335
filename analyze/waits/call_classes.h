/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a call by what it is: the shape of a collective, and whether data moves in it. */
#pragma once
#include "analyze/result/result.h"

enum coll_pattern { PATTERN_NONE, PATTERN_ALL, PATTERN_FROM_ROOT, PATTERN_TO_ROOT, PATTERN_PREFIX, PATTERN_NEIGHBORS };
enum coll_pattern coll_pattern(enum ww_coll coll);
/* True when nobody can have the result before all members have taken part. */
bool coll_needs_all(enum ww_coll coll);
/* True when a member needs those before it only. */
bool coll_is_prefix(enum ww_coll coll);
/* The kind of time inside a call that is not waiting. */
enum step_state class_state(enum ww_class class);
/* True when the call moves data: between ranks, or between buffers. Others only look, or set something up. */
bool region_moves_data(const struct trace_region *region);
/* True when the call puts data to another rank's memory, gets it from there, or both. */
bool class_is_onesided_transfer(enum ww_class class);
/* True when the call begins or ends an epoch in which others do: data moves in it where the run has such calls. */
bool class_completes_onesided(enum ww_class class);
/* True when the call may complete a wait that began with polls or a probe. */
bool class_may_follow_polls(enum ww_class class);
