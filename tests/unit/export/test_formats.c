/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports of a run in memory, with a name that every format has to write with care. What other tools make of real runs
 * is tests/run/exports. */
#include "analyze/export/export.h"
#include "analyze/pipeline.h"
#include "tests/unit/scene/scene.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define AWKWARD "odd\"na\\me;a,b"

/* Twice: rank 1 works 900 us before a barrier to which rank 0 comes at 100 us. */
struct fixture {
    struct scene *scene;
    struct analysis *analysis;
    struct timeline timeline;
};

static int fixture_make(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct scene *scene = f->scene = scene_make(2);
    for (uint64_t from_us = 0; from_us < 2000; from_us += 1000) {
        scene_work(scene, 0, "quick", from_us + 100);
        scene_work(scene, 1, AWKWARD, from_us + 900);
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, from_us + 910);
    }
    f->timeline.n_most = 100000;
    f->analysis = analysis_run(scene->trace, NULL, &f->timeline, 0);
    *state = f;
    return f->analysis ? 0 : -1;
}

static int fixture_free(void **state)
{
    struct fixture *f = *state;
    timeline_release(&f->timeline);
    analysis_free(f->analysis);
    scene_free(f->scene);
    free(f);
    return 0;
}

/* What an export writes; to be freed. */
#define WRITTEN(text, call)                                                                                            \
    do {                                                                                                               \
        size_t size = 0;                                                                                               \
        FILE *out = open_memstream(&(text), &size);                                                                    \
        assert_int_equal(call, 0);                                                                                     \
        fclose(out);                                                                                                   \
    } while (0)

static void folded_stacks_sum_to_all_waiting(void **state)
{
    struct fixture *f = *state;
    char *text, *at;
    long sum_us = 0;
    WRITTEN(text, export_folded(out, f->analysis));
    for (char *line = text; (at = strchr(line, '\n')); line = at + 1) {
        *at = '\0';
        char *last = strrchr(line, ' ');
        assert_non_null(last);
        assert_null(strchr(line, ';')); /* no stacks here, and that of the name does not divide */
        sum_us += strtol(last, NULL, 10);
    }
    assert_int_equal(sum_us, 1600);
    assert_non_null(strstr(text, "odd\"na\\me:a,b"));
    free(text);
}

static void csv_quotes_what_it_must(void **state)
{
    struct fixture *f = *state;
    char *text;
    WRITTEN(text, export_csv(out, &(struct export_run){f->analysis, "a"}, 1, "causes"));
    assert_int_equal(strncmp(text, "name,loop,", 10), 0);
    const char *row = strchr(text, '\n') + 1;
    assert_int_equal(strncmp(row, "\"odd\"\"na\\me;a,b", 15), 0);
    assert_non_null(strstr(row, ",1600000,"));
    free(text);
    WRITTEN(text, export_csv(out, &(struct export_run){f->analysis, "a"}, 1, "matrix"));
    assert_string_equal(text, "waiting,late,waiting_ns\n0,1,1600000\n");
    free(text);
}

static void rows_of_several_runs_tell_which(void **state)
{
    struct fixture *f = *state;
    char *text;
    WRITTEN(text, export_csv(out, (struct export_run[]){{f->analysis, "a"}, {f->analysis, "b,c"}}, 2, "matrix"));
    assert_string_equal(text, "run,waiting,late,waiting_ns\na,0,1,1600000\n\"b,c\",0,1,1600000\n");
    free(text);
}

static void unknown_tables_are_refused(void **state)
{
    struct fixture *f = *state;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_int_equal(export_csv(nowhere, &(struct export_run){f->analysis, "a"}, 1, "nosuch"), -1);
    assert_int_equal(export_csv(nowhere, &(struct export_run){f->analysis, "a"}, 1, "causes.nosuch"), -1);
    fclose(nowhere);
}

/* Two cells a rank and step, one arrow a wait, in the order of time. */
static void a_timeline_has_waits_with_arrows(void **state)
{
    struct fixture *f = *state;
    char *text;
    WRITTEN(text, export_chrome(out, f->analysis, &f->timeline));
    json_t *trace = json_loads(text, 0, NULL), *event;
    assert_non_null(trace);
    size_t i, n_arrows = 0, n_ends = 0, n_calls = 0;
    double last_us = 0, waiting_us = 0, wait_us = -1; /* wait_us: when the wait that is open began */
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
    {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        if (*phase == 'M')
            continue;
        double us = json_number_value(json_object_get(event, "ts"));
        assert_true(us >= last_us);
        last_us = us;
        n_arrows += *phase == 's';
        n_ends += *phase == 'f';
        n_calls += *phase == 'B' && json_integer_value(json_object_get(event, "tid")) % 2 == 0;
        const char *cat = json_string_value(json_object_get(event, "cat"));
        if (*phase == 'B' && cat && !strcmp(cat, "waiting")) {
            wait_us = us;
            assert_int_equal(json_integer_value(json_object_get(event, "pid")), 1); /* rank 0 */
        } else if (*phase == 'E' && wait_us >= 0 && json_integer_value(json_object_get(event, "tid")) == 1) {
            waiting_us += us - wait_us;
            wait_us = -1;
        }
        if (*phase == 's')
            assert_int_equal(json_integer_value(json_object_get(event, "pid")), 2);
    }
    assert_int_equal(n_arrows, 2);
    assert_int_equal(n_ends, 2);
    assert_int_equal(n_calls, 8); /* work is a region as well */
    assert_int_equal((int)waiting_us, 1600);
    json_decref(trace);
    free(text);
}

/* Perfetto shows states by the words of the report. */
static void a_timeline_speaks_as_the_report(void **state)
{
    struct fixture *f = *state;
    struct timeline_kind *kind = f->timeline.kinds.at;
    while (kind->state != STEP_COMPUTING)
        kind++;
    const struct timeline_kind before = *kind;
    *kind = (struct timeline_kind){.state = STEP_DESCHEDULED, .cause = TRACE_NONE, .step = TRACE_NONE};
    char *text;
    WRITTEN(text, export_chrome(out, f->analysis, &f->timeline));
    *kind = before;
    assert_non_null(strstr(text, "\"name\":\"no CPU\",\"cat\":\"no CPU\""));
    assert_null(strstr(text, "descheduled"));
    free(text);
}

static void callgrind_has_the_blame(void **state)
{
    struct fixture *f = *state;
    char *text;
    const struct export_run runs[2] = {{f->analysis, "one"}, {f->analysis, "two"}};
    WRITTEN(text, export_callgrind(out, runs, 1));
    assert_non_null(strstr(text, "events: Time Blame Executions\n"));
    assert_non_null(strstr(text, "\ntotals: 0 1600000 0\n"));
    assert_non_null(strstr(text, "\n0 0 1600000 0\n"));
    assert_null(strstr(text, "added up"));
    free(text);
    WRITTEN(text, export_callgrind(out, runs, 2));
    assert_non_null(strstr(text, "\ndesc: Runs: 2, added up\n"));
    assert_non_null(strstr(text, "\ntotals: 0 3200000 0\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_stacks_sum_to_all_waiting), cmocka_unit_test(csv_quotes_what_it_must),
        cmocka_unit_test(rows_of_several_runs_tell_which),  cmocka_unit_test(unknown_tables_are_refused),
        cmocka_unit_test(a_timeline_has_waits_with_arrows), cmocka_unit_test(callgrind_has_the_blame),
        cmocka_unit_test(a_timeline_speaks_as_the_report),
    };
    return cmocka_run_group_tests(tests, fixture_make, fixture_free);
}
