/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/ring.h"
#include "wrap/record/spool/spool.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 6 }; /* beside the files of a team of eight: more would make the table of descriptors grow */

static unsigned n_descriptors;

/* A ring begins with one page about it. */
static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The mapping keeps the event alive, so nothing is lost when the program closes all descriptors. */
static void keep_descriptor(struct ring *ring, int fd)
{
    ring->fd = -1;
    if (n_descriptors < MOST_DESCRIPTORS && ioctl(fd, PERF_EVENT_IOC_ID, &ring->id) == 0) {
        n_descriptors++;
        ring->fd = spool_move_up(fd);
    } else
        close(fd);
}

/* The program may have closed it, and have opened something else under its number. */
int ring_descriptor(const struct ring *ring)
{
    uint64_t id;
    bool is_there = ring->page && ring->fd >= 0 && ioctl(ring->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == ring->id;
    return is_there ? ring->fd : -1;
}

bool ring_change_period(struct ring *ring, uint64_t period_ns)
{
    int fd = ring_descriptor(ring);
    return fd >= 0 && ioctl(fd, PERF_EVENT_IOC_PERIOD, &period_ns) == 0;
}

int ring_open(struct ring *ring, struct perf_event_attr *attributes, int32_t tid, size_t data_bytes)
{
    ring->page = NULL;
    attributes->size = sizeof *attributes;
    int fd = (int)syscall(SYS_perf_event_open, attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    int why = ENOMEM;
    data_bytes = data_bytes < page_bytes() ? page_bytes() : data_bytes;
    for (; data_bytes >= page_bytes(); data_bytes /= 2) {
        void *at = mmap(NULL, page_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            *ring = (struct ring){.page = at, .data_bytes = data_bytes};
            if (attributes->sample_period)
                keep_descriptor(ring, fd);
            else
                close(fd);
            return 0;
        }
        why = errno;
        if (why != EPERM && why != ENOMEM)
            break;
    }
    close(fd);
    return why;
}

/* A process that was forked meanwhile may hold the event still. */
static void leave_descriptor(struct ring *ring)
{
    if (ring->fd < 0)
        return;
    n_descriptors--;
    if (ring_descriptor(ring) >= 0) {
        ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0);
        close(ring->fd);
    }
}

void ring_close(struct ring *ring)
{
    if (!ring->page)
        return;
    leave_descriptor(ring);
    munmap(ring->page, page_bytes() + ring->data_bytes);
    ring->page = NULL;
}

const struct perf_event_header *ring_peek(struct ring *ring, void *room)
{
    if (!ring->page)
        return NULL;
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    if (head - ring->tail < sizeof(struct perf_event_header))
        return NULL;
    const char *data = (const char *)ring->page + page_bytes();
    size_t at = ring->tail % ring->data_bytes;
    /* Records are multiples of 8 bytes, hence headers never wrap. */
    const struct perf_event_header *record = (const void *)(data + at);
    if (record->size < sizeof *record || record->size > head - ring->tail) {
        ring->tail = head;
        return NULL;
    }
    size_t first = ring->data_bytes - at;
    if (record->size <= first)
        return record;
    size_t size = record->size;
    memcpy(room, record, first);
    memcpy((char *)room + first, data, size - first);
    return room;
}

void ring_pop(struct ring *ring, const struct perf_event_header *record)
{
    ring->tail += record->size;
    __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
