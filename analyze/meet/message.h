/* SPDX-License-Identifier: BSD-3-Clause */
/* What the first of a launcher's processes tells the others. */
#pragma once

struct meet_message {
    char text[1024]; /* words with blanks between; empty = nothing can be said */
};

/* Exit status where some do not come. */
enum { MEET_LATE = 2 };
