/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool's pages go back to the disk while it is converted, so that spool and archive need hardly more room than the
 * spool alone. Nothing is lost if the conversion is killed: what is given back was written before to a file beside the
 * spool file, in few bytes: of a call only what differs from the call before it with the same stack. Readers of the
 * spool file read that first (spool.h). The file is removed with the spool.
 *
 * The file is blocks, each a struct given_block and its bytes. A block that is not whole does not count, since its
 * pages are still there. The first is the spool file's header, as it is. In the others every record is 0, the record as
 * it is. A call: 0x80 | words that differ, place of the call before in the table, entry since the end of the last call,
 * duration, words. Times take four bytes, or two where the place has 0x80. With 0x40 as well: behind them by how much
 * the tag has grown, when nothing else differs. One unit: 0x40 | words that differ, words; since the last record of one
 * unit.
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/format.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct given_block {
    uint32_t magic, raw_bytes, bytes;
};

struct given_writer {
    const char *path;        /* of the spool file */
    int fd, spool_fd;        /* -1: nothing is kept and given back */
    bool is_named;           /* the name of the file beside it is on the disk */
    uint64_t taken, punched; /* places in the spool file: up to there it was taken, given back */
    int64_t left_bytes;      /* that the disk is still to be saved */
    uint8_t *blocks;         /* of what was taken since: they are written before it is given back */
    size_t n, cap;
};

/* The spool file `path`, open for reading, will be given back behind its header (WW_HEADER_BYTES) until save_bytes are
 * saved by that. `path` stays the caller's, until given_end. */
void given_begin(struct given_writer *writer, const char *path, const void *header, uint64_t save_bytes);
/* The n bytes of the spool file from `place` on have been read: whole records, behind those of the call before. */
void given_take(struct given_writer *writer, uint64_t place, const uint8_t *records, size_t n);
void given_end(struct given_writer *writer);

/* Opens the file beside `path`; -1 = there is none. */
int given_open(const char *path);
/* False where another version of the tool has kept in it what it gave back: its blocks are numbered otherwise. */
bool given_is_readable(int fd);
/* The header of the spool file, right after given_open; false = nothing was given back. */
bool given_read_header(int fd, void *header);
/* The next block as it stood in the spool file; false at the end. */
bool given_read(int fd, void **raw, size_t *n, size_t *cap);
/* The file beside the spool file, to be freed. */
char *given_path(const char *path);
