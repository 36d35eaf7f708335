/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline is filled through the replay's time_sink in the second reading, with atoms as parts; once the causes are
 * known, atoms become kinds.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/steps/numbers.h"
#include "analyze/timeline/timeline.h"
#include "analyze/waits/sink.h"

/* Stands for waiting among the atoms, which it is none of. */
enum { ATOM_WAITING = UINT32_MAX };

/* The site of a cell until timeline_finish: the place of the call and the kind of wait. */
enum { TIMELINE_KIND_BITS = 5 };
_Static_assert((int)WAIT_N_KINDS <= 1 << TIMELINE_KIND_BITS, "a kind of wait has room");
static inline uint32_t timeline_site(uint32_t site, enum wait_kind kind)
{
    return site << TIMELINE_KIND_BITS | kind;
}

struct time_sink timeline_sink(struct timeline *timeline, uint32_t n_locations);
/* That of a section is given away, and added to that of the run, behind those before. The next one begins empty. */
void timeline_clear(struct timeline *timeline);
void timeline_pack(const struct timeline *timeline, struct packing *packing);
void timeline_unpack(struct timeline *timeline, struct unpacking *unpacking, const struct numbers *numbers);
struct timeline_finish_input {
    struct pools *pools;
    const struct classes *classes;
    const struct measures *measures;
    const struct cause_times *acting;
    const struct trace *trace;
};
/* After the last event and the causes. */
void timeline_finish(struct timeline *timeline, const struct timeline_finish_input *input);
