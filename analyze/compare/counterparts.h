/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which code of one build is which code of another, from where it stands.
 *
 * Code is alike when it is the same but for its lines (state, file, routine; or name). Between two builds lines move,
 * mostly all by the same number. So of the alike on both sides, those belong together that stand apart by the number
 * which fits most of them, the smallest one where several do; what is left is put together in its order, between the
 * neighbours that have been found. Code of the same build has not moved.
 *
 * A routine on one side only may have been renamed: of those in one file, two of as many lines belong together if they
 * stand in the same ones, moved alike with another loop, or moved as their neighbours did.
 *
 * O(p log p) for p pairs of alike code.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERPART_NONE = UINT32_MAX };

struct candidate {
    const char *alike;   /* equal texts: the same but for lines */
    const char *renamed; /* likewise, but for the routine as well; NULL without file and routine */
    const char *file, *routine;
    uint64_t build; /* 0 = unknown */
    uint32_t line_first, line_last;
    bool is_after;
};

/* The index of each one's counterpart on the other side, or COUNTERPART_NONE, in `counterpart`. */
void counterparts_find(const struct candidate *candidates, uint32_t n, uint32_t *counterpart);
