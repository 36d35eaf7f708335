/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads spool files record by record, and lists those of a run. Nothing in a file is trusted: lengths and counts are
 * checked before a record is handed out, so that users may read what its fields promise.
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/format.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool_slot {
    uint64_t place, number, begin_ns; /* place: in slot_bytes behind the header */
    bool has_records;                 /* not definitions */
};

struct spool_reader {
    char *path;
    struct ww_header header; /* checked; strings end in zero */
    int fd;
    uint8_t *buffer;
    size_t at, filled, cap;
    uint64_t place; /* of the buffer's first byte in the file; not of a ring */
    /* What was given back to the disk (given.h). */
    int given_fd; /* -1: all that was is read */
    struct {
        void *at;
        size_t next, n, cap;
    } given;
    struct given_writer *keep;    /* what is read is given back; NULL = it is not */
    uint64_t n_calls;             /* records of calls handed out */
    uint64_t n_bad;               /* records skipped because their contents contradict their length */
    VEC(struct spool_slot) slots; /* of a ring, in order; empty = the file is none */
    uint64_t read_at;  /* of a ring: as if the slots stood one after the other; what is in the buffer is before it */
    uint64_t begin_ns; /* a ring that has lost records is complete from here on; 0 = it has lost none */
    bool is_damaged;   /* the record at the end makes no sense: what follows is lost */
    int why;           /* errno of the system where it could not read: what follows is still there; 0 = it could */
};

/* Opens a file and checks its header. Returns 0; after error() -1, or SPOOL_UNREAD where the system could not read,
 * which it may another time. Close in all cases. */
enum { SPOOL_UNREAD = -2 };
int spool_reader_open(struct spool_reader *reader, const char *path);
/* The same without a message. */
int spool_reader_open_quietly(struct spool_reader *reader, const char *path);
/* The next record, whatever it is. */
const struct ww_head *spool_reader_next_any(struct spool_reader *reader);
/* The next record, or NULL at the end. Valid until the next call. Record types of later versions are handed out too. */
static inline const struct ww_head *spool_reader_next(struct spool_reader *reader)
{
    if (reader->filled - reader->at >= sizeof(struct ww_call)) { /* most records are calls */
        const struct ww_head *head = (const void *)(reader->buffer + reader->at);
        if (head->type == WW_CALL && head->units == sizeof(struct ww_call) / WW_UNIT) {
            reader->at += sizeof(struct ww_call);
            reader->n_calls++;
            return head;
        }
    }
    return spool_reader_next_any(reader);
}
/* At the end: 0, or SPOOL_UNREAD after error() where the system could not read all of it. */
int spool_reader_status(const struct spool_reader *reader);
/* At the end: were records damaged, or is the file shorter than what was written? */
bool spool_reader_lacks_records(const struct spool_reader *reader);
/* From now on, what was read of the file is given back to the disk: before the first record is read. */
void spool_reader_give_back(struct spool_reader *reader);
void spool_reader_close(struct spool_reader *reader);

/* Length of a record's text: up to its zero, at most `bytes`. */
size_t spool_text_length(const char *text, uint32_t bytes);

struct spool_file {
    uint32_t rank, thread;
    enum ww_kind kind;
    bool is_linked; /* a link to where the recorder keeps it while the program runs (record --spool) */
};
struct spool_list {
    VEC(struct spool_file) files; /* by rank, thread, kind */
};
enum { SPOOL_MAX_RANKS = 1 << 24, SPOOL_MAX_THREADS = 1 << 20 };

/* The files R-T.ev and R-T.sm of directory `dir`. Returns 0, or -1 after error(); no directory = no files, no error.
 * Release in both cases. */
int spool_list_read(struct spool_list *list, const char *dir);
void spool_list_release(struct spool_list *list);
/* Its path, to be freed. */
char *spool_file_path(const char *dir, const struct spool_file *file);
