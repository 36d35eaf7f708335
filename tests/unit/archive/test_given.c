/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of the spool that a conversion gives back: the archive is the same whenever it is killed, and begun again. */
#include "analyze/archive/convert.h"
#include "analyze/files/paths.h"
#include "analyze/archive/given.h"
#include "analyze/archive/spool.h"
#include "tests/unit/archive/conversion.h"
#include "wrap/record/spool/spool.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_CALLS = 300000, LEAST_RAW = 12 << 20 };

static char dir[] = "/tmp/whywait-given-XXXXXX", run[64], path[128];

static uint64_t random_below(uint64_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* Calls of all sizes and times, with what comes between. */
static void write_calls(struct spool *spool)
{
    uint64_t now_ns = START_NS;
    for (uint32_t n = 0; n < N_CALLS; n++) {
        struct ww_call *call = spool_take(spool, 2, true);
        assert_non_null(call);
        now_ns += random_below(1000) ? random_below(5000) : random_below((uint64_t)1 << 34);
        *call = CALL(Send, 0, 0, .peer = (int32_t)random_below(3), .tag = (int32_t)random_below(2), .request = 0);
        call->stack = (uint32_t)random_below(700);
        call->enter_ns = now_ns;
        call->bytes_out = random_below(2) ? 8 : random_below(UINT64_MAX);
        call->leave_ns = now_ns += random_below(5000);
        spool_commit(call, WW_CALL, 2);
        if (random_below(3) == 0) {
            struct ww_done *done = spool_take(spool, 1, false);
            done->request = random_below(9);
            done->bytes = random_below(4);
            spool_commit(done, WW_DONE, 1);
        }
        if (random_below(100) == 0) {
            struct ww_stack *stack = spool_take(spool, 3, false);
            stack->id = n / 100 + 1;
            stack->n = 5;
            for (unsigned i = 0; i < stack->n; i++)
                stack->address[i] = random_below(UINT64_MAX);
            spool_commit(stack, WW_STACK, 3);
        }
    }
}

static void make_spool(void)
{
    struct spool spool;
    struct spool_budget budget = {.left_bytes = INT64_MAX};
    struct ww_header header = {.magic = WW_MAGIC,
                               .version = WW_FORMAT_VERSION,
                               .header_bytes = WW_HEADER_BYTES,
                               .kind = WW_KIND_EVENTS,
                               .n_ranks = 1,
                               .start_ns = START_NS};
    assert_true(spool_open(&spool, path, &header, 1 << 20, 1 << 20, &budget));
    write_calls(&spool);
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
}

/* All records of the spool, as a reader sees them. */
static uint64_t records_hash(void)
{
    struct spool_reader reader;
    uint64_t hash = 0, n = 0;
    assert_int_equal(spool_reader_open(&reader, path), 0);
    for (const struct ww_head *head; (head = spool_reader_next(&reader)); n += head->type == WW_CALL)
        hash = hash * 31 + hash_bytes(head, (size_t)head->units * WW_UNIT);
    assert_false(reader.is_damaged);
    assert_int_equal(n, N_CALLS);
    spool_reader_close(&reader);
    return hash;
}

static uint64_t file_hash(const char *file)
{
    FILE *in = fopen(file, "rb");
    uint64_t hash = 0, word;
    assert_non_null(in);
    while (fread(&word, sizeof word, 1, in) == 1)
        hash = hash * 31 + word;
    fclose(in);
    return hash;
}

static uint64_t convert(void)
{
    char part[128], events[160];
    snprintf(part, sizeof part, "%s/parts", run);
    snprintf(events, sizeof events, "%s/0/traces/0.evt", part);
    dir_remove(part);
    assert_int_equal(convert_rank(run, 0), 0);
    return file_hash(events);
}

static uint64_t disk_bytes(void)
{
    struct stat spool, given = {0};
    char *beside = given_path(path);
    assert_int_equal(stat(path, &spool), 0);
    (void)!stat(beside, &given);
    free(beside);
    return 512 * ((uint64_t)spool.st_blocks + (uint64_t)given.st_blocks);
}

/* The tests go on with the same spool, one after the other. */
static uint64_t all_records, all_events;

static void half_is_given_back(void **state)
{
    (void)state;
    make_spool();
    all_records = records_hash();
    setenv("WHYWAIT_KEEP_SPOOL", "1", 1);
    uint64_t before = disk_bytes();
    all_events = convert();
    assert_int_equal(disk_bytes(), before);
    unsetenv("WHYWAIT_KEEP_SPOOL");
    assert_int_equal(convert(), all_events);
    assert_true(before > LEAST_RAW);
    if (disk_bytes() == before)
        skip(); /* this file system gives nothing back */
    /* An archive of 35 bytes a call, and not more than 70 with what is still here. */
    assert_true(disk_bytes() <= before / 64 * (70 - 35) + 3 * WW_HEADER_BYTES);
    assert_int_equal(records_hash(), all_records);
    assert_int_equal(convert(), all_events);
}

static void killed_at_any_time(void **state)
{
    (void)state;
    char *beside = given_path(path);
    for (unsigned round = 0; round < 6; round++) {
        unlink(path);
        unlink(beside);
        make_spool();
        all_records = records_hash();
        for (unsigned i = 0; i < 6; i++) {
            pid_t child = fork();
            if (child == 0) {
                convert();
                _exit(0);
            }
            nanosleep(&(struct timespec){0, (long)random_below(60000000)}, NULL);
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
            assert_int_equal(records_hash(), all_records);
        }
        uint64_t events = convert();
        setenv("WHYWAIT_KEEP_SPOOL", "1", 1);
        assert_int_equal(convert(), events);
        unsetenv("WHYWAIT_KEEP_SPOOL");
        assert_int_equal(records_hash(), all_records);
    }
    free(beside);
}

/* Collectives count themselves: only their times and that differ. */
static void little_is_kept_of_collectives(void **state)
{
    enum { N = 80000, KEPT_BYTES = 8 };
    static struct ww_call calls[N];
    uint8_t header[WW_HEADER_BYTES] = {1};
    struct given_writer writer;
    char *beside = given_path(path);
    struct stat st;
    void *raw = NULL;
    size_t n = 0, cap = 0;
    (void)state;
    unlink(beside);
    for (uint32_t i = 0; i < N; i++) {
        calls[i] = CALL(Barrier, START_NS + 100 * i, START_NS + 100 * i + 50, .peer = WW_NO_PEER, .tag = (int32_t)i);
        calls[i].head = (struct ww_head){WW_CALL, 2};
        calls[i].stack = i % 7;
    }
    given_begin(&writer, path, header, INT64_MAX);
    given_take(&writer, WW_HEADER_BYTES, (const uint8_t *)calls, sizeof calls);
    given_end(&writer);
    assert_int_equal(stat(beside, &st), 0);
    assert_true(st.st_size < N * KEPT_BYTES);
    int fd = given_open(path);
    uint8_t first[WW_HEADER_BYTES];
    assert_true(given_read_header(fd, first));
    assert_memory_equal(first, header, sizeof first);
    assert_true(given_read(fd, &raw, &n, &cap));
    assert_int_equal(n, sizeof calls);
    assert_memory_equal(raw, calls, sizeof calls);
    close(fd);
    vec_free(raw);
    unlink(beside);
    free(beside);
}

/* Power fails while it is converted, and no page of the spool file has reached the disk: what was given back is read.
 */
static void lost_spool_file(void **state)
{
    (void)state;
    char *beside = given_path(path);
    uint64_t n = 0;
    struct spool_reader reader;
    unlink(path);
    unlink(beside);
    make_spool();
    assert_int_equal(spool_reader_open(&reader, path), 0);
    spool_reader_give_back(&reader);
    while (spool_reader_next(&reader))
        ;
    spool_reader_close(&reader);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(spool_reader_open(&reader, path), 0);
    for (const struct ww_head *head; (head = spool_reader_next(&reader));)
        n += head->type == WW_CALL;
    spool_reader_close(&reader);
    assert_true(n > N_CALLS / 2 && n < N_CALLS);
    unlink(beside);
    free(beside);
}

/* The last block is not whole, and its pages are still there: a kill in the middle of its writing. */
static void torn_block(void **state)
{
    (void)state;
    char *beside = given_path(path), copy[] = "/tmp/whywait-given-copy-XXXXXX", command[256];
    int fd = mkstemp(copy);
    unlink(path);
    unlink(beside);
    make_spool();
    all_records = records_hash();
    snprintf(command, sizeof command, "cp %s %s", path, copy);
    assert_int_equal(system(command), 0);
    convert();
    struct stat st;
    assert_int_equal(stat(beside, &st), 0);
    snprintf(command, sizeof command, "cp %s %s", copy, path);
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(truncate(beside, (off_t)random_below((uint64_t)st.st_size)), 0);
        assert_int_equal(system(command), 0);
        assert_int_equal(records_hash(), all_records);
        convert();
        assert_int_equal(records_hash(), all_records);
    }
    close(fd);
    unlink(copy);
    free(beside);
}

