/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory with a descriptor holds what a process gives in an exchange, one parcel for each process. Others have
 * the descriptor too, and read there once they know that all is written.
 */
#pragma once
#include "analyze/engine/engine.h"

struct store {
    int fd;   /* -1 = there is none */
    void *at; /* mapped, or NULL */
    size_t size_bytes;
};

/* At the begin of the memory, one for each process. */
struct store_place {
    uint64_t offset, n_bytes; /* n_bytes UINT64_MAX: PARCEL_LOST */
};

bool store_create(struct store *store);
void store_release(struct store *store);
/* Writes n parcels in place of what was there; false where there is no memory. The one with the number `but` stays
 * where it is. */
bool store_write(struct store *store, const struct parcel *parcels, uint32_t n, uint32_t but);
/* Until store_leave: the parcel with that number. */
bool store_read(struct store *store, uint32_t number, struct parcel *parcel);
/* Room for n parcels of these sizes, in place of what was there; they may be written until store_leave. */
bool store_prepare(struct store *store, const uint64_t *sizes_bytes, uint32_t n);
void store_leave(struct store *store);
