/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effort of opening and closing the locations of an archive grows as their number does. OTF2 keeps what a reader
 * has open in a list, the newest first, and walks it at each opening and closing. The steps of these walks are counted.
 */
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
#include "analyze/trace/trace.h"
#include "tests/unit/archive/spool_image.h"
#include "wrap/base/containers.h"
#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { NAME, FEW = 1000, MANY = 4000 };

/* In the order of opening; those of one OTF2_Reader are a list of its own. */
static VEC(struct open_location {
    const OTF2_Reader *of;
    const OTF2_EvtReader *location;
}) open_locations;
static uint64_t n_steps, n_opened;

/* The linker puts these in the way of the reader's calls (--wrap). */
OTF2_EvtReader *__real_OTF2_Reader_GetEvtReader(OTF2_Reader *reader, OTF2_LocationRef location);
OTF2_EvtReader *__wrap_OTF2_Reader_GetEvtReader(OTF2_Reader *reader, OTF2_LocationRef location);
OTF2_ErrorCode __real_OTF2_Reader_CloseEvtReader(OTF2_Reader *reader, OTF2_EvtReader *location);
OTF2_ErrorCode __wrap_OTF2_Reader_CloseEvtReader(OTF2_Reader *reader, OTF2_EvtReader *location);

OTF2_EvtReader *__wrap_OTF2_Reader_GetEvtReader(OTF2_Reader *reader, OTF2_LocationRef location)
{
    for (size_t i = 0; i < open_locations.n; i++)
        n_steps += open_locations.at[i].of == reader;
    n_opened++;
    OTF2_EvtReader *opened = __real_OTF2_Reader_GetEvtReader(reader, location);
    *vec_push(&open_locations) = (struct open_location){reader, opened};
    return opened;
}

OTF2_ErrorCode __wrap_OTF2_Reader_CloseEvtReader(OTF2_Reader *reader, OTF2_EvtReader *location)
{
    size_t at = open_locations.n - 1;
    while (open_locations.at[at].location != location)
        n_steps += open_locations.at[at--].of == reader;
    for (open_locations.n--; at < open_locations.n; at++)
        open_locations.at[at] = open_locations.at[at + 1];
    return __real_OTF2_Reader_CloseEvtReader(reader, location);
}

static void write_definitions(OTF2_GlobalDefWriter *defs, uint32_t n)
{
    OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000000000, 0, 100, 0);
    OTF2_GlobalDefWriter_WriteString(defs, NAME, "main");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, NAME, NAME, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteRegion(defs, 0, NAME, NAME, NAME, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
                                     OTF2_REGION_FLAG_NONE, NAME, 0, 0);
    for (uint32_t i = 0; i < n; i++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(defs, i, NAME, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(defs, i, NAME, OTF2_LOCATION_TYPE_CPU_THREAD, 2, i);
    }
}

/* Each location enters and leaves one routine. */
static void write_archive(const char *dir, uint32_t n)
{
    OTF2_Archive *archive = archive_create(dir, 0);
    assert_non_null(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint32_t i = 0; i < n; i++) {
        OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(archive, i);
        OTF2_EvtWriter_Enter(events, NULL, 10 + i, 0);
        OTF2_EvtWriter_Leave(events, NULL, 20 + i, 0);
        OTF2_Archive_CloseEvtWriter(archive, events);
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i));
    }
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(archive);
    write_definitions(defs, n);
    OTF2_Archive_CloseGlobalDefWriter(archive, defs);
    OTF2_Archive_Close(archive);
}

/* The steps that one reading takes for a location. */
static double steps_each(uint32_t n)
{
    char *dir = run_dir_new(), *anchor = path_format("%s/" ARCHIVE_NAME ".otf2", dir);
    write_archive(dir, n);
    n_steps = n_opened = 0;
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    assert_int_equal(trace->n_locations, n);
    uint32_t n_ends = 0;
    uint64_t last_ns = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        assert_true(event->time_ns >= last_ns);
        last_ns = event->time_ns;
        n_ends += event->kind == EV_END;
    }
    assert_int_equal(n_ends, n);
    assert_int_equal(trace->is_damaged, 0);
    trace_close(trace);
    assert_int_equal(open_locations.n, 0);
    assert_true(n_opened >= n);
    run_dir_remove(dir);
    free(anchor);
    return (double)n_steps / (double)n_opened;
}

static void test_steps(void **state)
{
    (void)state;
    double few = steps_each(FEW), many = steps_each(MANY);
    print_message("%.0f steps a location of %d, %.0f of %d\n", few, FEW, many, MANY);
    assert_true(many < few * 1.5);
    vec_release(&open_locations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