/* Nothing is cut off that another version has kept. */
static void kept_by_another_version(void **state)
{
    (void)state;
    char *beside = given_path(path);
    struct spool_reader reader;
    FILE *file = fopen(beside, "r+b");
    assert_non_null(file);
    struct given_block block;
    assert_int_equal(fread(&block, sizeof block, 1, file), 1);
    block.magic -= 1u << 24;
    rewind(file);
    assert_int_equal(fwrite(&block, sizeof block, 1, file), 1);
    fclose(file);
    uint64_t before = file_hash(beside);
    assert_int_not_equal(spool_reader_open(&reader, path), 0);
    spool_reader_close(&reader);
    char parts[128];
    snprintf(parts, sizeof parts, "%s/parts", run);
    dir_remove(parts);
    assert_int_not_equal(convert_rank(run, 0), 0);
    assert_true(file_hash(beside) == before);
    free(beside);
}

static struct pieces {
    size_t n_bytes, largest;
    uint64_t hash;
} pieces;

static ssize_t take_piece(void *cookie, const char *bytes, size_t n)
{
    (void)cookie;
    pieces.n_bytes += n;
    pieces.largest = n > pieces.largest ? n : pieces.largest;
    for (size_t i = 0; i < n; i++)
        pieces.hash = pieces.hash * 31 + (uint8_t)bytes[i];
    return pieces.n_bytes > LEAST_RAW / 2 ? 0 : (ssize_t)n; /* then the disk is full */
}

