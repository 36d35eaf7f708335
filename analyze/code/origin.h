/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The origin of a file, as its path and this system tell: the compiler and the system, a package, another user. And the
 * name under which a library is known.
 */
#pragma once
#include <stdbool.h>

struct arena;

/* True for headers of the compiler and the system: what is inlined from there belongs to the line that called it. */
bool source_is_system(const char *path);
/* Whoever asks did not build this file: it lies in a folder of the system, or belongs to another user who lets nobody
 * write it. */
bool file_is_given(const char *path);
/* The package whose list in the directory `lists`, as Debian's package manager keeps them, has this file, without its
 * architecture, in `arena`; NULL = none, or there are no such lists here. Reads them all. */
const char *package_of_file(struct arena *arena, const char *lists, const char *path);
/* Whether the lists of packages in the directory `lists`, as apt keeps them, have packages of debug information
 * ("-dbgsym"), which distributions keep apart. */
bool package_offers_debug(const char *lists);
/* The rest of a path behind the folder in which Python looks for packages; NULL = in none. Of several, the innermost.
 */
const char *path_below_packages(const char *path);
/* "numpy.fft._pocketfft", the name by which Python imports this source file. In `arena`. */
const char *source_module_name(struct arena *arena, const char *path);
/* The name of a library's file, or the name under which Python imports it. */
const char *library_name(struct arena *arena, const char *path);
/* "numpy.linalg._umath_linalg", the name by which Python imports this file; NULL = it is no extension module. In
 * `arena`. */
const char *extension_name(struct arena *arena, const char *path);
