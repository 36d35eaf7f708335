/* SPDX-License-Identifier: BSD-3-Clause */
/* Call stacks of a damaged archive: callers that lead back to their own frame are dropped when it is opened. */
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
#include "analyze/trace/trace.h"
#include "tests/unit/archive/spool_image.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { NAME, N_FRAMES = 5 };

/* By frame, its caller: 0 and 1 call each other, 2 calls itself, 3 and 4 are sound. */
static const uint32_t callers[N_FRAMES] = {1, 0, 2, OTF2_UNDEFINED_CALLING_CONTEXT, 3};

static void write_definitions(OTF2_GlobalDefWriter *defs)
{
    OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000000000, 0, 100, 0);
    OTF2_GlobalDefWriter_WriteString(defs, NAME, "circle");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, NAME, NAME, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteLocationGroup(defs, 0, NAME, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(defs, 0, NAME, OTF2_LOCATION_TYPE_CPU_THREAD, N_FRAMES, 0);
    OTF2_GlobalDefWriter_WriteRegion(defs, 0, NAME, NAME, NAME, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
                                     OTF2_REGION_FLAG_NONE, NAME, 0, 0);
    for (uint32_t i = 0; i < N_FRAMES; i++)
        OTF2_GlobalDefWriter_WriteCallingContext(defs, i, 0, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, callers[i]);
}

/* One location with a sample in each frame. */
static void write_archive(const char *dir)
{
    OTF2_Archive *archive = archive_create(dir, 0);
    assert_non_null(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(archive, 0);
    for (uint32_t i = 0; i < N_FRAMES; i++)
        OTF2_EvtWriter_CallingContextSample(events, NULL, 10 + i, i, 1, 0);
    OTF2_Archive_CloseEvtWriter(archive, events);
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, 0));
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(archive);
    write_definitions(defs);
    OTF2_Archive_CloseGlobalDefWriter(archive, defs);
    OTF2_Archive_Close(archive);
}

static void test_circle(void **state)
{
    (void)state;
    static const uint32_t depths[N_FRAMES] = {1, 2, 1, 1, 2};
    char *dir = run_dir_new(), *anchor = path_format("%s/" ARCHIVE_NAME ".otf2", dir);
    write_archive(dir);
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    assert_int_equal(trace->n_frames, N_FRAMES);
    uint32_t n_samples = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        if (event->kind != EV_SAMPLE)
            continue;
        uint32_t depth = 0;
        trace_walk (trace, at, event->frame)
            assert_true(++depth <= N_FRAMES);
        assert_int_equal(depth, depths[event->frame]);
        n_samples++;
    }
    assert_int_equal(n_samples, N_FRAMES);
    trace_close(trace);
    run_dir_remove(dir);
    free(anchor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
