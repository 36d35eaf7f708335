/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of MPI-IO from spool files through OTF2 back to events: in which call how much of which file was moved. */
#include "analyze/archive/convert.h"
#include "analyze/files/paths.h"
#include "analyze/trace/trace.h"
#include "tests/unit/archive/spool_image.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { H = 0x100, START_NS = 1000, STEP_NS = 10 };

static uint64_t now_ns;

static struct ww_call call_of(uint16_t id, uint32_t file, uint64_t asked, uint64_t moved)
{
    now_ns += STEP_NS;
    return (struct ww_call){.call = id,
                            .enter_ns = START_NS + now_ns,
                            .leave_ns = START_NS + now_ns + 1,
                            .comm = file,
                            .peer = WW_NO_PEER,
                            .bytes_out = asked,
                            .bytes_in = moved};
}

static void add(struct spool_image *image, uint16_t id, uint32_t file, uint64_t asked, uint64_t moved)
{
    image_call(image, call_of(id, file, asked, moved));
}

static void add_start(struct spool_image *image, uint16_t id, uint32_t file, uint64_t asked, uint64_t request)
{
    struct ww_call call = call_of(id, file, asked, 0);
    call.request = request;
    image_call(image, call);
}

static void add_wait(struct spool_image *image, uint64_t request, uint64_t moved)
{
    add(image, WW_ID_Wait, 0, 0, 0);
    image_done(image, WW_DONE, (struct ww_done){.request = request, .bytes = moved, .peer = WW_NO_PEER});
}

static void add_open(struct spool_image *image, uint32_t id, uint32_t flags, const char *name)
{
    struct ww_file file = {.id = id, .comm = 1, .flags = flags, .bytes = (uint32_t)strlen(name)};
    add(image, WW_ID_File_open, 1, 0, 0);
    image_record(image, WW_FILE, &file, sizeof file, name, strlen(name) + 1);
}

/* The trace of one rank, and the events of it that tell of files: "CALL FILE BYTES". */
static void expect(struct spool_image *image, const char *const *expected)
{
    char *dir = run_dir_new(), *anchor = path_format("%s/traces.otf2", dir);
    image_save(image, dir, image->bytes.n);
    image_release(image);
    assert_int_equal(convert_salvage(dir, NULL), 0);
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    const char *region = "";
    size_t i = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        char line[256];
        if (event->kind == EV_ENTER)
            region = trace->regions[event->region].name;
        if (event->kind != EV_IO || !event->bytes)
            continue;
        snprintf(line, sizeof line, "%s %s %llu", region, trace->files[event->file].name,
                 (unsigned long long)event->bytes);
        assert_non_null(expected[i]);
        assert_string_equal(line, expected[i++]);
    }
    assert_null(expected[i]);
    trace_close(trace);
    run_dir_remove(dir);
    free(anchor);
}

static struct spool_image image_begin(void)
{
    struct spool_image image = image_events(0, 1, 0);
    image_world(&image);
    now_ns = 0;
    return image;
}

/* Bytes are those moved, in the call that moved them or learned of it; two requests are completed out of order. */
static void test_operations(void **state)
{
    (void)state;
    struct spool_image image = image_begin();
    add_open(&image, 1, WW_FILE_WRITE | WW_FILE_CREATE, "data");
    add_open(&image, 2, WW_FILE_READ, "other\x1b");
    add(&image, WW_ID_File_write_at_all, 1, 100, 100);
    add(&image, WW_ID_File_read, 2, 100, 40);
    add(&image, WW_ID_File_read, 2, 100, 0);
    add_start(&image, WW_ID_File_iwrite, 1, 7, H);
    add_start(&image, WW_ID_File_iread_at, 2, 9, H + 1);
    add_wait(&image, H + 1, 8);
    add_wait(&image, H, 7);
    add(&image, WW_ID_File_write_all_begin, 1, 64, 0);
    add(&image, WW_ID_File_read_ordered_begin, 2, 32, 0);
    add(&image, WW_ID_File_write_all_end, 1, 0, 64);
    add(&image, WW_ID_File_read_ordered_end, 2, 0, 32);
    add(&image, WW_ID_File_sync, 1, 0, 0);
    add(&image, WW_ID_File_close, 1, 0, 0);
    add(&image, WW_ID_File_close, 2, 0, 0);
    static const char *const expected[] = {"MPI_File_write_at_all data 100",
                                           "MPI_File_read other\\x1b 40",
                                           "MPI_Wait other\\x1b 8",
                                           "MPI_Wait data 7",
                                           "MPI_File_write_all_end data 64",
                                           "MPI_File_read_ordered_end other\\x1b 32",
                                           NULL};
    expect(&image, expected);
}

/* The handle is given out again; what failed moved nothing; a file that is opened twice is one. */
static void test_handles(void **state)
{
    (void)state;
    struct spool_image image = image_begin();
    for (uint32_t id = 1; id <= 2; id++) {
        add_open(&image, id, WW_FILE_WRITE, "data");
        struct ww_call failed = call_of(WW_ID_File_write, id, 0, 0);
        failed.flags = WW_F_ERROR;
        image_call(&image, failed);
        add(&image, WW_ID_File_write, id, id, id);
        add(&image, WW_ID_File_close, id, 0, 0);
    }
    static const char *const expected[] = {"MPI_File_write data 1", "MPI_File_write data 2", NULL};
    expect(&image, expected);
}

/* What tells of a file was lost, or came from nowhere: its name is not known, and nothing else suffers. */
static void test_lost(void **state)
{
    (void)state;
    struct spool_image image = image_begin();
    struct ww_file damaged = {.id = 5, .comm = 77, .flags = UINT32_MAX, .bytes = 1 << 20};
    image_record(&image, WW_FILE, &damaged, sizeof damaged, NULL, 0);
    add(&image, WW_ID_File_write, 3, 10, 10);
    add(&image, WW_ID_File_write_all_begin, 3, 10, 0);
    add(&image, WW_ID_File_write_all_end, 3, 0, 10);
    add(&image, WW_ID_File_read_all_end, 4, 0, 10);
    add(&image, WW_ID_File_delete, 0, 0, 0);
    add(&image, WW_ID_File_close, 3, 0, 0);
    add_open(&image, 6, WW_FILE_READ | WW_FILE_FOUND, "");
    add(&image, WW_ID_File_read, 6, 10, 10);
    add_open(&image, 7, WW_FILE_READ, "data");
    add(&image, WW_ID_File_read, 7, 10, 10);
    static const char *const expected[] = {"MPI_File_read data 10", NULL};
    expect(&image, expected);
}

/* Damage may have one thread close a file that another is still opening. */
static void test_closed_too_early(void **state)
{
    (void)state;
    struct spool_image image = image_begin(), other = image_events(0, 1, 1);
    char *dir = run_dir_new();
    struct ww_file file = {.id = 1, .comm = 1, .flags = WW_FILE_READ, .bytes = 4};
    image_call(&image,
               (struct ww_call){
                   .call = WW_ID_File_open, .enter_ns = START_NS, .leave_ns = START_NS + 9, .comm = 1, .peer = -1});
    image_record(&image, WW_FILE, &file, sizeof file, "data", 5);
    image_call(
        &other,
        (struct ww_call){
            .call = WW_ID_File_close, .enter_ns = START_NS + 3, .leave_ns = START_NS + 4, .comm = 1, .peer = -1});
    image_save(&image, dir, image.bytes.n);
    image_save(&other, dir, other.bytes.n);
    image_release(&image);
    image_release(&other);
    assert_int_equal(convert_salvage(dir, NULL), 0);
    run_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_closed_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
