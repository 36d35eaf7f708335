/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/given.h"
#include "analyze/files/durable.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAGIC = 0x5657574b, MAGIC_NAME = 0xffffff, PUNCH_BYTES = 4 << 20, MOST_RAW = 64 << 20 };
enum { CALL = 0x80, UNIT = 0x40, TAG = UNIT }; /* in a record's first byte */
enum { TABLE = 0x80, NEAR = 0x80 };            /* in the second of a call: its place, times of two bytes */
enum { CALL_WORDS = sizeof(struct ww_call) / sizeof(uint64_t), UNIT_WORDS = WW_UNIT / sizeof(uint64_t) };
enum {
    ENTER_WORD = offsetof(struct ww_call, enter_ns) / sizeof(uint64_t),
    LEAVE_WORD,
    TAG_WORD = offsetof(struct ww_call, tag) / sizeof(uint64_t), /* its second half */
};

/* Equal in writer and reader, and empty at the beginning of a block. */
struct context {
    uint64_t call[TABLE][CALL_WORDS];
    uint64_t unit[UNIT_WORDS];
    uint64_t leave_ns;
};

static unsigned place_of(const uint64_t *call)
{
    return ((const struct ww_call *)(const void *)call)->stack % TABLE;
}

/* The words that differ from those before, and their bits. The loops are unrolled: a call goes this way in a few ns. */
static inline uint8_t *put_words(uint8_t *to, uint8_t *mask, unsigned bit, const uint64_t *words,
                                 const uint64_t *before, unsigned n)
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < n; i++) {
        if (words[i] == before[i])
            continue;
        *mask |= (uint8_t)(1u << (bit + i));
        memcpy(to, &words[i], sizeof words[i]);
        to += sizeof words[i];
    }
    return to;
}

/* But for times and tag. */
static inline bool is_alike(const uint64_t *words, const uint64_t *before)
{
    uint64_t differ = (uint32_t)(words[TAG_WORD] ^ before[TAG_WORD]);
#pragma GCC unroll 8
    for (unsigned i = 0; i < CALL_WORDS; i++)
        differ |= i == ENTER_WORD || i == LEAVE_WORD || i == TAG_WORD ? 0 : words[i] ^ before[i];
    return !differ;
}

/* Out of line, so that calls that are alike need not save what these comparisons want in registers. */
static __attribute__((noinline)) uint8_t *put_call_words(uint64_t *before, const uint64_t *words, uint8_t *to,
                                                         uint8_t *mask)
{
    to = put_words(to, mask, 0, words, before, ENTER_WORD);
    to = put_words(to, mask, ENTER_WORD, words + LEAVE_WORD + 1, before + LEAVE_WORD + 1, CALL_WORDS - LEAVE_WORD - 1);
    memcpy(before, words, sizeof(struct ww_call));
    return to;
}

/* The call is then the one before. Returns the end of what was put; NULL: its times do not fit. */
static inline uint8_t *put_call(struct context *context, const uint64_t *words, uint8_t *to)
{
    uint64_t since_ns = words[ENTER_WORD] - context->leave_ns, dur_ns = words[LEAVE_WORD] - words[ENTER_WORD];
    uint64_t times = since_ns | dur_ns << 32;
    unsigned place = place_of(words), is_near = (since_ns | dur_ns) <= UINT16_MAX;
    uint64_t *before = context->call[place];
    uint32_t tag_step = (uint32_t)(words[TAG_WORD] >> 32) - (uint32_t)(before[TAG_WORD] >> 32);
    uint8_t *begin = to;
    context->leave_ns = words[LEAVE_WORD];
    if (is_near)
        times = since_ns | dur_ns << 16;
    memcpy(to + 2, &times, sizeof times);
    to += is_near ? 2 + 2 * sizeof(uint16_t) : 2 + 2 * sizeof(uint32_t);
    if (tag_step <= UINT8_MAX && is_alike(words, before)) {
        before[TAG_WORD] = words[TAG_WORD];
        *to = (uint8_t)tag_step;
        to += tag_step != 0;
        begin[0] = tag_step ? CALL | TAG : CALL;
    } else {
        begin[0] = CALL;
        to = put_call_words(before, words, to, begin);
    }
    begin[1] = (uint8_t)(place | (is_near ? NEAR : 0));
    return (since_ns | dur_ns) > UINT32_MAX ? NULL : to;
}

