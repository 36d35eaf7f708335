/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growth of a spool file: allocate blocks, map, touch, hand over. See spool.h for the idea.
 *
 * No descriptor is trusted: programs close all of theirs, and may then open files of their own under our number. Before
 * use a descriptor is compared with the file's device and inode, and the file is opened again by its path where they
 * differ.
 *
 * spool->fd is a number of the helper's table, where that is another one than the program's (descriptors.h). A thread
 * of the program opens its file for a moment.
 */
#include "wrap/record/spool/spool.h"
#include "wrap/record/process/descriptors.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum spool_state { SPOOL_IDLE, SPOOL_PREPARING, SPOOL_READY, SPOOL_NO_ROOM };
/* Growing the table of descriptors beyond its first 64 stops a program with threads for some 10 ms. */
enum { SMALLEST_PAGE = 4096, HIGH_FD = 48, ZEROS_BYTES = 256 << 10 };

static bool is_our_file(const struct spool *spool, int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == spool->dev && st.st_ino == spool->ino;
}

int spool_move_up(int fd)
{
    struct rlimit limit;
    rlim_t high = HIGH_FD;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < high)
        high = limit.rlim_cur / 2;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)high);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

/* To be given back by put_fd. */
static int take_fd(struct spool *spool)
{
    if (is_our_file(spool, spool->fd))
        return spool->fd;
    int fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && !is_our_file(spool, fd)) {
        close(fd);
        fd = -1;
    }
    if (descriptors_may_stay())
        spool->fd = fd = fd < 0 ? -1 : spool_move_up(fd);
    return fd;
}

static void put_fd(const struct spool *spool, int fd)
{
    if (fd >= 0 && fd != spool->fd)
        close(fd);
}

/* In large pieces, which file systems answer with large folios. */
static bool write_zeros(int fd, uint64_t offset, size_t bytes)
{
    static char zeros[ZEROS_BYTES]; /* not const: that would be a quarter of a megabyte of the library's file */
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
        ssize_t n = pwrite(fd, zeros, piece, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Real blocks for [offset, offset + bytes), within the limits that would send SIGXFSZ. Writing them makes their pages
 * for half of what it costs to fault them in one by one. */
static bool allocate_blocks(int fd, uint64_t offset, size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)offset, (off_t)bytes);
    while (rc < 0 && errno == EINTR);
    if (rc < 0 && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return false;
    return write_zeros(fd, offset, bytes);
}

/* Segments begin 4 KiB behind a multiple of 64 KiB: where pages are larger, a mapping begins before its segment. */
static size_t bytes_before(uint64_t position)
{
    return (size_t)(position % (uint64_t)sysconf(_SC_PAGESIZE));
}

static char *map_file(int fd, uint64_t offset, size_t bytes)
{
    size_t before = bytes_before(offset);
    void *mapped = mmap(NULL, before + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));
    if (mapped == MAP_FAILED)
        return NULL;
    char *at = (char *)mapped + before;
    if (madvise(mapped, before + bytes, MADV_POPULATE_WRITE) < 0 && (errno == EINVAL || errno == ENOSYS))
        for (size_t i = 0; i < bytes; i += SMALLEST_PAGE)
            atomic_fetch_or_explicit((_Atomic char *)at + i, 0, memory_order_relaxed);
    return at;
}

static void unmap_file(char *at, size_t bytes)
{
    size_t before = bytes_before((uintptr_t)at);
    munmap(at - before, before + bytes);
}

static bool budget_take(struct spool_budget *budget, size_t bytes)
{
    if (atomic_fetch_sub(&budget->left_bytes, (int64_t)bytes) >= (int64_t)bytes)
        return true;
    atomic_fetch_add(&budget->left_bytes, (int64_t)bytes);
    errno = EDQUOT;
    return false;
}

