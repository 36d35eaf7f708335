/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths in a record are not taken on trust. One may name a pipe, on which opening waits for ever, or a device that
 * never ends; and what it names may be exchanged at any moment. So a file is opened first, without waiting, and looked
 * at then.
 *
 * Libraries that read archives and debug information open files by their paths themselves. Their fopen and open are
 * replaced (plain.c): for reading, they open as plain_open does.
 */
#pragma once
#include <stdbool.h>

/* Opens a plain file, for reading unless `flags` say otherwise; they are added (O_NOFOLLOW). A file that O_CREAT makes
 * is this user's alone. Returns the descriptor, or -1 with errno set: EINVAL for what is no plain file. */
int plain_open(const char *path, int flags);
/* The same of a name in an open folder. */
int plain_open_at(int folder, const char *name, int flags);
/* Of an errno: the system failed or refused, whether the file is there or not. */
bool plain_is_fault(int why);
/* The same, but it may not fail again. */
bool plain_may_pass(int why);

/*
 * A library takes a file for missing that the system failed to open for it. Each thread knows the first such failure
 * since it last forgot, of a file that is there: its errno, 0 = none. `path` lives until the thread forgets.
 */
void plain_forget_fault(void);
void plain_note_fault(const char *path, int why);
int plain_fault(const char **path);
