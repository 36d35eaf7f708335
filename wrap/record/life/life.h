/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin of recording, and what switches it: called by the wrappers of MPI_Init, MPI_Abort, MPI_Pcontrol ... */
#pragma once
#include <stdbool.h>

void record_start(void);          /* MPI is initialised: make the run directory, begin. At most once. */
void record_abort(int mpi_error); /* MPI_Abort is about to be called */
void record_pcontrol(int level);
bool record_is_on(void);
void record_give_up(const char *why, ...) __attribute__((format(printf, 1, 2)));
/* Writes a WW_CLOCK where this rank's clock is not that of rank 0. Collective, on every rank that started. */
void life_compare_clocks(void);
