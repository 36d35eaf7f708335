/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged spools and archives: read to the end or refused, never a crash, a hang or a leak (run it with
 * -DWHYWAIT_SANITIZE=ON). WHYWAIT_FUZZ_ROUNDS sets the number of rounds of each kind, WHYWAIT_FUZZ_SEED where they
 * begin.
 */
#include "analyze/archive/convert.h"
#include "analyze/files/paths.h"
#include "analyze/trace/trace.h"
#include "tests/unit/archive/spool_image.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* OTF2 3.0 does not release everything when it meets damage; what this project allocates is checked all the same. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2\nleak:libotf2\n";
}

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Messages on standard error are expected by the thousand. */
static int silence(void)
{
    int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    close(null);
    return saved;
}

static void unsilence(int saved)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
}

/* A bit of everything. */
static void fill(struct spool_image *events, struct spool_image *samples)
{
    static const uint64_t stack[] = {0x1100, 0x1200, 0x1300, 0x1400};
    static const int32_t pair[] = {1, 0};
    const struct ww_win win = {.id = 1, .comm = 1};
    const struct ww_ranks ranks = {.n = 1};
    const struct ww_clock clock = {.local_ns = 10, .reference_ns = 1010, .error_ns = 3};
    const struct ww_note note = {.bytes = 5};
    const struct ww_name name = {.what = WW_NAME_COMM, .id = 3, .bytes = 4};
    const struct ww_counters counters = {.id = 1, .n_points = 100};
    const struct ww_neighbors neighbors = {.comm = 3, .n_in = 1, .n_out = 1};
    struct ww_bins bins = {.what = WW_BIN_EXECUTIONS, .module = 1, .n = 1};
    const int32_t other = 1 - events->rank;
    image_world(events);
    image_module(events, 1, 0x1000, 0x9000, 0x1000, "/usr/lib/libexample.so.1");
    image_comm(events, 3, 1, pair, 2, 0);
    image_record(events, WW_NAME, &name, offsetof(struct ww_name, text), "pair", 5);
    image_record(events, WW_NEIGHBORS, &neighbors, offsetof(struct ww_neighbors, rank), pair, sizeof pair);
    image_record(events, WW_CLOCK, &clock, sizeof clock, NULL, 0);
    image_record(events, WW_NOTE, &note, offsetof(struct ww_note, text), "hello", 6);
    image_record(events, WW_COUNTERS, &counters, sizeof counters, NULL, 0);
    for (uint64_t i = 0, t = 1000; i < 10; i++, t += 1000) {
        image_stack(events, (uint32_t)i + 1, stack, 1 + i % 4);
        image_record(events, WW_BINS, &bins, offsetof(struct ww_bins, bins), "0123456789ab", 12);
        image_call(events,
                   (struct ww_call){
                       .call = WW_ID_Allreduce, .enter_ns = t, .leave_ns = t + 10, .comm = 3, .stack = 1, .peer = -1});
        image_call(events, (struct ww_call){.call = WW_ID_Irecv,
                                            .enter_ns = t + 20,
                                            .leave_ns = t + 30,
                                            .comm = 1,
                                            .request = i + 1,
                                            .peer = other});
        image_call(events, (struct ww_call){
                               .call = WW_ID_Send, .enter_ns = t + 40, .leave_ns = t + 50, .comm = 1, .peer = other});
        image_call(events, (struct ww_call){.call = WW_ID_Wait, .enter_ns = t + 60, .leave_ns = t + 70});
        image_done(events, WW_DONE, (struct ww_done){.request = i + 1, .peer = other});
        image_sample(samples, (struct ww_sample){.time_ns = t + 500, .weight_ns = 1000000, .stack = 1});
        image_switch(samples, (struct ww_switch){.time_ns = t + 600, .flags = WW_SW_OUT});
        image_stack(samples, (uint32_t)i + 1, stack, 2);
    }
    image_call(events,
               (struct ww_call){.call = WW_ID_Win_create, .enter_ns = 20000, .leave_ns = 20010, .comm = 1, .peer = -1});
    image_record(events, WW_WIN, &win, sizeof win, NULL, 0);
    image_call(events,
               (struct ww_call){.call = WW_ID_Win_post, .enter_ns = 20020, .leave_ns = 20030, .comm = 1, .peer = -1});
    image_record(events, WW_RANKS, &ranks, offsetof(struct ww_ranks, rank), &other, sizeof other);
    image_call(events, (struct ww_call){.call = WW_ID_Recv, .enter_ns = 20040, .comm = 1, .peer = other});
}

/* Some bytes changed, some lengths made large, sometimes the end cut off. Returns the new length. */
static size_t damage(uint8_t *bytes, size_t n, size_t from, uint64_t *random)
{
    unsigned n_changes = 1 + next_random(random) % 6;
    if (n <= from)
        return n;
    for (unsigned i = 0; i < n_changes; i++) {
        size_t at = from + next_random(random) % (n - from);
        switch (next_random(random) % 4) {
        case 0:
            bytes[at] = 0xff;
            break;
        case 1:
            bytes[at] = 0;
            break;
        case 2:
            bytes[at] ^= (uint8_t)(1u << next_random(random) % 8);
            break;
        default:
            bytes[at] = (uint8_t)next_random(random);
            break;
        }
    }
    return next_random(random) % 8 ? n : from + next_random(random) % (n - from);
}