/* What OTF2 writes at once, which would be given memory that nobody has touched. */
static void written_in_pieces(void **state)
{
    enum { N = 1000003, EACH = 4 };
    (void)state;
    uint8_t *bytes = malloc(N * EACH);
    uint64_t hash = 0;
    assert_non_null(bytes);
    for (size_t i = 0; i < N * EACH; i++)
        hash = hash * 31 + (bytes[i] = (uint8_t)random_below(256));
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take_piece});
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, EACH, N, file), N);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(pieces.n_bytes, N * EACH);
    assert_true(pieces.largest < 2 << 20);
    assert_true(pieces.hash == hash);
    assert_true(fwrite(bytes, EACH, N, file) < N);
    assert_int_equal(fwrite(bytes, 0, N, file), 0);
    fclose(file);
    free(bytes);
}

int main(void)
{
    char spool[96];
    if (!mkdtemp(dir))
        return 1;
    snprintf(run, sizeof run, "%s/a.whywait", dir);
    snprintf(spool, sizeof spool, "%s/spool", run);
    snprintf(path, sizeof path, "%s/0-0.ev", spool);
    if (mkdir(run, 0700) || mkdir(spool, 0700))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_is_given_back),      cmocka_unit_test(killed_at_any_time),
        cmocka_unit_test(lost_spool_file),         cmocka_unit_test(torn_block),
        cmocka_unit_test(kept_by_another_version), cmocka_unit_test(little_is_kept_of_collectives),
        cmocka_unit_test(written_in_pieces),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command) || failed;
}
