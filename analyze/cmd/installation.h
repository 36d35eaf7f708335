/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that were built or installed together with this tool. */
#pragma once
#include <limits.h>
#include <stdbool.h>

/* Looks for a library of ours from where the tool itself lies. Returns false, and path is empty, when it is not there.
 */
bool installation_find(const char *name, char path[PATH_MAX]);
