/* SPDX-License-Identifier: BSD-3-Clause */
/* Two users of one run: a program that still records it, and tools that make its archive at the same time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Does this process have the spool file mapped now? Known for processes of this machine only. */
bool spool_is_mapped(const char *path, int32_t pid);
/* Is this spool file still mapped by the process that writes it, and stays so for a second? Known for processes of this
 * machine only. */
bool spool_in_use(const char *path, int32_t pid);

/* Waits until nobody else holds the lock file `path`. Returns a descriptor for lock_release; -1 where locks do not
 * work, which is no error. */
int lock_take(const char *path);
void lock_release(int lock);
