/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have come as far as MPI (wrap/presence.h). */
#pragma once
#include <stdbool.h>

/* This process is the one that `whywait record` became. Safe in a child after vfork. */
bool presence_is_first(void);
/* It is, and the program's file was not linked with MPI. */
bool presence_is_doubtful(void);
/* This process begins MPI. */
void presence_tell(void);
/* This process has begun MPI. */
bool presence_is_told(void);
/* Of the process that `whywait record` became. It is known that nobody began MPI. */
bool presence_nobody_came(void);
