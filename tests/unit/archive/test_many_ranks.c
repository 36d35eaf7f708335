/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A damaged header may claim many ranks. OTF2 looks through all locations that it knows when it is asked for one, and
 * takes large buffers for each. So the number of these questions must be that of the ranks with records, in writing and
 * in reading.
 */
#include "tests/unit/archive/conversion.h"
#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { FEW = 8, MANY = 800, WITH_RECORDS = 2 };

static unsigned n_asked;

/* The linker puts these in the way of the calls (--wrap). */
OTF2_EvtWriter *__real_OTF2_Archive_GetEvtWriter(OTF2_Archive *archive, OTF2_LocationRef location);
OTF2_EvtWriter *__wrap_OTF2_Archive_GetEvtWriter(OTF2_Archive *archive, OTF2_LocationRef location);
OTF2_DefWriter *__real_OTF2_Archive_GetDefWriter(OTF2_Archive *archive, OTF2_LocationRef location);
OTF2_DefWriter *__wrap_OTF2_Archive_GetDefWriter(OTF2_Archive *archive, OTF2_LocationRef location);

OTF2_EvtReader *__real_OTF2_Reader_GetEvtReader(OTF2_Reader *reader, OTF2_LocationRef location);
OTF2_EvtReader *__wrap_OTF2_Reader_GetEvtReader(OTF2_Reader *reader, OTF2_LocationRef location);
OTF2_DefReader *__real_OTF2_Reader_GetDefReader(OTF2_Reader *reader, OTF2_LocationRef location);
OTF2_DefReader *__wrap_OTF2_Reader_GetDefReader(OTF2_Reader *reader, OTF2_LocationRef location);

OTF2_EvtWriter *__wrap_OTF2_Archive_GetEvtWriter(OTF2_Archive *archive, OTF2_LocationRef location)
{
    n_asked++;
    return __real_OTF2_Archive_GetEvtWriter(archive, location);
}

OTF2_DefWriter *__wrap_OTF2_Archive_GetDefWriter(OTF2_Archive *archive, OTF2_LocationRef location)
{
    n_asked++;
    return __real_OTF2_Archive_GetDefWriter(archive, location);
}

OTF2_EvtReader *__wrap_OTF2_Reader_GetEvtReader(OTF2_Reader *reader, OTF2_LocationRef location)
{
    n_asked++;
    return __real_OTF2_Reader_GetEvtReader(reader, location);
}

OTF2_DefReader *__wrap_OTF2_Reader_GetDefReader(OTF2_Reader *reader, OTF2_LocationRef location)
{
    n_asked++;
    return __real_OTF2_Reader_GetDefReader(reader, location);
}

/* Two ranks in the middle of so many have records. Returns how many locations OTF2 was asked for. */
static unsigned asked_for(int n_ranks)
{
    char *dir = run_dir_new();
    n_asked = 0;
    for (int i = 0; i < WITH_RECORDS; i++) {
        struct spool_image image = image_events(n_ranks / 2 + i, n_ranks, 0);
        image_world(&image);
        image_call(&image, CALL(Barrier, 0, 5));
        save(&image, dir);
    }
    struct trace *trace = make_trace(dir);
    unsigned n_events = 0;
    while (trace_next(trace))
        n_events++;
    assert_int_equal(trace->n_ranks, n_ranks);
    assert_int_equal(trace->n_locations, n_ranks);
    assert_true(n_events >= 2 * WITH_RECORDS);
    assert_int_equal(trace->n_notes, 1);
    trace_close(trace);
    run_dir_remove(dir);
    return n_asked;
}

static void test_ranks_without_records(void **state)
{
    (void)state;
    assert_int_equal(asked_for(MANY), asked_for(FEW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks_without_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
