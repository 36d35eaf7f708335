/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends an interval of the calling thread: what MPI calls do in a recorded program. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
void counts_sync(void);
#ifdef __cplusplus
}
#endif
