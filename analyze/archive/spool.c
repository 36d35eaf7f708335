/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spool files, streamed through a buffer that grows to the largest record. They are read with pread and not mapped: a
 * file that shrinks while it is read must end early, not end the tool.
 */
#include "analyze/archive/spool.h"
#include "analyze/archive/given.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 << 10 };

/* Up to n bytes from the file's current position; short at its end or on an error. */
static size_t read_bytes(struct spool_reader *reader, void *to, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = read(reader->fd, (char *)to + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            reader->why = errno;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static const char *header_fault(const struct ww_header *header)
{
    if (memcmp(header->magic, WW_MAGIC, sizeof WW_MAGIC))
        return "it is no spool file of whywait";
    if (header->version != WW_FORMAT_VERSION)
        return "it was written by another version of whywait";
    if (header->header_bytes != WW_HEADER_BYTES)
        return "its header is damaged";
    if (header->kind != WW_KIND_EVENTS && header->kind != WW_KIND_SAMPLES)
        return "its header is damaged";
    if (header->n_ranks < 1 || header->n_ranks > SPOOL_MAX_RANKS || header->rank < 0 || header->rank >= header->n_ranks)
        return "its header is damaged";
    if (header->thread < 0 || header->thread >= SPOOL_MAX_THREADS)
        return "its header is damaged";
    return NULL;
}

static void drop_given(struct spool_reader *reader)
{
    if (reader->given_fd >= 0)
        close(reader->given_fd);
    reader->given_fd = -1;
}

/* Of a file that is no ring: what was given back, then the file from there on. */
static size_t read_file(struct spool_reader *reader, uint8_t *to, size_t n)
{
    size_t done = 0;
    while (reader->given_fd >= 0 && done < n) {
        if (reader->given.next == reader->given.n) {
            reader->given.next = 0;
            errno = 0;
            if (!given_read(reader->given_fd, &reader->given.at, &reader->given.n, &reader->given.cap)) {
                reader->why = errno;
                drop_given(reader);
                break;
            }
            if (lseek(reader->fd, (off_t)reader->given.n, SEEK_CUR) < 0)
                reader->why = errno;
        }
        size_t have = reader->given.n - reader->given.next, piece = have < n - done ? have : n - done;
        memcpy(to + done, (const uint8_t *)reader->given.at + reader->given.next, piece);
        reader->given.next += piece;
        done += piece;
    }
    return reader->why ? done : done + read_bytes(reader, to + done, n - done);
}

/* Of a call, at most: here, in the archive, and both together while it is made. */
enum { SPOOL_BYTES = 64, ARCHIVE_BYTES = 35, DISK_BYTES = 70 };

void spool_reader_give_back(struct spool_reader *reader)
{
    struct stat st;
    if (reader->slots.n || reader->keep || fstat(reader->fd, &st))
        return;
    reader->keep = memory_new(1, sizeof *reader->keep);
    uint8_t header[WW_HEADER_BYTES] = {0};
    memcpy(header, &reader->header, sizeof reader->header);
    given_begin(reader->keep, reader->path, header,
                (uint64_t)st.st_size / SPOOL_BYTES * (SPOOL_BYTES + ARCHIVE_BYTES - DISK_BYTES));
}

/* Rings. */

static int by_number(const void *left, const void *right)
{
    const struct spool_slot *a = left, *b = right;
    return order_of(a->has_records, b->has_records) ?: order_of(a->number, b->number);
}

/* Requests that were posted in the oldest slot and lost before are told apart only by what follows: the ring counts
 * from the slot behind it on. */
static const char *find_slots(struct spool_reader *reader)
{
    enum { LEAST_BYTES = 4096 };
    struct stat st;
    uint64_t slot_bytes = reader->header.slot_bytes;
    if (slot_bytes < LEAST_BYTES || slot_bytes % LEAST_BYTES || slot_bytes > INT32_MAX)
        return "its header is damaged";
    if (fstat(reader->fd, &st))
        return strerror(reader->why = errno);
    uint64_t n_places = ((uint64_t)st.st_size - WW_HEADER_BYTES) / slot_bytes;
    for (uint64_t place = 0; place < n_places; place++) {
        struct ww_slot slot;
        ssize_t n = pread(reader->fd, &slot, sizeof slot, (off_t)(WW_HEADER_BYTES + place * slot_bytes));
        if (n < 0)
            return strerror(reader->why = errno);
        if (n == (ssize_t)sizeof slot && slot.head.type == WW_SLOT && slot.head.units == 1)
            *vec_push(&reader->slots) = (struct spool_slot){
                .place = place, .number = slot.number, .begin_ns = slot.begin_ns, .has_records = !slot.is_definitions};
    }
    if (!reader->slots.n)
        return "nothing was recorded in it";
    vec_sort(&reader->slots, by_number);
    size_t first = 0;
    while (first < reader->slots.n && !reader->slots.at[first].has_records)
        first++;
    if (first < reader->slots.n && reader->slots.at[first].number > 1)
        reader->begin_ns = reader->slots.at[first + (first + 1 < reader->slots.n)].begin_ns;
    return NULL;
}

/* As read_bytes: slot after slot. */
static size_t read_slots(struct spool_reader *reader, uint8_t *to, size_t n)
{
    size_t done = 0;
    uint64_t slot_bytes = reader->header.slot_bytes;
    while (done < n && reader->read_at / slot_bytes < reader->slots.n) {
        uint64_t at = reader->read_at % slot_bytes, place = reader->slots.at[reader->read_at / slot_bytes].place;
        size_t piece = n - done < slot_bytes - at ? n - done : (size_t)(slot_bytes - at);
        ssize_t got = pread(reader->fd, to + done, piece, (off_t)(WW_HEADER_BYTES + place * slot_bytes + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            reader->why = errno;
        if (got <= 0)
            break;
        done += (size_t)got;
        reader->read_at += (uint64_t)got;
    }
    return done;
}

/* To the next slot; false when this was the last one. */
static bool next_slot(struct spool_reader *reader)
{
    size_t ahead = reader->filled - reader->at;
    uint64_t slot_bytes = reader->header.slot_bytes;
    if (!reader->slots.n)
        return false;
    uint64_t rest = slot_bytes - (reader->read_at - ahead) % slot_bytes;
    if (rest <= ahead)
        reader->at += (size_t)rest;
    else {
        reader->at = reader->filled = 0;
        reader->read_at += rest - ahead;
    }
    return reader->read_at / slot_bytes < reader->slots.n || reader->at < reader->filled;
}

/* What is wrong with the file; NULL = nothing. */
static const char *reader_open(struct spool_reader *reader, const char *path)
{
    *reader = (struct spool_reader){
        .path = strdup(path), .fd = plain_open(path, O_NOFOLLOW), .given_fd = -1, .place = WW_HEADER_BYTES};
    if (!reader->path)
        err_out_of_memory(strlen(path));
    if (reader->fd < 0) {
        bool is_of_file = errno == ENOENT || errno == ELOOP || errno == EINVAL; /* gone, a link, no plain file */
        reader->why = is_of_file ? 0 : errno;
        return strerror(errno);
    }
    posix_fadvise(reader->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    uint8_t block[WW_HEADER_BYTES];
    reader->given_fd = given_open(path);
    if (reader->given_fd < 0 && errno != ENOENT)
        return strerror(reader->why = errno);
    if (reader->given_fd >= 0 && !given_is_readable(reader->given_fd))
        return "another version of whywait has begun to convert it: convert it with that one";
    if (reader->given_fd >= 0 && given_read_header(reader->given_fd, block)) {
        if (lseek(reader->fd, WW_HEADER_BYTES, SEEK_SET) < 0)
            return strerror(reader->why = errno);
    } else {
        drop_given(reader);
        if (read_bytes(reader, block, sizeof block) < sizeof block)
            return reader->why ? strerror(reader->why) : "it ends within its header, nothing was recorded in it";
    }
    memcpy(&reader->header, block, sizeof reader->header);
    /* A damaged header may end its texts nowhere. */
    reader->header.mpi[sizeof reader->header.mpi - 1] = 0;
    reader->header.host[sizeof reader->header.host - 1] = 0;
    reader->header.program[sizeof reader->header.program - 1] = 0;
    reader->header.command[sizeof reader->header.command - 1] = 0;
    reader->header.only[sizeof reader->header.only - 1] = 0;
    vec_grow((void **)&reader->buffer, &reader->cap, BUFFER_BYTES, 1);
    const char *fault = header_fault(&reader->header);
    return fault || !reader->header.slot_bytes ? fault : find_slots(reader);
}

int spool_reader_open(struct spool_reader *reader, const char *path)
{
    const char *fault = reader_open(reader, path);
    if (fault)
        error("cannot use %s: %s", path, fault);
    return !fault ? 0 : reader->why ? SPOOL_UNREAD : -1;
}

int spool_reader_open_quietly(struct spool_reader *reader, const char *path)
{
    return reader_open(reader, path) ? -1 : 0;
}

void spool_reader_close(struct spool_reader *reader)
{
    if (reader->fd >= 0)
        close(reader->fd);
    vec_free(reader->buffer);
    vec_release(&reader->slots);
    drop_given(reader);
    vec_free(reader->given.at);
    if (reader->keep)
        given_end(reader->keep);
    free(reader->keep);
    free(reader->path);
    *reader = (struct spool_reader){.fd = -1, .given_fd = -1};
}

/* Makes `need` bytes available at the read position, if the file has them. Records stay aligned to units. */
static __attribute__((noinline)) bool fill_more(struct spool_reader *reader, size_t need)
{
    if (reader->keep)
        given_take(reader->keep, reader->place, reader->buffer, reader->at);
    reader->place += reader->at;
    memmove(reader->buffer, reader->buffer + reader->at, reader->filled - reader->at);
    reader->filled -= reader->at;
    reader->at = 0;
    vec_grow((void **)&reader->buffer, &reader->cap, need, 1);
    uint8_t *to = reader->buffer + reader->filled;
    size_t room = reader->cap - reader->filled;
    reader->filled += reader->slots.n ? read_slots(reader, to, room) : read_file(reader, to, room);
    return reader->filled >= need;
}

static inline bool fill(struct spool_reader *reader, size_t need)
{
    return reader->filled - reader->at >= need || fill_more(reader, need);
}

/* Of a record with a list of n things at its end, of which it has `have` bytes. */
#define LIST_FITS(type, n, each) (sizeof(struct type) <= have && (n) <= (have - sizeof(struct type)) / (each))

/* Is the record long enough for what its own fields promise? */
static bool record_fits(const struct ww_head *head)
{
    size_t have = (size_t)head->units * WW_UNIT;
    const void *record = head;
    switch (head->type) {
    case WW_CALL:
    case WW_KEPT:
    case WW_PENDING:
        return have >= sizeof(struct ww_call);
    case WW_STACK:
        return LIST_FITS(ww_stack, ((const struct ww_stack *)record)->n, sizeof(uint64_t));
    case WW_MODULE:
        return have >= sizeof(struct ww_module) &&
               ((const struct ww_module *)record)->build_id_bytes <= sizeof((struct ww_module *)0)->build_id &&
               LIST_FITS(ww_module, (uint64_t)((const struct ww_module *)record)->path_bytes + 1, 1);
    case WW_CODE: {
        const struct ww_code *code = record;
        return LIST_FITS(ww_code, (uint64_t)code->path_bytes + code->name_bytes + 2, 1);
    }
    case WW_COMM: {
        const struct ww_comm *comm = record;
        if (have < sizeof *comm || comm->size < 0 || comm->remote_size < 0)
            return false;
        bool lists_members = !(comm->flags & WW_COMM_NO_MEMBERS);
        return LIST_FITS(ww_comm, lists_members ? (uint64_t)comm->size + (uint64_t)comm->remote_size : 0,
                         sizeof(int32_t));
    }
    case WW_NAME:
        return LIST_FITS(ww_name, (uint64_t)((const struct ww_name *)record)->bytes + 1, 1);
    case WW_FILE:
        return LIST_FITS(ww_file, (uint64_t)((const struct ww_file *)record)->bytes + 1, 1);
    case WW_NOTE:
        return LIST_FITS(ww_note, (uint64_t)((const struct ww_note *)record)->bytes + 1, 1);
    case WW_BINS:
    case WW_CALLBACK_BINS:
        return LIST_FITS(ww_bins, ((const struct ww_bins *)record)->n, sizeof(uint32_t) + sizeof(uint64_t));
    case WW_NEIGHBORS: {
        const struct ww_neighbors *list = record;
        return LIST_FITS(ww_neighbors, (uint64_t)list->n_in + list->n_out, sizeof(int32_t));
    }
    case WW_RANKS:
        return LIST_FITS(ww_ranks, ((const struct ww_ranks *)record)->n, sizeof(int32_t));
    default:
        return true; /* one unit suffices */
    }
}

/* Steps over damaged contents within a sound length; gives up where the length itself is wrong. */
const struct ww_head *spool_reader_next_any(struct spool_reader *reader)
{
    while (!reader->is_damaged && fill(reader, WW_UNIT)) {
        const struct ww_head *head = (const void *)(reader->buffer + reader->at);
        if (!head->type) {
            if (next_slot(reader))
                continue;
            return NULL;
        }
        size_t bytes = (size_t)head->units * WW_UNIT;
        if (!bytes || !fill(reader, bytes)) {
            reader->is_damaged = true;
            return NULL;
        }
        head = (const void *)(reader->buffer + reader->at);
        reader->at += bytes;
        if (head->type == WW_PAD || head->type == WW_SLOT)
            continue;
        if (record_fits(head)) {
            reader->n_calls += head->type == WW_CALL;
            return head;
        }
        reader->n_bad++;
    }
    return NULL;
}

int spool_reader_status(const struct spool_reader *reader)
{
    if (!reader->why)
        return 0;
    error("cannot read %s: %s", reader->path, strerror(reader->why));
    return SPOOL_UNREAD;
}

bool spool_reader_lacks_records(const struct spool_reader *reader)
{
    return reader->is_damaged || reader->n_bad ||
           (reader->header.end_ns && !reader->begin_ns && reader->n_calls < reader->header.n_calls);
}

size_t spool_text_length(const char *text, uint32_t bytes)
{
    return strnlen(text, bytes);
}

/* "12-0.ev": digits without leading zeros, so that a file has one name only. */
static bool parse_name(const char *name, struct spool_file *file)
{
    unsigned rank, thread;
    char kind[4], again[64];
    if (sscanf(name, "%8u-%8u.%3s", &rank, &thread, kind) != 3 || rank >= SPOOL_MAX_RANKS ||
        thread >= SPOOL_MAX_THREADS)
        return false;
    snprintf(again, sizeof again, "%u-%u.%s", rank, thread, kind);
    bool is_events = !strcmp(kind, "ev");
    if (strcmp(name, again) || (!is_events && strcmp(kind, "sm")))
        return false;
    *file = (struct spool_file){.rank = rank, .thread = thread, .kind = is_events ? WW_KIND_EVENTS : WW_KIND_SAMPLES};
    return true;
}

static int by_rank(const void *left, const void *right)
{
    const struct spool_file *a = left, *b = right;
    return order_of(a->rank, b->rank) ?: order_of(a->thread, b->thread) ?: (int)a->kind - (int)b->kind;
}

int spool_list_read(struct spool_list *list, const char *dir)
{
    *list = (struct spool_list){0};
    DIR *entries = opendir(dir);
    if (!entries)
        return errno == ENOENT ? 0 : error("cannot read %s: %s", dir, strerror(errno));
    int why = 0;
    for (struct dirent *entry; (entry = dir_next(entries, &why));) {
        struct spool_file file;
        struct stat status;
        if (!parse_name(entry->d_name, &file))
            continue;
        if (fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) {
            why = errno == ENOENT ? why : errno; /* removed meanwhile */
            continue;
        }
        file.is_linked = S_ISLNK(status.st_mode);
        if (file.is_linked || S_ISREG(status.st_mode))
            *vec_push(&list->files) = file;
    }
    closedir(entries);
    vec_sort(&list->files, by_rank);
    return why ? error("cannot read all of %s: %s", dir, strerror(why)) : 0;
}

void spool_list_release(struct spool_list *list)
{
    vec_release(&list->files);
}

char *spool_file_path(const char *dir, const struct spool_file *file)
{
    return path_format("%s/%u-%u.%s", dir, file->rank, file->thread, file->kind == WW_KIND_EVENTS ? "ev" : "sm");
}