static uint8_t *put_unit(const struct context *context, const uint64_t *words, uint8_t *to)
{
    uint8_t *begin = to++, mask = UNIT;
    to = put_words(to, &mask, 0, words, context->unit, UNIT_WORDS);
    *begin = mask;
    return to;
}

/* Into *bytes, which has room for as much and an eighth more. Returns how much it became. */
static size_t encode(const uint8_t *records, size_t n, uint8_t *bytes)
{
    struct context context = {.leave_ns = 0};
    uint8_t *to = bytes;
    for (size_t at = 0; at < n;) {
        const uint64_t *words = (const void *)(records + at);
        struct ww_head head;
        memcpy(&head, words, sizeof head);
        size_t size = (size_t)head.units * WW_UNIT;
        uint8_t *end = NULL;
        if (head.type == WW_CALL && size == sizeof context.call[0]) {
            end = put_call(&context, words, to);
        } else if (size == WW_UNIT) {
            end = put_unit(&context, words, to);
            memcpy(context.unit, words, sizeof context.unit);
        }
        if (!end) {
            *to = 0;
            memcpy(to + 1, records + at, size);
            end = to + 1 + size;
        }
        to = end;
        at += size;
    }
    return (size_t)(to - bytes);
}

static bool get_bytes(const uint8_t **from, const uint8_t *end, void *to, size_t n)
{
    if ((size_t)(end - *from) < n)
        return false;
    memcpy(to, *from, n);
    *from += n;
    return true;
}

static bool get_words(const uint8_t **from, const uint8_t *end, uint8_t mask, uint64_t *words, unsigned n)
{
    for (unsigned i = 0, bit = 0; i < n; i++) {
        if (n == CALL_WORDS && (i == ENTER_WORD || i == LEAVE_WORD))
            continue;
        if (mask >> bit++ & 1 && !get_bytes(from, end, &words[i], sizeof words[i]))
            return false;
    }
    return true;
}

static bool get_call(const struct context *context, const uint8_t **from, const uint8_t *end, uint8_t mask,
                     uint64_t *words)
{
    uint8_t place, tag_step = 0;
    uint32_t since_ns = 0, dur_ns = 0;
    if (!get_bytes(from, end, &place, sizeof place))
        return false;
    size_t time_bytes = place & NEAR ? sizeof(uint16_t) : sizeof(uint32_t);
    if (!get_bytes(from, end, &since_ns, time_bytes) || !get_bytes(from, end, &dur_ns, time_bytes) ||
        (mask & TAG && !get_bytes(from, end, &tag_step, sizeof tag_step)))
        return false;
    memcpy(words, context->call[place % TABLE], sizeof context->call[0]);
    words[ENTER_WORD] = context->leave_ns + since_ns;
    words[LEAVE_WORD] = words[ENTER_WORD] + dur_ns;
    words[TAG_WORD] += (uint64_t)tag_step << 32;
    return get_words(from, end, mask & 0x3f, words, CALL_WORDS);
}

static void learn_call(struct context *context, const uint64_t *words)
{
    memcpy(context->call[place_of(words)], words, sizeof context->call[0]);
    context->leave_ns = words[LEAVE_WORD];
}

