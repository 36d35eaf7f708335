/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that read an archive for the one that analyses it. Locations are dealt out in turn. Each process decodes
 * its own, merges them by corrected time, and writes the events as on a tape into memory that it shares with the one
 * that asked. To merge these few streams is all that is left to do there. The order is that of one reader, and so is
 * everything that follows from it.
 *
 * They are forked where a reading begins: definitions and corrected clocks are there already, and nothing has to be
 * sent. One that reads on another node (nodes.h) has here a process that puts its blocks into that memory (far.h). If
 * that memory holds a whole reading, the next one comes from there. Otherwise they stay and decode once more. They end
 * when nobody listens any more. When one dies, the reading fails.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than the one that they read for can keep up with. */
enum { HELPERS_MOST = 15 };

struct archive_reader;
struct event_block;

struct helpers {
    struct helper *at;
    uint32_t n;                 /* 0 = there are none: this process reads */
    struct event_block *merged; /* 2 n - 1: what each has ready, and what comes of merging two at a time */
};

/* Begins a reading by at most trace->n_helpers processes, and HELPERS_MOST. False when there are none, or none can be
 * had. */
bool helpers_rewind(struct helpers *helpers, struct archive_reader *archive);
/* As a source's read. */
void helpers_read(struct helpers *helpers, struct archive_reader *archive, struct event_block *block);
void helpers_end(struct helpers *helpers);
/* In a process on another node (nodes.h): reads for the first one as often as that asks, and returns when it has ended.
 */
void helpers_serve(void);
