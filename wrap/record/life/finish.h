/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of recording: called by the wrapper of MPI_Finalize. */
#pragma once

void finish_before_finalize(void); /* close spools, synchronise, convert */
void finish_after_finalize(void);  /* print the closing line */
