/* SPDX-License-Identifier: BSD-3-Clause */
/* The spool reader: whole, torn and hostile files. */
#include "analyze/files/paths.h"
#include "analyze/archive/spool.h"
#include "tests/unit/archive/spool_image.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { N_RECORDS = 6 };

static struct spool_image example(void)
{
    static const uint64_t stack[] = {0x1000, 0x2000, 0x3000, 0x4000, 0x5000};
    struct spool_image image = image_events(0, 2, 0);
    image_world(&image);
    image_module(&image, 1, 0x1000, 0x9000, 0, "/usr/lib/a-library-with-a-long-name.so.1");
    image_stack(&image, 1, stack, 5);
    image_call(&image, (struct ww_call){.call = WW_ID_Barrier, .enter_ns = 10, .leave_ns = 20, .comm = 1});
    image_done(&image, WW_DONE, (struct ww_done){.request = 7});
    return image;
}

static size_t count_records(const char *dir, bool *is_damaged)
{
    struct spool_reader reader;
    char *path = path_format("%s/spool/0-0.ev", dir);
    size_t n = 0;
    if (!spool_reader_open(&reader, path))
        while (spool_reader_next(&reader))
            n++;
    *is_damaged = reader.is_damaged;
    spool_reader_close(&reader);
    free(path);
    return n;
}

static void test_whole(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    struct spool_image image = example();
    bool is_damaged;
    image_save(&image, dir, image.bytes.n);
    assert_int_equal(count_records(dir, &is_damaged), N_RECORDS);
    assert_false(is_damaged);
    vec_resize(&image.bytes, image.bytes.n + 100 * WW_UNIT); /* prepared, not yet written */
    image_save(&image, dir, image.bytes.n);
    assert_int_equal(count_records(dir, &is_damaged), N_RECORDS);
    assert_false(is_damaged);
    image_release(&image);
    run_dir_remove(dir);
}

/* Cut anywhere, all records before the cut are read. */
static void test_torn(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    struct spool_image image = example();
    for (size_t n = WW_HEADER_BYTES; n <= image.bytes.n; n++) {
        size_t whole = 0;
        for (size_t at = WW_HEADER_BYTES; at < n; whole++) {
            struct ww_head head;
            memcpy(&head, image.bytes.at + at, sizeof head);
            at += (size_t)head.units * WW_UNIT;
            if (at > n)
                break;
        }
        bool is_damaged;
        image_save(&image, dir, n);
        assert_int_equal(count_records(dir, &is_damaged), whole);
    }
    image_release(&image);
    run_dir_remove(dir);
}

static void test_bad_lengths(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    bool is_damaged;
    struct spool_image image = example();
    struct ww_stack stack = {.id = 2, .n = UINT32_MAX};
    image_record(&image, WW_STACK, &stack, sizeof stack, NULL, 0);
    struct ww_module module = {.id = 2, .path_bytes = UINT32_MAX};
    image_record(&image, WW_MODULE, &module, sizeof module, NULL, 0);
    struct ww_comm comm = {.id = 3, .size = -1};
    image_record(&image, WW_COMM, &comm, sizeof comm, NULL, 0);
    comm = (struct ww_comm){.id = 4, .size = INT32_MAX, .remote_size = INT32_MAX};
    image_record(&image, WW_COMM, &comm, sizeof comm, NULL, 0);
    struct ww_bins bins = {.n = 1 << 30};
    image_record(&image, WW_BINS, &bins, sizeof bins, NULL, 0);
    image_call(&image, (struct ww_call){.call = WW_ID_Barrier, .enter_ns = 30, .leave_ns = 40});
    image_save(&image, dir, image.bytes.n);
    assert_int_equal(count_records(dir, &is_damaged), N_RECORDS + 1);
    assert_false(is_damaged);
    struct ww_head head = {.type = WW_CALL, .units = 0};
    size_t at = image.bytes.n;
    vec_resize(&image.bytes, at + WW_UNIT);
    memcpy(image.bytes.at + at, &head, sizeof head);
    image_save(&image, dir, image.bytes.n);
    assert_int_equal(count_records(dir, &is_damaged), N_RECORDS + 1);
    assert_true(is_damaged);
    image_release(&image);
    run_dir_remove(dir);
}

static void test_bad_headers(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } damages[] = {{0, 0},
                   {offsetof(struct ww_header, version), 99},
                   {offsetof(struct ww_header, header_bytes), 32},
                   {offsetof(struct ww_header, kind), 7},
                   {offsetof(struct ww_header, rank), 2},
                   {offsetof(struct ww_header, rank), UINT32_MAX},
                   {offsetof(struct ww_header, n_ranks), 0},
                   {offsetof(struct ww_header, thread), UINT32_MAX}};
    char *dir = run_dir_new(), *path = path_format("%s/spool/0-0.ev", dir);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct spool_image image = example();
        struct spool_reader reader;
        memcpy(image.bytes.at + damages[i].at, &damages[i].value, sizeof damages[i].value);
        image_save(&image, dir, image.bytes.n);
        assert_int_equal(spool_reader_open(&reader, path), -1);
        spool_reader_close(&reader);
        image_release(&image);
    }
    free(path);
    run_dir_remove(dir);
}

static void test_list(void **state)
{
    (void)state;
    static const char *const others[] = {"0-0.ev~", "00-1.ev", "1.ev", "-1-0.ev", "1-0.xx", "99999999-0.ev"};
    char *dir = run_dir_new(), *spool = path_format("%s/spool", dir);
    for (int rank = 10; rank >= 0; rank -= 5) {
        struct spool_image image = image_samples(rank, 16, rank ? 0 : 3);
        image_save(&image, dir, image.bytes.n);
        image_release(&image);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *path = path_format("%s/%s", spool, others[i]);
        fclose(fopen(path, "w"));
        free(path);
    }
    char *link = path_format("%s/1-1.ev", spool);
    assert_int_equal(symlink("/dev/null", link), 0);
    struct spool_list list;
    assert_int_equal(spool_list_read(&list, spool), 0);
    assert_int_equal(list.files.n, 4);
    assert_true(list.files.at[1].is_linked);
    assert_int_equal(list.files.at[0].rank, 0);
    assert_int_equal(list.files.at[0].thread, 3);
    assert_int_equal(list.files.at[3].rank, 10);
    spool_list_release(&list);
    free(link);
    free(spool);
    run_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_torn),
                                       cmocka_unit_test(test_bad_lengths), cmocka_unit_test(test_bad_headers),
                                       cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
