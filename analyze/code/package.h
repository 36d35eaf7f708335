/* SPDX-License-Identifier: BSD-3-Clause */
/* Which package of the distribution a file is from: where its debug information can be had. */
#pragma once
#include "wrap/base/containers.h"

/* Where Debian's package manager keeps a list of files for each package. */
#define PACKAGE_LISTS "/var/lib/dpkg/info"

/* The package whose list in `lists` has this file, without its architecture, in `arena`; NULL = none, or there are no
 * such lists here. Reads them all, some megabytes. */
const char *package_of_file(struct arena *arena, const char *lists, const char *path);
