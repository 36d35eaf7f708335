/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/meter.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const uint64_t FIRST_NS = 2000000000, AGAIN_NS = 500000000;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void meter_stage(struct meter *meter, const char *stage, const char *unit, uint64_t n, uint64_t n_after)
{
    if (!meter->begin_ns)
        meter->is_silent = !isatty(STDERR_FILENO);
    meter->stage_ns = clock_ns();
    meter->begin_ns = meter->begin_ns ? meter->begin_ns : meter->stage_ns;
    meter->stage = stage;
    meter->unit = unit;
    meter->n = n;
    meter->n_after = n_after;
    meter->n_done = 0;
}

/* How much of the line is there, after snprintf has returned n. */
static size_t append(size_t used, size_t size, int n)
{
    return n < 0 ? used : used + (size_t)n < size ? used + (size_t)n : size - 1;
}

size_t meter_line(const struct meter *meter, uint64_t now_ns, char *line, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G"};
    if (!meter->stage || now_ns < meter->begin_ns + FIRST_NS || now_ns <= meter->stage_ns)
        return 0;
    double rate = (double)meter->n_done * 1e9 / (double)(now_ns - meter->stage_ns), scaled = rate;
    size_t prefix = 0, used = append(0, size, snprintf(line, size, "whywait: %s", meter->stage));
    for (; scaled >= 1000 && prefix < 3; prefix++)
        scaled /= 1000;
    if (meter->n && meter->n_done <= meter->n)
        used = append(used, size,
                      snprintf(line + used, size - used, "  %2.0f %%", 100 * (double)meter->n_done / (double)meter->n));
    used =
        append(used, size, snprintf(line + used, size - used, "  %.3g %s %s/s", scaled, prefixes[prefix], meter->unit));
    if (meter->n && meter->n_done <= meter->n && rate > 0)
        used = append(used, size,
                      snprintf(line + used, size - used, "  about %.0f s left",
                               (double)(meter->n - meter->n_done + meter->n_after) / rate));
    return used;
}

void meter_add(struct meter *meter, uint64_t n)
{
    char line[160];
    meter->n_done += n;
    if (meter->is_silent || !meter->stage)
        return;
    uint64_t now_ns = clock_ns();
    if (now_ns < meter->shown_ns + AGAIN_NS || !meter_line(meter, now_ns, line, sizeof line))
        return;
    meter->shown_ns = now_ns;
    meter->is_shown = true;
    fprintf(stderr, "\r%s\033[K", line);
}

void meter_end(struct meter *meter)
{
    if (meter->is_shown)
        fprintf(stderr, "\r\033[K");
    *meter = (struct meter){0};
}