/* Reads what there is, twice. True when it could be opened. */
static bool read_all(const char *dir)
{
    char *anchor = path_format("%s/traces.otf2", dir);
    struct trace *trace = trace_open(anchor);
    free(anchor);
    if (!trace)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (const struct event *event; (event = trace_next(trace));) {
            assert_true(event->loc < trace->n_locations);
            assert_true(event->region == TRACE_NONE || event->region < trace->n_regions);
            assert_true(event->frame == TRACE_NONE || event->frame < trace->n_frames);
            assert_true(event->comm == TRACE_NONE || event->comm < trace->n_comms);
            for (uint32_t i = 0; i < event_n_bins(event); i++)
                assert_true(event->bins[i].point < trace->n_points);
        }
        if (trace_rewind(trace))
            break;
    }
    trace_close(trace);
    return true;
}

static void test_spools(void **state)
{
    (void)state;
    unsigned n_rounds = setting("WHYWAIT_FUZZ_ROUNDS", 100), n_read = 0;
    uint64_t random = setting("WHYWAIT_FUZZ_SEED", 1);
    int saved = silence();
    for (unsigned round = 0; round < n_rounds; round++) {
        char *dir = run_dir_new();
        for (int rank = 0; rank < 2; rank++) {
            struct spool_image events = image_events(rank, 2, 0), samples = image_samples(rank, 2, 0);
            fill(&events, &samples);
            struct spool_image *hurt = next_random(&random) % 4 ? &events : &samples;
            size_t from = next_random(&random) % 8 ? WW_HEADER_BYTES : 0;
            size_t n = damage(hurt->bytes.at, hurt->bytes.n, from, &random);
            image_save(&events, dir, hurt == &events ? n : events.bytes.n);
            image_save(&samples, dir, hurt == &samples ? n : samples.bytes.n);
            image_release(&events);
            image_release(&samples);
        }
        if (!convert_salvage(dir, NULL))
            n_read += read_all(dir);
        run_dir_remove(dir);
    }
    unsilence(saved);
    assert_true(n_read > n_rounds / 2);
}

struct file {
    char *path;
    uint8_t *bytes;
    size_t n;
};

static struct file file_read(char *path)
{
    struct file file = {.path = path, .bytes = malloc(1 << 20)};
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_non_null(file.bytes);
    file.n = fread(file.bytes, 1, 1 << 20, stream);
    fclose(stream);
    return file;
}

static void file_write(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, n, stream), n);
    fclose(stream);
}

static void test_archives(void **state)
{
    (void)state;
    static const char *const names[] = {"traces.otf2", "traces.def", "traces/0.def", "traces/0.evt", "traces/1.evt"};
    enum { N_FILES = sizeof names / sizeof *names };
    unsigned n_rounds = setting("WHYWAIT_FUZZ_ROUNDS", 100), n_read = 0;
    uint64_t random = setting("WHYWAIT_FUZZ_SEED", 1);
    char *dir = run_dir_new();
    struct file files[N_FILES];
    for (int rank = 0; rank < 2; rank++) {
        struct spool_image events = image_events(rank, 2, 0), samples = image_samples(rank, 2, 0);
        fill(&events, &samples);
        image_save(&events, dir, events.bytes.n);
        image_save(&samples, dir, samples.bytes.n);
        image_release(&events);
        image_release(&samples);
    }
    assert_int_equal(convert_salvage(dir, NULL), 0);
    assert_true(read_all(dir));
    for (int i = 0; i < N_FILES; i++)
        files[i] = file_read(path_format("%s/%s", dir, names[i]));
    int saved = silence();
    for (unsigned round = 0; round < n_rounds; round++) {
        struct file *file = &files[next_random(&random) % N_FILES];
        uint8_t *bytes = malloc(file->n + 1);
        assert_non_null(bytes);
        memcpy(bytes, file->bytes, file->n);
        file_write(file->path, bytes, damage(bytes, file->n, 0, &random));
        n_read += read_all(dir);
        file_write(file->path, file->bytes, file->n);
        free(bytes);
    }
    unsilence(saved);
    assert_true(n_read > n_rounds / 2);
    for (int i = 0; i < N_FILES; i++) {
        free(files[i].path);
        free(files[i].bytes);
    }
    run_dir_remove(dir);
}

/* Files that are no archive, or only part of one. */
static void test_refused(void **state)
{
    (void)state;
    char *dir = run_dir_new(), *anchor = path_format("%s/traces.otf2", dir);
    assert_false(read_all(dir));
    file_write(anchor, (const uint8_t *)"", 0);
    assert_false(read_all(dir));
    file_write(anchor, (const uint8_t *)"this is no archive, but a text of some length, longer than an anchor", 68);
    assert_false(read_all(dir));
    free(anchor);
    run_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spools), cmocka_unit_test(test_archives),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