/* The next record into `words`, or into `to` where it stands there as it is. Its size, 0 = the bytes make no sense. */
static size_t decode_one(struct context *context, const uint8_t **from, const uint8_t *end, uint8_t *to, size_t room)
{
    uint64_t words[CALL_WORDS];
    uint8_t mask = *(*from)++;
    size_t size = mask & CALL ? sizeof words : WW_UNIT;
    if (mask & CALL) {
        if (!get_call(context, from, end, mask, words))
            return 0;
    } else if (mask & UNIT) {
        memcpy(words, context->unit, WW_UNIT);
        if (!get_words(from, end, mask & 0x0f, words, UNIT_WORDS))
            return 0;
        memcpy(context->unit, words, WW_UNIT);
    } else {
        struct ww_head head;
        if ((size_t)(end - *from) < sizeof head)
            return 0;
        memcpy(&head, *from, sizeof head);
        size = (size_t)head.units * WW_UNIT;
        if (!size || size > room || size > (size_t)(end - *from))
            return 0;
        memcpy(to, *from, size);
        *from += size;
        if (head.type != WW_CALL || size != sizeof words)
            return size;
        memcpy(words, to, size);
    }
    if (size > room)
        return 0;
    memcpy(to, words, size);
    if (size == sizeof words)
        learn_call(context, words);
    return size;
}

static bool decode(const uint8_t *bytes, size_t n, uint8_t *records, size_t raw_bytes)
{
    struct context context = {.leave_ns = 0};
    const uint8_t *end = bytes + n;
    size_t at = 0;
    while (bytes < end) {
        size_t size = decode_one(&context, &bytes, end, records + at, raw_bytes - at);
        if (!size)
            return false;
        at += size;
    }
    return at == raw_bytes;
}

/* The file. */

char *given_path(const char *path)
{
    return path_format("%s.given", path);
}

static void give_up(struct given_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->spool_fd >= 0)
        close(writer->spool_fd);
    writer->fd = writer->spool_fd = -1;
}

/* The names that lead to a spool file: its own, that of the spool, that of the run. */
static bool bring_names(const char *path)
{
    static const char *const around[] = {"", "/..", "/../.."};
    const char *slash = strrchr(path, '/');
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof around / sizeof *around; i++) {
        char *folder = path_format("%.*s%s", slash ? (int)(slash - path) : 1, slash ? path : ".", around[i]);
        ok = !durable_names(folder);
        free(folder);
    }
    return ok;
}

static bool is_durable(struct given_writer *writer)
{
    writer->is_named = writer->is_named || bring_names(writer->path);
    return writer->is_named && !durable_bytes(writer->fd);
}

/* First what was taken is kept, also from a loss of power, then it is given back; of that nothing where not all of it
 * can be. */
static void give_back(struct given_writer *writer)
{
    off_t before = lseek(writer->fd, 0, SEEK_END);
    uint64_t until = writer->taken / WW_HEADER_BYTES * WW_HEADER_BYTES;
    if (write(writer->fd, writer->blocks, writer->n) != (ssize_t)writer->n) {
        (void)!ftruncate(writer->fd, before);
        give_up(writer);
    } else if (!is_durable(writer) || fallocate(writer->spool_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                                (off_t)writer->punched, (off_t)(until - writer->punched)))
        give_up(writer); /* this file system cannot */
    writer->punched = until;
    writer->n = 0;
}

/* The first block, which nothing is given back for: the pages of the spool file's header may never reach the disk. */
static bool keep_header(struct given_writer *writer, const void *header)
{
    const struct given_block block = {.magic = MAGIC, .raw_bytes = WW_HEADER_BYTES, .bytes = WW_HEADER_BYTES};
    const struct iovec pieces[] = {{(void *)(uintptr_t)&block, sizeof block}, {(void *)(uintptr_t)header, block.bytes}};
    return !ftruncate(writer->fd, 0) && writev(writer->fd, pieces, 2) == (ssize_t)(sizeof block + block.bytes);
}

