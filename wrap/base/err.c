/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/err.h"
#include "wrap/base/plain.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES = 4096 };

/* One write a message, so that lines of several ranks do not mix. Names in it may come from anywhere. */
static void err_say(const char *prefix, const char *format, va_list args)
{
    char line[LINE_BYTES], escaped[4 * LINE_BYTES];
    int used = snprintf(line, sizeof line, "whywait: %s", prefix);
    vsnprintf(line + used, sizeof line - (size_t)used, format, args);
    plain_text(escaped, line);
    fprintf(stderr, "%s\n", escaped);
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

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_say("", format, args);
    va_end(args);
    exit(1);
}

int error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_say("", format, args);
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