/* One more segment of at most `bytes`, halved while the disk has less room than that. */
static bool add_segment(struct spool *spool, struct spool_segment *segment, uint64_t *offset, size_t bytes)
{
    int fd = take_fd(spool);
    bool has_room = false;
    for (; fd >= 0 && !has_room && bytes >= SPOOL_SMALLEST_SEGMENT; bytes /= 2) {
        if (!budget_take(spool->budget, bytes))
            continue;
        has_room = allocate_blocks(fd, spool->file_bytes, bytes);
        if (has_room)
            *segment = (struct spool_segment){map_file(fd, spool->file_bytes, bytes), bytes};
        else
            atomic_fetch_add(&spool->budget->left_bytes, (int64_t)bytes);
    }
    put_fd(spool, fd);
    if (!has_room || !segment->at)
        return false;
    *offset = spool->file_bytes;
    spool->file_bytes += segment->bytes;
    return true;
}

/* Rings. */

enum { RING_FEWEST = 4, RING_DIVISOR = 16, RING_LARGEST_SLOT = 1 << 20, RING_MOST = 1 << 24 };
_Static_assert(WW_LEAST_RING_BYTES == 2 * RING_FEWEST * SPOOL_SMALLEST_SEGMENT,
               "two rings of the fewest, smallest slots");

/* A new slot at the end of the file. */
static bool add_slot(struct spool *spool, struct spool_segment *segment, uint64_t *offset)
{
    struct spool_ring *ring = &spool->ring;
    if (!budget_take(spool->budget, ring->slot_bytes))
        return false;
    int fd = take_fd(spool);
    *segment = (struct spool_segment){.bytes = ring->slot_bytes};
    *offset = spool->file_bytes;
    if (fd >= 0 && allocate_blocks(fd, *offset, ring->slot_bytes))
        segment->at = map_file(fd, *offset, ring->slot_bytes);
    put_fd(spool, fd);
    if (segment->at)
        spool->file_bytes += ring->slot_bytes;
    else
        atomic_fetch_add(&spool->budget->left_bytes, (int64_t)ring->slot_bytes);
    return segment->at != NULL;
}

/* Does the slot that is to be used next still hold the last call? */
static bool next_slot_is_held(const struct spool *spool)
{
    const struct spool_ring *ring = &spool->ring;
    return ring->slot_bytes && ring->held_number && ring->held_number + ring->n == ring->number + 1;
}

static bool prepare_slot(struct spool *spool)
{
    struct spool_ring *ring = &spool->ring;
    if (ring->n == ring->most || !add_slot(spool, &spool->ready, &spool->ready_offset)) {
        /* The oldest one again. */
        if (ring->n < RING_FEWEST)
            return false;
        ring->most = ring->n; /* also where there is no room for more */
        spool->ready_offset = WW_HEADER_BYTES + (uint64_t)ring->slots[ring->number % ring->n] * ring->slot_bytes;
        spool->ready = (struct spool_segment){.bytes = ring->slot_bytes};
        int fd = take_fd(spool);
        if (fd >= 0 && write_zeros(fd, spool->ready_offset, ring->slot_bytes))
            spool->ready.at = map_file(fd, spool->ready_offset, ring->slot_bytes);
        put_fd(spool, fd);
        return spool->ready.at != NULL;
    }
    ring->slots[ring->n++] = (uint32_t)((spool->ready_offset - WW_HEADER_BYTES) / ring->slot_bytes);
    return true;
}

static void begin_slot(char *at, bool is_definitions, uint64_t number)
{
    struct ww_slot *slot = (struct ww_slot *)(void *)at;
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    slot->is_definitions = is_definitions;
    slot->number = number;
    slot->begin_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    spool_commit(slot, WW_SLOT, 1);
}

static void prepare_now(struct spool *spool)
{
    bool ok = spool->ring.slot_bytes ? prepare_slot(spool)
                                     : add_segment(spool, &spool->ready, &spool->ready_offset, spool->segment_bytes);
    if (ok && spool->segment_bytes < spool->largest_bytes)
        spool->segment_bytes *= 2;
    atomic_store_explicit(&spool->state, ok ? SPOOL_READY : SPOOL_NO_ROOM, memory_order_release);
}

