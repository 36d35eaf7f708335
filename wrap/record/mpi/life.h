/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of recording, whichever language initialises MPI. All may be called again, and do nothing then. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* MPI_Init or kin succeeded. */
void life_started(uint16_t id, const void *return_address, const void *frame_address);
/* It did so before, or some other beginning of MPI was seen. */
bool life_has_started(void);
/* MPI_Finalize is about to be called. */
void life_ends(uint16_t id, const void *return_address, const void *frame_address);
/* It has returned. */
void life_ended(void);
