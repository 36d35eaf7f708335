/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that were built or installed together with the tool, found from where the tool itself lies. */
#pragma once
#include <limits.h>
#include <stdbool.h>

/* Looks for a file of ours among libraries. Returns false, and path is empty, when it is not there. */
bool installation_find(const char *name, char path[PATH_MAX]);

/* The compiler plugin for this version of GCC (12.2.0), or for any where it is NULL. */
bool installation_plugin(const char *gcc, char path[PATH_MAX]);
/* The versions of GCC that a plugin was built for ("11.3.0, 12.2.0"); "" = none. */
const char *installation_gccs(void);

/* `whywait version`. */
void installation_print(void);
