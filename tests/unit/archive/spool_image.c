/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/archive/spool_image.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool is_true, const char *what)
{
    if (!is_true)
        die("the test cannot %s", what);
}

static struct spool_image image_new(int rank, int n_ranks, int thread, enum ww_kind kind)
{
    struct spool_image image = {.rank = rank, .n_ranks = n_ranks, .thread = thread, .kind = kind};
    vec_resize(&image.bytes, WW_HEADER_BYTES);
    struct ww_header header = {.magic = WW_MAGIC,
                               .version = WW_FORMAT_VERSION,
                               .header_bytes = WW_HEADER_BYTES,
                               .kind = kind,
                               .rank = rank,
                               .n_ranks = n_ranks,
                               .thread = thread,
                               .start_ns = 1,
                               .realtime_ns = 1700000000000000000,
                               .sample_period_ns = 1000000,
                               .mpi = "openmpi 4.1.4",
                               .host = "node1",
                               .program = "/home/user/app",
                               .command = "./app 1 2"};
    memcpy(image.bytes.at, &header, sizeof header);
    return image;
}

struct spool_image image_events(int rank, int n_ranks, int thread)
{
    return image_new(rank, n_ranks, thread, WW_KIND_EVENTS);
}

struct spool_image image_samples(int rank, int n_ranks, int thread)
{
    return image_new(rank, n_ranks, thread, WW_KIND_SAMPLES);
}

struct ww_header *image_header(struct spool_image *image)
{
    return (struct ww_header *)(void *)image->bytes.at;
}

void image_record(struct spool_image *image, uint16_t type, const void *fixed, size_t n_fixed, const void *tail,
                  size_t n_tail)
{
    size_t at = image->bytes.n, units = (n_fixed + n_tail + WW_UNIT - 1) / WW_UNIT;
    vec_resize(&image->bytes, at + units * WW_UNIT);
    memcpy(image->bytes.at + at, fixed, n_fixed);
    if (n_tail)
        memcpy(image->bytes.at + at + n_fixed, tail, n_tail);
    struct ww_head head = {type, (uint16_t)units};
    memcpy(image->bytes.at + at, &head, sizeof head);
}

void image_call(struct spool_image *image, struct ww_call call)
{
    image_record(image, WW_CALL, &call, sizeof call, NULL, 0);
}

void image_done(struct spool_image *image, uint16_t type, struct ww_done done)
{
    image_record(image, type, &done, sizeof done, NULL, 0);
}

void image_stack(struct spool_image *image, uint32_t id, const uint64_t *addresses, uint32_t n)
{
    struct ww_stack stack = {.id = id, .n = n};
    image_record(image, WW_STACK, &stack, offsetof(struct ww_stack, address), addresses, n * sizeof *addresses);
}

void image_module(struct spool_image *image, uint32_t id, uint64_t low, uint64_t high, uint64_t bias, const char *path)
{
    struct ww_module module = {.id = id,
                               .low = low,
                               .high = high,
                               .bias = bias,
                               .build_id = {0xab, 0xcd},
                               .build_id_bytes = 2,
                               .path_bytes = (uint32_t)strlen(path)};
    image_record(image, WW_MODULE, &module, offsetof(struct ww_module, path), path, strlen(path) + 1);
}

void image_comm(struct spool_image *image, uint32_t id, uint32_t parent, const int32_t *ranks, int32_t n,
                int32_t n_remote)
{
    struct ww_comm comm = {.id = id, .parent = parent, .size = n, .remote_size = n_remote};
    image_record(image, WW_COMM, &comm, offsetof(struct ww_comm, world_rank), ranks,
                 (size_t)(n + n_remote) * sizeof *ranks);
}

void image_world(struct spool_image *image)
{
    int32_t *ranks = calloc((size_t)image->n_ranks, sizeof *ranks), self = image->rank;
    require(ranks, "get memory");
    for (int i = 0; i < image->n_ranks; i++)
        ranks[i] = i;
    image_comm(image, 1, 0, ranks, image->n_ranks, 0);
    image_comm(image, 2, 0, &self, 1, 0);
    free(ranks);
}

void image_sample(struct spool_image *image, struct ww_sample sample)
{
    image_record(image, WW_SAMPLE, &sample, sizeof sample, NULL, 0);
}

void image_switch(struct spool_image *image, struct ww_switch record)
{
    image_record(image, WW_SWITCH, &record, sizeof record, NULL, 0);
}

void image_bins(struct spool_image *image, enum ww_bin_kind what, uint32_t n)
{
    struct ww_bins bins = {.what = (uint16_t)what, .module = 1, .n = n};
    VEC(uint8_t) tail = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = 1000 + i;
        vec_resize(&tail, tail.n + 12);
        memcpy(tail.at + tail.n - 12, &i, 4);
        memcpy(tail.at + tail.n - 8, &value, 8);
    }
    image_record(image, WW_BINS, &bins, offsetof(struct ww_bins, bins), tail.at, tail.n);
    vec_release(&tail);
}

void image_save(const struct spool_image *image, const char *dir, size_t n)
{
    char *spool = path_format("%s/spool", dir);
    char *path =
        path_format("%s/%d-%d.%s", spool, image->rank, image->thread, image->kind == WW_KIND_EVENTS ? "ev" : "sm");
    int made = dir_make(spool);
    FILE *file = fopen(path, "wb");
    require(!made && file, "make a spool file");
    require(fwrite(image->bytes.at, 1, n, file) == n && !fclose(file), "write a spool file");
    free(spool);
    free(path);
}

void image_release(struct spool_image *image)
{
    vec_release(&image->bytes);
}

char *run_dir_new(void)
{
    char *dir = strdup("/tmp/whywait-test-XXXXXX");
    require(dir && mkdtemp(dir), "make a directory");
    return dir;
}

void run_dir_remove(char *dir)
{
    dir_remove(dir);
    free(dir);
}
