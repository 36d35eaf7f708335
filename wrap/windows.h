/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record --window TIME --every TIME: read by the tool, which tells the user what is wrong, and by the recorder, which
 * has them from the environment.
 */
#pragma once
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct windows {
    uint64_t window_ns, every_ns; /* how long one is, from begin to begin; 0 = the run is recorded as a whole */
};

/* "500ms", "10s", "10m", "1h" -> ns; 0 = it is no such time. */
static inline uint64_t windows_time_ns(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    char *end;
    unsigned long long value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    for (unsigned i = 0; value > 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && value < (UINT64_MAX >> 8) / units[i].ns)
            return value * units[i].ns;
    return 0;
}

/* The fault of the two, either of which may be NULL; NULL = none. */
static inline const char *windows_read(const char *window, const char *every, bool has_last, struct windows *windows)
{
    *windows = (struct windows){0, 0};
    if (!window && !every)
        return NULL;
    if (!window || !every)
        return "--window and --every belong together";
    struct windows both = {windows_time_ns(window), windows_time_ns(every)};
    if (!both.window_ns || !both.every_ns)
        return "expected times such as 500ms, 10s, 10m, 1h";
    if (both.every_ns <= both.window_ns)
        return "a window must end before the next one begins";
    if (has_last)
        return "either windows or the newest records (--last) are kept";
    *windows = both;
    return NULL;
}
