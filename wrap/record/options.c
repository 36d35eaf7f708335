/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's options are environment variables: `whywait record` sets them from its own options, a user may too. */
#include "wrap/record/process/say.h"
#include "wrap/record/recorder.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes take k, m or g. 0 when it is no number. */
static uint64_t number_option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    uint64_t value = strtoull(text, &end, 10);
    if (*end == 'k' || *end == 'K')
        value <<= 10;
    else if (*end == 'm' || *end == 'M')
        value <<= 20;
    else if (*end == 'g' || *end == 'G')
        value <<= 30;
    if (end == text && say_is_first_rank())
        say("%s=%s is no number: ignored", name, text);
    return end == text ? otherwise : value;
}

static void read_all(void)
{
    struct recorder_options *options = &recorder.options;
    const char *dir = getenv("WHYWAIT_DIR");
    snprintf(options->dir, sizeof options->dir, "%s", dir ? dir : "");
    const char *spool = getenv("WHYWAIT_SPOOL");
    snprintf(options->spool, sizeof options->spool, "%s", spool ? spool : "");
    options->limit_bytes = number_option("WHYWAIT_LIMIT", INT64_MAX);
    options->rate_hz = (unsigned)number_option("WHYWAIT_RATE", 0);
    const char *sampler = getenv("WHYWAIT_SAMPLER");
    snprintf(options->sampler, sizeof options->sampler, "%s", sampler ? sampler : "");
    const char *only = getenv("WHYWAIT_ONLY");
    if (only && strlen(only) >= sizeof options->only && say_is_first_rank())
        say("WHYWAIT_ONLY is longer than %zu characters: cut", sizeof options->only - 1);
    snprintf(options->only, sizeof options->only, "%s", only ? only : "");
    options->space = number_option("WHYWAIT_SPACE", 0) != 0;
    options->convert = number_option("WHYWAIT_CONVERT", 1) != 0;
    options->quiet = number_option("WHYWAIT_QUIET", 0) != 0;
    options->is_first_on_node = say_is_first_on_node();
    recorder.budget.left_bytes = options->limit_bytes < INT64_MAX ? (int64_t)options->limit_bytes : INT64_MAX;
}

void options_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_all);
}
