/* SPDX-License-Identifier: BSD-3-Clause */
/* The run directory, made without ever meeting somebody else's files; and a spool on a disk of the node. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Makes `parent`/PROGRAM-RANKS-DATE-TIME.whywait with its spool folder, both 0700, and stores its absolute path. False
 * with errno. */
bool rundir_create(const char *parent, const char *program, int n_ranks, char *path, size_t size_bytes);
/* On a node that does not see the directory of rank 0: makes it there too. */
bool rundir_ensure(const char *path);

/* Of all ranks that end without MPI_Finalize, true for the first that asks. */
bool rundir_is_first_end(const char *path);

/*
 * The spool lies on a disk of the node when the run directory lies on a network file system, or when the user says so.
 * While the program runs, the run directory holds links to the files, so that a run that was killed can be salvaged on
 * the same node; at the end the files themselves take the place of the links.
 *
 * Makes a private directory for this rank in `wish`, or, when `wish` is empty and run_dir lies on a network file
 * system, in the first of $TMPDIR, /tmp and /var/tmp that is local and has room. False: there is no reason to, there
 * is no such place (which is noted), or, with errno != 0, it cannot be done in `wish`.
 */
bool rundir_choose_node_disk(const char *run_dir, const char *wish, char *dir, size_t size_bytes);
/* Copies all files of `dir` over the links in `spool`, and removes `dir`. False with errno when something stays behind.
 */
bool rundir_collect(const char *dir, const char *spool);
