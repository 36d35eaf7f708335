/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table that the compiler plugin leaves in a program (wrap/points.h), and counts solved with it. The input
 * is the points section; the strings are the input as well, so that offsets into it name something.
 */
#include "analyze/counts/counts.h"
#include "analyze/counts/table.h"
#include "tests/fuzz/fuzz.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 64 };

/* One execution more at each of the first points, and two frames in flight. */
static void solve(struct counts *counts)
{
    struct counts_bin bins[MOST_BINS];
    struct counts_result result = {0};
    size_t n = counts->n_points < MOST_BINS ? counts->n_points : MOST_BINS;
    const struct counts_frame frames[] = {{counts_function(counts, 0)->address, 1}, {UINT64_MAX, -1}};
    for (size_t i = 0; i < n; i++)
        bins[i] = (struct counts_bin){(uint32_t)i, i % 3 ? i : UINT64_MAX / (i + 1)};
    counts_solve(counts, bins, n, frames, 2, &result);
    for (size_t i = 0; i < result.rows.n; i++)
        fuzz_must(result.rows.at[i].function < counts_n_functions(counts));
    counts_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct counts *counts = calloc(1, sizeof *counts);
    unsigned char *copy = malloc(n_bytes + 1); /* aligned, as libelf's buffers are */
    fuzz_must(counts != NULL && copy != NULL);
    memcpy(copy, data, n_bytes);
    copy[n_bytes] = 0;
    table_read(counts, copy, n_bytes, (const char *)copy, n_bytes, (struct points_offsets){copy, 0, n_bytes});
    if (counts_n_functions(counts))
        solve(counts);
    counts_close(counts);
    free(copy);
    return 0;
}
