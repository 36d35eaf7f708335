/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin of recording: called by the wrappers of MPI_Init, MPI_Abort ... */
#pragma once
#include <stdbool.h>

void life_start(void);          /* MPI is initialised: make the run directory, begin. At most once. */
void life_abort(int mpi_error); /* MPI_Abort is about to be called */
/* Writes a WW_CLOCK where this rank's clock is not that of rank 0. Collective, on every rank that started. */
void life_compare_clocks(void);
