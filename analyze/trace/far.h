/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a process that reads on another node, and the one here that puts its blocks where those of a process
 * of this node would be (helpers.c). */
#pragma once
#include "analyze/trace/block.h"
#include "analyze/trace/tape.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive_reader;

/* The part to read, and how. Clocks come with it: only who analyses knows what was found out about them. */
struct far_task {
    uint64_t block_bytes;
    int64_t origin_ns;
    uint32_t dealt, n_dealt; /* every n_dealt-th location, from this one on */
    uint32_t most_bins, n_kept;
    bool synthesise;
};
/* From an archive, and into the same one elsewhere. False when the other side has gone. */
bool far_send_task(int socket, struct far_task task, const struct archive_reader *archive);
bool far_receive_task(int socket, struct far_task *task, struct archive_reader *archive);

/* A block, and what its code has more than *n_shapes, which is what the other side knows. */
bool far_send_block(int socket, const struct block *block, const struct tape_code *code, uint32_t *n_shapes);
/* Into `size_bytes` in all. */
bool far_receive_block(int socket, struct block *block, size_t size_bytes, struct tape_code *code);
