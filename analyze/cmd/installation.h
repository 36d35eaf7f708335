/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that were built or installed together with the tool, found from where the tool itself lies. */
#pragma once
#include <limits.h>
#include <stdbool.h>

/* Looks for a file of ours among libraries. Returns false, and path is empty, when it is not there. */
bool installation_find(const char *name, char path[PATH_MAX]);

enum installation_compiler { INSTALLATION_GCC, INSTALLATION_CLANG, INSTALLATION_COMPILERS };
/* "GCC", "clang" */
const char *installation_compiler_name(enum installation_compiler compiler);
/* The plugin for this version of a compiler, or for any where it is NULL. A GCC needs its own ("12.2.0", or, where it
 * compiles for another machine, "12.2.0 for aarch64"); clang's fits all of a major version. */
bool installation_plugin(enum installation_compiler compiler, const char *version, char path[PATH_MAX]);
/* The versions of it that a plugin was built for ("11.3.0, 12.2.0"); "" = none. */
const char *installation_versions(enum installation_compiler compiler);
/* There is a plugin for some compiler. */
bool installation_counts(void);

/* `whywait version`. */
void installation_print(void);
