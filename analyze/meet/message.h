/* SPDX-License-Identifier: BSD-3-Clause */
/* The first of a launcher's processes sends this to the others. */
#pragma once

struct meet_message {
    char text[1024]; /* words with blanks between; empty = nothing can be said */
};

/* Exit status where some do not come. */
enum { MEET_LATE = 2 };
