/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of this node that read an archive for the one that analyses it. Locations are dealt out in turn; each
 * process decodes its own, merges them by corrected time, and leaves the events in memory that it shares with the one
 * that asked. To merge these few streams is all that is left to do there: the order is that of one reader, and so is
 * everything that follows from it.
 *
 * They are forked where a reading begins: definitions and corrected clocks are there already, and nothing has to be
 * sent. They stay for the next reading, each with a tape of its own, where the one before was read to its end. They end
 * when nobody listens any more; when one dies, the reading fails.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

struct archive_reader;
struct event;
struct event_block;
struct trace;

struct helpers {
    struct helper *at;
    uint32_t n;             /* 0 = there are none: this process reads */
    struct heap heap;       /* the next event of each */
    struct helper *used_up; /* whose block was handed out to its end: it is given back first; NULL = none is */
};

/* Begins a reading by at most trace->n_helpers processes. False when there are none, or none can be had. */
bool helpers_rewind(struct archive_reader *archive);
/* As a source's read. */
void helpers_read(struct archive_reader *archive, struct event_block *block);
void helpers_end(struct helpers *helpers);