void spool_prepare(struct spool *spool)
{
    int saved = errno;
    int idle = SPOOL_IDLE;
    /* Most threads never leave their first segment. The writer's position may be out of date, which only delays the
     * preparation. */
    uint64_t first = WW_HEADER_BYTES + spool->ring.slot_bytes; /* behind that of definitions */
    if (spool_is_open(spool) &&
        (__atomic_load_n(&spool->current_offset, __ATOMIC_RELAXED) != first ||
         __atomic_load_n(&spool->next, __ATOMIC_RELAXED) >= spool->prepare_at) &&
        !next_slot_is_held(spool) && atomic_compare_exchange_strong(&spool->state, &idle, SPOOL_PREPARING))
        prepare_now(spool);
    errno = saved;
}

static bool next_is_ready(struct spool *spool)
{
    for (unsigned spins = 0; spins < 1u << 20; spins++) {
        int state = atomic_load_explicit(&spool->state, memory_order_acquire);
        if (state == SPOOL_READY || state == SPOOL_NO_ROOM)
            return state == SPOOL_READY;
        if (state == SPOOL_IDLE && atomic_compare_exchange_strong(&spool->state, &state, SPOOL_PREPARING))
            prepare_now(spool);
        else
            sched_yield();
    }
    return false;
}

static void release(struct spool_segment *segment)
{
    if (segment->at)
        unmap_file(segment->at, segment->bytes);
    segment->at = NULL;
}

static bool holds_last_call(const struct spool *spool, const struct spool_segment *segment)
{
    return segment->at && spool->last_call && (size_t)(spool->last_call - segment->at) < segment->bytes;
}

static void leave_current(struct spool *spool)
{
    if (!holds_last_call(spool, &spool->held))
        release(&spool->held);
    if (!holds_last_call(spool, &spool->current))
        release(&spool->current);
    else {
        release(&spool->held);
        spool->held = spool->current;
    }
}

static bool next_segment(struct spool *spool)
{
    if (next_slot_is_held(spool) || !next_is_ready(spool))
        return false;
    char *rest = spool->next;
    size_t rest_bytes = (size_t)(spool->end - rest);
    if (rest_bytes > 0)
        spool_commit(rest, WW_PAD, (uint16_t)(rest_bytes / WW_UNIT));
    leave_current(spool);
    spool->current = spool->ready;
    __atomic_store_n(&spool->current_offset, spool->ready_offset, __ATOMIC_RELAXED);
    __atomic_store_n(&spool->next, spool->current.at, __ATOMIC_RELAXED);
    spool->end = spool->current.at + spool->current.bytes;
    if (spool->ring.slot_bytes) {
        /* To the next slot, whose number is known before anybody may prepare the one behind it. */
        struct spool_ring *ring = &spool->ring;
        if (!spool->held.at)
            ring->held_number = 0;
        else if (!ring->held_number)
            ring->held_number = ring->number;
        begin_slot(spool->next, false, ++ring->number);
        __atomic_store_n(&spool->next, spool->next + WW_UNIT, __ATOMIC_RELAXED);
    }
    atomic_store_explicit(&spool->state, SPOOL_IDLE, memory_order_release);
    void (*tell)(void) = atomic_load(&spool->budget->segment_was_left);
    if (tell)
        tell();
    return true;
}

void *spool_take_slow(struct spool *spool, unsigned units, bool is_call)
{
    if (!spool_is_open(spool))
        return NULL;
    int saved = errno;
    char *at = NULL;
    if (is_call && spool->ring.slot_bytes) {
        /* A new call: nothing before it will be written to again. */
        release(&spool->held);
        spool->last_call = NULL;
        spool->ring.held_number = 0;
    }
    /* Records behind a hole would be misread: once full, always full. Of a ring, records that belong to one call may be
     * missing, in a slot that will be used again. */
    if (!spool->full && (size_t)units * WW_UNIT <= SPOOL_SMALLEST_SEGMENT && next_segment(spool)) {
        at = spool->next;
        spool->last_call = is_call ? at : spool->last_call;
        __atomic_store_n(&spool->next, at + (size_t)units * WW_UNIT, __ATOMIC_RELAXED);
    } else {
        if (!next_slot_is_held(spool)) {
            __atomic_store_n(&spool->full, true, __ATOMIC_RELAXED);
            spool->end = spool->next;
        }
        spool->header->n_dropped++;
    }
    errno = saved;
    return at;
}