void given_begin(struct given_writer *writer, const char *path, const void *header, uint64_t save_bytes)
{
    char *kept = given_path(path);
    *writer = (struct given_writer){
        .path = path, .taken = WW_HEADER_BYTES, .punched = WW_HEADER_BYTES, .left_bytes = (int64_t)save_bytes};
    writer->fd = plain_open(kept, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW);
    writer->spool_fd = plain_open(path, O_WRONLY | O_NOFOLLOW);
    free(kept);
    if (writer->fd < 0 || writer->spool_fd < 0) {
        give_up(writer);
        return;
    }
    /* Blocks that an earlier conversion kept before it was killed. A block that is not whole is cut off. */
    const off_t first = sizeof(struct given_block) + WW_HEADER_BYTES;
    struct given_block block;
    off_t at = first, end = lseek(writer->fd, 0, SEEK_END);
    if (end < first) {
        if (!keep_header(writer, header))
            give_up(writer);
        return;
    }
    while (pread(writer->fd, &block, sizeof block, at) == (ssize_t)sizeof block && block.magic == MAGIC &&
           at + (off_t)sizeof block + (off_t)block.bytes <= end) {
        at += (off_t)sizeof block + (off_t)block.bytes;
        writer->taken += block.raw_bytes;
        writer->left_bytes -= (int64_t)block.raw_bytes - block.bytes;
    }
    if (at < end && ftruncate(writer->fd, at))
        give_up(writer);
    else if (at > first)
        give_back(writer);
}

void given_take(struct given_writer *writer, uint64_t place, const uint8_t *records, size_t n)
{
    size_t known = writer->taken > place ? (size_t)(writer->taken - place) : 0;
    if (writer->fd < 0 || writer->left_bytes <= 0 || writer->taken < place || known >= n || n - known > MOST_RAW)
        return;
    records += known;
    n -= known;
    struct given_block block = {.magic = MAGIC, .raw_bytes = (uint32_t)n};
    vec_grow((void **)&writer->blocks, &writer->cap, writer->n + sizeof block + n + n / 8, 1);
    block.bytes = (uint32_t)encode(records, n, writer->blocks + writer->n + sizeof block);
    memcpy(writer->blocks + writer->n, &block, sizeof block);
    writer->n += sizeof block + block.bytes;
    writer->taken += n;
    writer->left_bytes -= (int64_t)n - block.bytes;
    if (writer->taken - writer->punched >= PUNCH_BYTES || writer->left_bytes <= 0)
        give_back(writer);
}

void given_end(struct given_writer *writer)
{
    give_up(writer);
    vec_free(writer->blocks);
    *writer = (struct given_writer){.fd = -1, .spool_fd = -1};
}

int given_open(const char *path)
{
    char *kept = given_path(path);
    int fd = plain_open(kept, O_NOFOLLOW);
    free(kept);
    return fd;
}

bool given_is_readable(int fd)
{
    uint32_t magic;
    return pread(fd, &magic, sizeof magic, 0) != (ssize_t)sizeof magic || magic == MAGIC ||
           (magic ^ MAGIC) & MAGIC_NAME;
}

bool given_read_header(int fd, void *header)
{
    struct given_block block;
    return read(fd, &block, sizeof block) == (ssize_t)sizeof block && block.magic == MAGIC &&
           block.bytes == WW_HEADER_BYTES && read(fd, header, WW_HEADER_BYTES) == WW_HEADER_BYTES;
}

bool given_read(int fd, void **raw, size_t *n, size_t *cap)
{
    struct given_block block;
    if (read(fd, &block, sizeof block) != (ssize_t)sizeof block || block.magic != MAGIC || block.raw_bytes > MOST_RAW ||
        block.bytes > block.raw_bytes + block.raw_bytes / 8)
        return false;
    uint8_t *bytes = malloc(block.bytes + 1);
    if (!bytes)
        err_out_of_memory(block.bytes);
    bool ok = read(fd, bytes, block.bytes) == (ssize_t)block.bytes;
    if (ok) {
        vec_grow(raw, cap, block.raw_bytes, 1);
        ok = decode(bytes, block.bytes, *raw, block.raw_bytes);
        *n = block.raw_bytes;
    }
    free(bytes);
    return ok;
}
