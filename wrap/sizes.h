/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and sizes of options, read by the tool, which tells the user what is wrong, and by the recorder, which has
 * them from the environment. */
#pragma once
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* "7", "200k", "1m", "2G" -> bytes, INT64_MAX for what is more than that. False when it is no such size. */
static inline bool size_read(const char *text, uint64_t *bytes)
{
    static const char letters[] = "kKmMgG";
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    uint64_t value = strtoull(text, &end, 10);
    if (*end && (!strchr(letters, *end) || end[1]))
        return false;
    unsigned shift = *end ? 10 * (1 + (unsigned)(strchr(letters, *end) - letters) / 2) : 0;
    *bytes = value > (uint64_t)INT64_MAX >> shift ? (uint64_t)INT64_MAX : value << shift;
    return true;
}
