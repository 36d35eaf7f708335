/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's own use of MPI: a private duplicate of MPI_COMM_WORLD for agreeing at the start and adding up at the
 * end. Everything goes through PMPI, so that no tool sees it. All functions but world_is_up are collective; false means
 * that MPI refused.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MPI is initialised and not finalised, or there is a communicator in the place of MPI_COMM_WORLD. */
bool world_is_up(void);
/* In a program without MPI_COMM_WORLD: the MPI_Comm at `all` has the same members. To be called before world_open, with
 * these members doing the same. It may be freed after that. */
bool world_use(const void *all);
bool world_open(int32_t *rank, int32_t *n_ranks);
/* Rank 0's bytes to all. */
bool world_broadcast(void *data, size_t size_bytes);
/* Rank 0's bytes to all, and MPI goes on meanwhile: `data` stays where it is until they have arrived. One at a time. */
bool world_send(void *data, size_t size_bytes);
/* Waits for them; false also when that takes longer than patience_ns. */
bool world_await(uint64_t patience_ns);
/* Several threads may call MPI at the same time. */
bool world_has_threads(void);
/* Adds up n values (at most 16) on rank 0; elsewhere they stay as they are. */
bool world_sum(uint64_t *values, unsigned n);
bool world_barrier(void);
/* Rising, the ranks that say true: takes each of them, on all ranks. */
void world_each(bool is_one, void (*take)(int32_t rank));
/* The clock of rank 0 (reference_ns) when ours showed local_ns, give or take error_ns. */
struct world_clock {
    uint64_t local_ns, reference_ns;
    uint32_t error_ns;
};
/* Measures it by round trips where a rank's clock is not that of rank 0 (another boot, another time namespace). True on
 * the ranks that measured. */
bool world_compare_clocks(int32_t n_ranks, struct world_clock *own);
void world_close(void);
/* "openmpi 4.1.4": which MPI this is. */
void world_library(char *text, size_t size_bytes);
