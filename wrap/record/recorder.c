/* SPDX-License-Identifier: BSD-3-Clause */
/* The one process struct: its options, its end before the program's, and the notes of the process. The options are
 * environment variables: `whywait record` sets them from its own options, a user may too. */
#include "wrap/record/recorder.h"
#include "wrap/launcher.h"
#include "wrap/record/process/say.h"
#include "wrap/sizes.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct recorder_process recorder;

static uint64_t number_option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t value = otherwise;
    if (text && *text && !size_read(text, &value) && say_is_first_rank())
        say("%s=%s is no number: ignored", name, text);
    return value;
}

static uint64_t ring_option(void)
{
    uint64_t bytes = number_option("WHYWAIT_LAST", 0);
    if (bytes == 0 || bytes >= WW_LEAST_RING_BYTES)
        return bytes;
    if (say_is_first_rank())
        say("WHYWAIT_LAST=%s: %s", getenv("WHYWAIT_LAST"), WW_LEAST_RING_TEXT);
    return WW_LEAST_RING_BYTES;
}

static void read_windows(struct recorder_options *options)
{
    const char *window = getenv("WHYWAIT_WINDOW"), *every = getenv("WHYWAIT_EVERY");
    const char *fault = windows_read(window, every, options->last_bytes > 0, &options->windows);
    if (fault && say_is_first_rank())
        say("WHYWAIT_WINDOW=%s WHYWAIT_EVERY=%s: %s: ignored", window ? window : "", every ? every : "", fault);
}

static void read_all(void)
{
    struct recorder_options *options = &recorder.options;
    const char *dir = getenv("WHYWAIT_DIR");
    snprintf(options->dir, sizeof options->dir, "%s", dir ? dir : "");
    const char *spool = getenv("WHYWAIT_SPOOL");
    snprintf(options->spool, sizeof options->spool, "%s", spool ? spool : "");
    options->limit_bytes = number_option("WHYWAIT_LIMIT", INT64_MAX);
    options->last_bytes = ring_option();
    read_windows(options);
    options->rate_hz = number_option("WHYWAIT_RATE", RATE_CALIBRATED);
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

bool recorder_is_on(void)
{
    return atomic_load_explicit(&recorder.recording, memory_order_relaxed);
}

/* A disk that is full is so for all ranks of a node. The closing line tells how many there were. */
static bool is_first_to_give_up(void)
{
    enum { HIGH_FD = 48 }; /* low numbers are the program's */
    int claim = launcher_n_processes() > 1 ? launcher_claim("off") : LAUNCHER_UNKNOWN;
    if (claim >= 0 && fcntl(claim, F_DUPFD_CLOEXEC, HIGH_FD) >= 0) /* which is kept to the end of the process */
        close(claim);
    return claim != LAUNCHER_TAKEN;
}

void recorder_give_up(const char *why, ...)
{
    int saved = errno;
    char text[SPOOL_PATH_BYTES + 400];
    va_list arguments;
    bool before = atomic_exchange(&recorder.has_given_up, true);
    atomic_store(&recorder.recording, false);
    if (!before && is_first_to_give_up()) {
        va_start(arguments, why);
        vsnprintf(text, sizeof text, why, arguments);
        va_end(arguments);
        say("recording is off on rank %d: %s", recorder.rank, text);
    }
    errno = saved;
}

void notes_write(struct spool *spool)
{
    static unsigned n_written;
    for (const char *text; (text = say_note_at(n_written)) != NULL; n_written++) {
        size_t n = strlen(text);
        unsigned units = (unsigned)((sizeof(struct ww_note) + n + 1 + WW_UNIT - 1) / WW_UNIT);
        struct ww_note *record = spool_take_definition(spool, units);
        if (!record)
            return;
        record->bytes = (uint32_t)n;
        memcpy(record->text, text, n);
        spool_commit(record, WW_NOTE, (uint16_t)units);
    }
}
