/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A place in what a process reads, to which it comes back. The process stays there, with all that it knows by then and
 * where it is in its files, and copies of it go on.
 */
#pragma once
#include <stdbool.h>

/* Returns in a copy, which ends by _exit. When one has ended well and `again` says so, another one goes on from here.
 * Otherwise the process ends as its copy did. */
void bookmark(bool (*again)(void *context), void *context);
