/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Power may fail at any moment. So nothing that is the only copy is removed before what replaces it is on the disk:
 * first the bytes of the new files, then the folders that name them, then the removal.
 *
 * Where a file system has no such promise to give (EINVAL, ENOSYS), or a folder cannot be opened, that is no failure.
 * All return 0, or -1 after error().
 */
#pragma once

/* The bytes of an open file. Says nothing: -1 with errno. */
int durable_bytes(int fd);
/* The names in a folder. */
int durable_names(const char *folder);
/* The name of a folder, which may be a link to it, in the folder around it. */
int durable_folder(const char *folder);
/* All files and folders under a folder, and the names in it. */
int durable_tree(const char *folder);
