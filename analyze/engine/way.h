/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways by which the processes of an engine reach each other: forked ones (forked.c), those of a launcher (launched.c).
 */
#pragma once
struct engine;
struct parcel;

struct engine_way {
    void (*exchange)(struct engine *engine, const struct parcel *give, struct parcel *take);
    void (*tick)(struct engine *engine);
    /* In number 0: ends the others, and releases itself. */
    void (*end)(struct engine *engine);
};

/* A process may be silent for so long. */
unsigned way_patience_s(void);
