/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs: which one the user means, and the archive in it, which is made from the spool where there is none yet. */
#pragma once
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The anchor file of `path`: a run directory, a directory with exactly one run or anchor in it, or an anchor; NULL
 * means the newest *.whywait directory here. To be freed; NULL after error(). */
char *run_find_archive(const char *path);
/* Likewise the run directory, whether or not it has an archive. To be freed; NULL after error(). */
char *run_find_directory(const char *path);
/* Makes the archive of a run directory from the parts of its ranks. WHYWAIT_KEEP_SPOOL in the environment keeps the
 * spool. Returns 0, or -1 after error(). */
int run_join(const char *directory);
/* The same from whatever its spool holds, of a run that never came to make the parts. */
int run_salvage(const char *directory);

/* True for a directory *.whywait with an archive, its parts or a spool in it. */
bool run_is_run(const char *path);
/* True when its archive has been made. */
bool run_has_archive(const char *path);
/* Names of the runs in a directory, in no order: adds to *n, each and (by vec_free) the array to be freed. Returns 0,
 * or -1 after error(). */
int run_names(const char *directory, char ***names, size_t *n);

/* Paths and directories of a run. Every path is to be freed. */

char *path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool path_exists(const char *path);
/* Makes a private directory; one that is there is fine. Returns 0, or -1 after error(). */
int dir_make(const char *path);
/* Removes a directory with everything in it, never following a link; nothing there is fine. */
int dir_remove(const char *path);
/* The next entry of an open folder; NULL at its end, and with the errno in *why where the system could not read on. */
struct dirent *dir_next(DIR *entries, int *why);
/* Renames, after error() on failure. */
int path_rename(const char *from, const char *to);
/* All that is left of an open file to the beginning of another. Blocks of zeros become holes: spool files are made
 * larger than what is in them. 0, or -1 with errno. */
int file_copy(int from, int to);

/* Two users of one run: a program that still records it, and tools that make its archive at the same time. */

/* Does this process have the spool file mapped now? Known for processes of this machine only. */
bool spool_is_mapped(const char *path, int32_t pid);
/* Is this spool file still mapped by the process that writes it, and stays so for a second? Known for processes of this
 * machine only. */
bool spool_in_use(const char *path, int32_t pid);

/* Waits until nobody else holds the lock file `path`. Returns a descriptor for lock_release; -1 where locks do not
 * work, which is no error. */
int lock_take(const char *path);
void lock_release(int lock);

/* A run that was killed while its spool was on a disk of the node: the run directory holds links to the files. */

/* Replaces every link in `spool_dir` (RUNDIR/spool) by the file that it leads to. Files of other nodes
 * are left, and so, with a warning, are those that are not safely this user's own. Returns 0, or -1 after error(). */
int spool_bring_home(const char *spool_dir);
/* The node on whose disk the file lies that `link` leads to: its name, or words for it where the link does not tell. */
void spool_link_node(const char *link, char *node, size_t size_bytes);
