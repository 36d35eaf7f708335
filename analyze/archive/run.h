/* SPDX-License-Identifier: BSD-3-Clause */
/* Which run the user means, and the archive in it. */
#pragma once

/* The anchor file of `path`: a run directory (whose archive is made from its spool when there is none yet), a directory
 * with exactly one anchor, or an anchor; NULL means the newest *.whywait directory here. To be freed; NULL after
 * error(). */
char *run_find_archive(const char *path);
