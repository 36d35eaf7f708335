/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/err.h"
#include "wrap/base/err_names.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

/* A few at a time, so that the first free place is found at once. */
static struct name {
    char path[32];
    char *name; /* NULL = the place is free */
} names[16];

/* Where in the line one of the paths begins, and which it is. */
static const char *find_name(const char *line, const struct name **found)
{
    const char *first = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = names[i].name ? strstr(line, names[i].path) : NULL;
        while (at && at[strlen(names[i].path)] >= '0' && at[strlen(names[i].path)] <= '9')
            at = strstr(at + 1, names[i].path);
        if (at && (!first || at < first)) {
            first = at;
            *found = &names[i];
        }
    }
    return first;
}

/* As much as there is room for. */
static void put_names(char *to, size_t size_bytes, const char *line)
{
    const struct name *found;
    size_t used = 0;
    for (const char *at; used + 1 < size_bytes && (at = find_name(line, &found)); line = at + strlen(found->path)) {
        snprintf(to + used, size_bytes - used, "%.*s%s", (int)(at - line), line, found->name);
        used += strlen(to + used);
    }
    snprintf(to + used, size_bytes - used, "%s", line);
}

void err_name(const char *path, const char *name)
{
    char known[LINE_BYTES];
    struct name *place = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].name && !strcmp(names[i].path, path)) {
            free(names[i].name);
            names[i].name = NULL;
        }
    for (size_t i = 0; i < sizeof names / sizeof *names && !place; i++)
        place = names[i].name ? NULL : &names[i];
    if (!name || !place)
        return;
    put_names(known, sizeof known, name);
    snprintf(place->path, sizeof place->path, "%s", path);
    place->name = strdup(known);
}

/* Lines with one format. */
enum { MOST_KINDS = 64, MOST_ALIKE = 5 };
static struct kind {
    const char *format;
    uint64_t n, n_left_out;
    char *said; /* last: who comes to the same says the same */
    char *last; /* of those left out */
} kinds[MOST_KINDS];

/* NULL where there are too many kinds. A new one has n = 0. */
static struct kind *kind_of(const char *format)
{
    for (size_t i = 0; i < MOST_KINDS; i++)
        if (!kinds[i].format || kinds[i].format == format)
            return &kinds[i];
    return NULL;
}

static void say_left_out(void)
{
    for (size_t i = 0; i < MOST_KINDS; i++) {
        if (kinds[i].n_left_out)
            fprintf(stderr, "whywait: and %" PRIu64 " more like it; the last: %s\n", kinds[i].n_left_out,
                    kinds[i].last);
        kinds[i].n_left_out = 0;
    }
}

/* The line is not printed when it is one of many. */
static bool is_left_out(const char *format, const char *line)
{
    struct kind *kind = kind_of(format);
    if (kind && kind->said && !strcmp(kind->said, line))
        return true;
    if (kind && !kind->n++) {
        static bool is_begun;
        if (!is_begun)
            is_begun = atexit(say_left_out) == 0;
        kind->format = format;
        say_left_out();
    }
    if (!kind || kind->n <= MOST_ALIKE) {
        if (kind) {
            free(kind->said);
            kind->said = strdup(line);
        }
        return false;
    }
    free(kind->last);
    kind->last = strdup(line);
    kind->n_left_out += kind->last != NULL;
    return kind->last != NULL;
}

/* One write a message, so that lines of several ranks do not mix. Names in it may come from anywhere. */
static void err_say(const char *prefix, const char *format, va_list args)
{
    char line[LINE_BYTES], named[LINE_BYTES], escaped[4 * LINE_BYTES];
    int used = snprintf(line, sizeof line, "whywait: %s", prefix);
    vsnprintf(line + used, sizeof line - (size_t)used, format, args);
    put_names(named, sizeof named, line);
    plain_text(escaped, named);
    flockfile(stderr); /* of this thread: so are the kinds */
    if (!is_left_out(format, escaped + strlen("whywait: ")))
        fprintf(stderr, "%s\n", escaped);
    funlockfile(stderr);
}

void err_bug(const char *file, int line, const char *format, ...)
{
    char prefix[256];
    snprintf(prefix, sizeof prefix, "internal error at %s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    err_say(prefix, format, args);
    va_end(args);
    abort();
}

static bool (*err_asks)(void);
static bool is_silent;

void err_ask(bool (*may_speak)(void))
{
    err_asks = may_speak;
}

static void err_say_fault(const char *format, va_list args)
{
    if (err_asks)
        is_silent = !err_asks();
    err_asks = NULL;
    if (!is_silent)
        err_say("", format, args);
}

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_say_fault(format, args);
    va_end(args);
    exit(1);
}

int error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_say_fault(format, args);
    va_end(args);
    return -1;
}

void warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_say("warning: ", format, args);
    va_end(args);
}

void err_out_of_memory(size_t size_bytes)
{
    die("out of memory (%zu bytes more were needed)", size_bytes);
}

/* Length of the UTF-8 sequence at `text` and its code point; 0 when it is malformed (too long, surrogate, cut). */
static unsigned utf8_decode(const unsigned char *text, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = *text < 0x80           ? 1
                      : (*text >> 5) == 0x06 ? 2
                      : (*text >> 4) == 0x0e ? 3
                      : (*text >> 3) == 0x1e ? 4
                                             : 0;
    if (length <= 1) {
        *code = *text;
        return length;
    }
    *code = *text & (0x7fu >> length);
    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    bool is_bad = *code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000);
    return is_bad ? 0 : length;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static bool is_harmless(uint32_t code)
{
    bool turns_direction = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                           (code >= 0x2066 && code <= 0x2069);
    return !is_control(code) && !turns_direction && code != 0xfeff;
}

static size_t escape(char *to, const char *text, bool keeps_control)
{
    const unsigned char *from = (const unsigned char *)text;
    char *end = to;
    while (*from) {
        uint32_t code;
        unsigned length = utf8_decode(from, &code);
        if (length && (is_harmless(code) || (keeps_control && is_control(code)))) {
            memcpy(end, from, length);
            end += length;
        } else {
            length = length ? length : 1;
            for (unsigned i = 0; i < length; i++)
                end += sprintf(end, "\\x%02x", from[i]);
        }
        from += length;
    }
    *end = '\0';
    return (size_t)(end - to);
}

size_t plain_text(char *to, const char *text)
{
    return escape(to, text, false);
}

size_t plain_direction(char *to, const char *text)
{
    return escape(to, text, true);
}

void plain_hex(char *to, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
    to[2 * n] = '\0';
}

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