/* A slot more for definitions. Preparing makes the file longer, too: not at the same time. */
static bool next_definitions(struct spool *spool)
{
    struct spool_ring *ring = &spool->ring;
    struct spool_segment segment;
    uint64_t offset;
    int state = SPOOL_IDLE;
    for (unsigned spins = 0; spins < 1u << 20; spins++, state = SPOOL_IDLE) {
        if (atomic_compare_exchange_strong(&spool->state, &state, SPOOL_PREPARING) || state != SPOOL_PREPARING)
            break;
        sched_yield();
    }
    bool ok = state != SPOOL_PREPARING && add_slot(spool, &segment, &offset);
    if (state == SPOOL_IDLE)
        atomic_store_explicit(&spool->state, SPOOL_IDLE, memory_order_release);
    if (!ok)
        return false;
    release(&ring->definitions);
    ring->definitions = segment;
    begin_slot(segment.at, true, ++ring->definitions_number);
    ring->next = segment.at + WW_UNIT;
    ring->end = segment.at + segment.bytes;
    return true;
}

void *spool_take_definition(struct spool *spool, unsigned units)
{
    struct spool_ring *ring = &spool->ring;
    size_t bytes = (size_t)units * WW_UNIT;
    if (!ring->slot_bytes)
        return spool_take(spool, units, false);
    if (!spool_is_open(spool))
        return NULL;
    int saved = errno;
    char *at = NULL;
    if (bytes <= (size_t)(ring->end - ring->next) || (bytes < ring->slot_bytes && next_definitions(spool))) {
        at = ring->next;
        ring->next += bytes;
    } else
        spool->header->n_dropped++;
    errno = saved;
    return at;
}

