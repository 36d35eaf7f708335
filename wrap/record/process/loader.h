/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects loaded and unloaded so far: while neither count moves, what was learnt of them still holds. */
#pragma once

struct loader_counts {
    unsigned long long n_adds, n_subs;
};

/* Of now. Takes the dynamic linker's lock for a moment. */
struct loader_counts loader_count(void);
