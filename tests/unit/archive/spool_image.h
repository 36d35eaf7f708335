/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spool files made by hand for tests: built in memory record by record, then saved whole, cut or damaged.
 *
 *     struct spool_image image = image_events(rank, n_ranks, thread);
 *     image_world(&image);
 *     image_call(&image, (struct ww_call){.call = WW_ID_Barrier, .enter_ns = 10, .leave_ns = 20, .comm = 1});
 *     image_save(&image, dir, image.bytes.n);
 *     image_release(&image);
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/format.h"
#include <stddef.h>
#include <stdint.h>

struct spool_image {
    VEC(uint8_t) bytes;
    int rank, n_ranks, thread;
    enum ww_kind kind;
};

struct spool_image image_events(int rank, int n_ranks, int thread);
struct spool_image image_samples(int rank, int n_ranks, int thread);
struct ww_header *image_header(struct spool_image *image);
/* Any record: its fixed part, then n_tail bytes. */
void image_record(struct spool_image *image, uint16_t type, const void *fixed, size_t n_fixed, const void *tail,
                  size_t n_tail);
void image_call(struct spool_image *image, struct ww_call call);
void image_done(struct spool_image *image, uint16_t type, struct ww_done done);
void image_stack(struct spool_image *image, uint32_t id, const uint64_t *addresses, uint32_t n);
void image_module(struct spool_image *image, uint32_t id, uint64_t low, uint64_t high, uint64_t bias, const char *path);
void image_comm(struct spool_image *image, uint32_t id, uint32_t parent, const int32_t *ranks, int32_t n,
                int32_t n_remote);
/* MPI_COMM_WORLD and MPI_COMM_SELF. */
void image_world(struct spool_image *image);
void image_sample(struct spool_image *image, struct ww_sample sample);
void image_switch(struct spool_image *image, struct ww_switch record);
/* Of the points 0 to n - 1 of module 1, 1000 and up. */
void image_bins(struct spool_image *image, enum ww_bin_kind what, uint32_t n);
/* Writes the first n bytes to DIR/spool/R-T.ev or .sm, making the directory. */
void image_save(const struct spool_image *image, const char *dir, size_t n);
void image_release(struct spool_image *image);

/* A new empty directory for a run, to be freed, and its removal. */
char *run_dir_new(void);
void run_dir_remove(char *dir);