/* The file with its header, mapped; NULL when that cannot be done. */
static struct ww_header *open_and_map(struct spool *spool, const struct ww_header *header)
{
    struct stat st;
    spool->fd = open(spool->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (spool->fd < 0)
        return NULL;
    if (fstat(spool->fd, &st) < 0 || !allocate_blocks(spool->fd, 0, WW_HEADER_BYTES))
        return NULL;
    spool->dev = st.st_dev;
    spool->ino = st.st_ino;
    spool->fd = spool_move_up(spool->fd);
    spool->file_bytes = WW_HEADER_BYTES;
    char *at = map_file(spool->fd, 0, WW_HEADER_BYTES);
    if (at)
        memcpy(at, header, sizeof *header);
    return (struct ww_header *)(void *)at;
}

/* The first slots: of definitions, and of records. */
static bool open_ring(struct spool *spool, uint64_t ring_bytes)
{
    struct spool_ring *ring = &spool->ring;
    uint64_t slot_bytes = ring_bytes / RING_DIVISOR / SPOOL_SMALLEST_SEGMENT * SPOOL_SMALLEST_SEGMENT;
    slot_bytes = slot_bytes < SPOOL_SMALLEST_SEGMENT ? SPOOL_SMALLEST_SEGMENT : slot_bytes;
    ring->slot_bytes = slot_bytes < RING_LARGEST_SLOT ? slot_bytes : RING_LARGEST_SLOT;
    uint64_t most = ring_bytes / ring->slot_bytes;
    ring->most = most < RING_FEWEST ? RING_FEWEST : most < RING_MOST ? (uint32_t)most : RING_MOST;
    void *slots =
        mmap(NULL, ring->most * sizeof *ring->slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ring->slots = slots == MAP_FAILED ? NULL : slots;
    if (!ring->slots || !next_definitions(spool) || !add_slot(spool, &spool->current, &spool->current_offset))
        return false;
    ring->slots[ring->n++] = (uint32_t)((spool->current_offset - WW_HEADER_BYTES) / ring->slot_bytes);
    begin_slot(spool->current.at, false, ++ring->number);
    return true;
}

static void release_ring(struct spool *spool)
{
    release(&spool->ring.definitions);
    if (spool->ring.slots)
        munmap(spool->ring.slots, spool->ring.most * sizeof *spool->ring.slots);
    spool->ring = (struct spool_ring){0};
}

static bool open_spool(struct spool *spool, const char *path, const struct ww_header *header, size_t first_bytes,
                       uint64_t ring_bytes, struct spool_budget *budget)
{
    memset(spool, 0, sizeof *spool);
    spool->fd = -1;
    spool->budget = budget;
    if (strlen(path) >= sizeof spool->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(spool->path, path);
    struct ww_header *mapped = open_and_map(spool, header);
    bool ok = mapped && (ring_bytes ? open_ring(spool, ring_bytes)
                                    : add_segment(spool, &spool->current, &spool->current_offset, first_bytes));
    if (!ok) {
        int why = errno;
        release_ring(spool);
        if (mapped)
            munmap(mapped, WW_HEADER_BYTES);
        if (spool->fd >= 0) {
            close(spool->fd);
            unlink(path);
        }
        errno = why;
        return false;
    }
    mapped->slot_bytes = spool->ring.slot_bytes;
    spool->next = spool->current.at + (ring_bytes ? WW_UNIT : 0);
    spool->end = spool->current.at + spool->current.bytes;
    spool->prepare_at = spool->next + spool->current.bytes / 4;
    __atomic_store_n(&spool->header, mapped, __ATOMIC_RELEASE);
    return true;
}

bool spool_open(struct spool *spool, const char *path, const struct ww_header *header, size_t first_bytes,
                size_t largest_bytes, struct spool_budget *budget)
{
    bool ok = open_spool(spool, path, header, first_bytes, 0, budget);
    spool->largest_bytes = largest_bytes;
    spool->segment_bytes = 2 * first_bytes < largest_bytes ? 2 * first_bytes : largest_bytes;
    return ok;
}

bool spool_open_ring(struct spool *spool, const char *path, const struct ww_header *header, uint64_t ring_bytes,
                     struct spool_budget *budget)
{
    return open_spool(spool, path, header, 0, ring_bytes, budget);
}

void spool_leave_descriptor(struct spool *spool)
{
    if (is_our_file(spool, spool->fd))
        close(spool->fd);
    spool->fd = -1;
}

bool spool_is_removed(const struct spool *spool)
{
    struct stat st;
    return is_our_file(spool, spool->fd) && fstat(spool->fd, &st) == 0 && st.st_nlink == 0;
}

/* Bytes that the file would have if it were closed now. */
static uint64_t spool_used_bytes(const struct spool *spool)
{
    return spool->current_offset + (uint64_t)(spool->next - spool->current.at);
}

void spool_mark_end(struct spool *spool, enum ww_end how, int32_t detail, uint64_t end_ns)
{
    if (!spool_is_open(spool))
        return;
    spool->header->end_how = how;
    spool->header->end_detail = detail;
    spool->header->end_ns = end_ns;
}

/* After this nobody prepares: the state is never IDLE again. */
static void stop_preparing(struct spool *spool)
{
    int idle = SPOOL_IDLE;
    for (unsigned spins = 0; spins < 1u << 16; spins++) {
        if (atomic_compare_exchange_strong(&spool->state, &idle, SPOOL_NO_ROOM) || idle != SPOOL_PREPARING)
            break;
        idle = SPOOL_IDLE;
        sched_yield();
    }
    if (atomic_load(&spool->state) == SPOOL_READY)
        unmap_file(spool->ready.at, spool->ready.bytes);
    atomic_store(&spool->state, SPOOL_NO_ROOM);
}

void spool_close(struct spool *spool, enum ww_end how, int32_t detail, uint64_t end_ns)
{
    if (!spool_is_open(spool))
        return;
    int saved = errno;
    spool_mark_end(spool, how, detail, end_ns);
    stop_preparing(spool);
    int fd = take_fd(spool);
    uint64_t used = spool_used_bytes(spool);
    release(&spool->held);
    release(&spool->current);
    munmap(spool->header, WW_HEADER_BYTES);
    spool->header = NULL;
    spool->next = spool->end = NULL;
    bool is_ring = spool->ring.slot_bytes > 0;
    release_ring(spool);
    if (fd >= 0) {
        if (!is_ring && ftruncate(fd, (off_t)used) == 0)
            atomic_fetch_add(&spool->budget->left_bytes, (int64_t)(spool->file_bytes - used));
        close(fd);
    }
    spool->fd = -1;
    errno = saved;
}
