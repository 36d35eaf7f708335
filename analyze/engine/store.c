/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/engine/store.h"
#include "wrap/base/containers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t aligned(uint64_t offset)
{
    enum { ALIGNED = 64 };
    return (offset + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static struct store_place *places_new(uint32_t n)
{
    struct store_place *places = memory_new(n + 1, sizeof *places);
    return places;
}

bool store_create(struct store *store)
{
    *store = (struct store){.fd = memfd_create("whywait", MFD_CLOEXEC)};
    return store->fd >= 0;
}

void store_release(struct store *store)
{
    store_leave(store);
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
}

static bool write_at(int fd, const void *what, size_t n_bytes, uint64_t offset)
{
    for (const char *at = what; n_bytes;) {
        ssize_t n = pwrite(fd, at, n_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        n_bytes -= (size_t)n;
    }
    return true;
}

static bool is_same(const struct parcel *parcels, uint32_t a, uint32_t b)
{
    return parcels[a].at == parcels[b].at && parcels[a].n_bytes == parcels[b].n_bytes;
}

bool store_write(struct store *store, const struct parcel *parcels, uint32_t n, uint32_t but)
{
    struct store_place *places = places_new(n);
    uint64_t end = n * sizeof *places;
    uint32_t last = n; /* the last one that was written */
    bool is_written = !ftruncate(store->fd, 0);
    for (uint32_t i = 0; parcels && i < n && is_written; i++) {
        if (i == but)
            continue;
        if (last < n && is_same(parcels, last, i)) {
            places[i] = places[last];
            continue;
        }
        places[i] = (struct store_place){aligned(end), parcels[i].n_bytes};
        is_written = write_at(store->fd, parcels[i].at, parcels[i].n_bytes, places[i].offset);
        end = places[i].offset + places[i].n_bytes;
        last = i;
    }
    is_written = is_written && write_at(store->fd, places, n * sizeof *places, 0);
    free(places);
    return is_written;
}

static bool map(struct store *store, int protection)
{
    struct stat found;
    if (fstat(store->fd, &found) || !found.st_size)
        return false;
    void *at = mmap(NULL, (size_t)found.st_size, protection, MAP_SHARED, store->fd, 0);
    if (at == MAP_FAILED)
        return false;
    store->at = at;
    store->size_bytes = (size_t)found.st_size;
    return true;
}

bool store_read(struct store *store, uint32_t number, struct parcel *parcel)
{
    if (!store->at && !map(store, PROT_READ))
        return false;
    struct store_place place = ((const struct store_place *)store->at)[number];
    *parcel = place.n_bytes == UINT64_MAX
                  ? (struct parcel){NULL, PARCEL_LOST}
                  : (struct parcel){(const char *)store->at + place.offset, (size_t)place.n_bytes};
    return true;
}

bool store_prepare(struct store *store, const uint64_t *sizes_bytes, uint32_t n)
{
    struct store_place *places = places_new(n);
    uint64_t end = n * sizeof *places;
    for (uint32_t i = 0; i < n; i++) {
        places[i] = (struct store_place){aligned(end), sizes_bytes[i]};
        if (sizes_bytes[i] != UINT64_MAX)
            end = places[i].offset + sizes_bytes[i];
    }
    bool is_there = !ftruncate(store->fd, 0) && !posix_fallocate(store->fd, 0, (off_t)end) &&
                    write_at(store->fd, places, n * sizeof *places, 0) && map(store, PROT_READ | PROT_WRITE);
    free(places);
    return is_there;
}

void store_leave(struct store *store)
{
    if (store->at)
        munmap(store->at, store->size_bytes);
    store->at = NULL;
}
