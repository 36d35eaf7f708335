/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapping keeps the event alive after its descriptor was closed, so that the recorder holds no descriptors that a
 * program could close or miss.
 */
#include "wrap/record/sample/ring.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

int ring_open(struct ring *ring, struct perf_event_attr *attributes, int32_t tid, size_t data_bytes)
{
    ring->page = NULL;
    attributes->size = sizeof *attributes;
    int fd = (int)syscall(SYS_perf_event_open, attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    int why = ENOMEM;
    for (; data_bytes >= PAGE; data_bytes /= 2) {
        void *at = mmap(NULL, PAGE + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            *ring = (struct ring){at, data_bytes, 0};
            why = 0;
            break;
        }
        why = errno;
        if (why != EPERM && why != ENOMEM)
            break;
    }
    close(fd);
    return why;
}

void ring_close(struct ring *ring)
{
    if (ring->page)
        munmap(ring->page, PAGE + ring->data_bytes);
    ring->page = NULL;
}

const struct perf_event_header *ring_peek(struct ring *ring, void *scratch)
{
    if (!ring->page)
        return NULL;
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    if (head - ring->tail < sizeof(struct perf_event_header))
        return NULL;
    const char *data = (const char *)ring->page + PAGE;
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
    memcpy(scratch, record, first);
    memcpy((char *)scratch + first, data, size - first);
    return scratch;
}

void ring_pop(struct ring *ring, const struct perf_event_header *record)
{
    ring->tail += record->size;
    __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
