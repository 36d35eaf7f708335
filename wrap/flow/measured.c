/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines stay as they are read until somebody asks for their routine: a unit needs few of them. */
#include "wrap/flow/measured.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So small that one execution among a million calls is dearer than all that never happened. */
static const double TRIFLE = 1e-9;

struct measured {
    char *text;
    VEC(const char *) lines; /* by name */
};

uint32_t measured_checksum(const struct cfg *cfg)
{
    uint32_t sum = 2166136261u;
    for (size_t e = 0; e < cfg->edges.n; e++) {
        sum = (sum ^ cfg->edges.at[e].from) * 16777619u;
        sum = (sum ^ cfg->edges.at[e].to) * 16777619u;
    }
    return sum;
}

static int64_t calls_of(const struct cfg *cfg, const int64_t *count)
{
    int64_t n = 0;
    for (uint32_t i = cfg->out_at[cfg->root]; i < cfg->out_at[cfg->root + 1]; i++)
        n += count[cfg->out[i]];
    return n;
}

void measured_write(FILE *out, const char *name, const struct cfg *cfg, const int64_t *count)
{
    if (calls_of(cfg, count) <= 0)
        return;
    fprintf(out, "%s %" PRIu32 " %zu", name, measured_checksum(cfg), (size_t)cfg->edges.n);
    for (size_t e = 0; e < cfg->edges.n; e++)
        fprintf(out, " %" PRId64, count[e]);
    fputc('\n', out);
}

static int by_name(const char *a, const char *b)
{
    size_t n_a = strcspn(a, " "), n_b = strcspn(b, " "), n = n_a < n_b ? n_a : n_b;
    int order = memcmp(a, b, n);
    return order ? order : (n_a > n_b) - (n_a < n_b);
}

static int by_line(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return by_name(*left, *right);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    ssize_t n = getdelim(&text, &room, '\0', file);
    int why = errno;
    bool is_empty = n < 0 && feof(file);
    fclose(file);
    if (n >= 0)
        return text;
    free(text);
    errno = why;
    return is_empty ? strdup("") : NULL;
}

struct measured *measured_read(const char *path)
{
    char *text = read_all(path);
    struct measured *measured = text ? calloc(1, sizeof *measured) : NULL;
    if (!measured) {
        free(text);
        return NULL;
    }
    measured->text = text;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            *vec_push(&measured->lines) = line;
    vec_sort(&measured->lines, by_line);
    return measured;
}

void measured_free(struct measured *measured)
{
    if (!measured)
        return;
    vec_release(&measured->lines);
    free(measured->text);
    free(measured);
}

static size_t first_line(const struct measured *measured, const char *name)
{
    size_t low = 0;
    bisect(low, measured->lines.n, by_name(measured->lines.at[low], name) < 0);
    return low;
}

/* Adds a line's counts; false where it is of another routine, or damaged. */
static bool add_line(const char *line, const struct cfg *cfg, int64_t *count)
{
    char *at = (char *)line + strcspn(line, " ");
    uint32_t checksum = (uint32_t)strtoul(at, &at, 10);
    size_t n = strtoul(at, &at, 10);
    if (checksum != measured_checksum(cfg) || n != cfg->edges.n)
        return false;
    VEC(int64_t) read = {0};
    bool is_whole = true;
    for (size_t e = 0; e < n && is_whole; e++) {
        char *from = at;
        int64_t value = strtoll(at, &at, 10);
        is_whole = at != from && value >= 0 && value <= INT64_MAX - count[e];
        *vec_push(&read) = value;
    }
    for (size_t e = 0; e < n && is_whole; e++)
        count[e] += read.at[e];
    vec_release(&read);
    return is_whole;
}

bool measured_weigh(const struct measured *measured, const char *name, const struct cfg *cfg, double *weights)
{
    bool is_known = false;
    int64_t *count = calloc(cfg->edges.n + 1, sizeof *count);
    for (size_t i = first_line(measured, name);
         count && i < measured->lines.n && by_name(measured->lines.at[i], name) == 0; i++)
        is_known |= add_line(measured->lines.at[i], cfg, count);
    int64_t calls = is_known ? calls_of(cfg, count) : 0;
    for (size_t e = 0; e < cfg->edges.n && calls > 0; e++)
        weights[e] = (double)count[e] / (double)calls + TRIFLE * weights[e];
    free(count);
    return calls > 0;
}
