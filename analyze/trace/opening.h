/* SPDX-License-Identifier: BSD-3-Clause */
/* The opening of an archive: its anchor, its definitions, and the clocks of its locations as they were measured. */
#pragma once
#include "analyze/trace/locations.h"

/* Makes the trace of the archive, which is all zeros before. 0, or -1 after error(); the trace is there in any case. */
int opening_read(struct archive_reader *archive, const char *anchor);
