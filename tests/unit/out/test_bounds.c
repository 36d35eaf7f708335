/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of a run that is larger than anybody reads: 1,024 ranks, 1,000 calls with 64 classes each, 300 causes with
 * 200 parts, 90 routines that each call all. Every view keeps to two screens and the JSON report to 1 MB, unless
 * everything is asked for; what is left out is counted, so that the sums still add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/out/json_report.h"
#include "analyze/out/report.h"
#include "analyze/out/routines.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 1024, SITES = 1000, CLASSES = 64, CAUSES = 300, PARTS = 200, STEPS = 400, PLACES = 500, GROUPS = 256 };
/* A third of the routines call each other in a circle, each calls all, and some share a name. */
enum { ROUTINES = 90, CYCLE = ROUTINES / 3, NAMESAKES = 10 };
enum { LINES_MOST = 120, BYTES_MOST = 1000000 };
/* Of one class, in ns; everything else follows. */
static const double CLASS_NS = 1e6;

struct large {
    struct arena arena;
    struct trace trace;
    struct analysis analysis;
    double *by_rank;
    struct cause_rank *late, *others;
};

static void large_steps(struct large *large)
{
    struct step *steps = large->analysis.steps = arena_array(&large->arena, struct step, STEPS);
    for (uint32_t i = 0; i < STEPS; i++)
        steps[i] = (struct step){.file = arena_printf(&large->arena, "/home/u/model/src/physics/part%u.F90", i / 8),
                                 .routine = arena_printf(&large->arena, "physics_column_%u", i),
                                 .line_first = i + 1,
                                 .line_last = i + 9,
                                 .is_loop = true,
                                 .place = CODE_NONE,
                                 .caller = TRACE_NONE};
    large->analysis.n_steps = STEPS;
}

static struct class_steps large_class_steps(const struct analysis *analysis, const struct wait_class *class,
                                            struct arena *arena)
{
    enum { STEPS_EACH = 24 };
    (void)analysis, (void)class;
    struct class_steps steps = {.at = arena_array(arena, struct class_step, STEPS_EACH)};
    for (uint32_t i = 0; i < STEPS_EACH; i++)
        steps.at[steps.n++] =
            (struct class_step){.step = i, .rank = i, .dur_ns = CLASS_NS / (i + 2), .blame_ns = CLASS_NS / STEPS_EACH};
    return steps;
}

static struct wait_class *large_classes(struct large *large)
{
    struct wait_class *classes = arena_array(&large->arena, struct wait_class, CLASSES);
    for (uint32_t i = 0; i < CLASSES; i++)
        classes[i] = (struct wait_class){.number = i + 1,
                                         .n_instances = 10,
                                         .waiting_ns = CLASS_NS,
                                         .when = {.first_ns = i, .last_ns = 1000000000ull * i}};
    return classes;
}

static void large_sites(struct large *large)
{
    struct wait_site *sites = large->analysis.sites = arena_array(&large->arena, struct wait_site, SITES);
    struct wait_class *classes = large_classes(large);
    for (uint32_t i = 0; i < SITES; i++)
        sites[i] = (struct wait_site){.call = "MPI_Waitall",
                                      .kind = WAIT_LATE_SENDER,
                                      .file = "/home/u/model/src/exchange.F90",
                                      .routine = "halo_exchange",
                                      .line = i + 1,
                                      .path = "halo_exchange() <- step():120 <- integrate():88 <- main():12",
                                      .waiting_ns = CLASSES * CLASS_NS,
                                      .n_instances = CLASSES * 10,
                                      .n_calls = CLASSES * 10,
                                      .rank_waiting_ns = large->by_rank,
                                      .classes = classes,
                                      .n_classes = CLASSES};
    large->analysis.class_steps = large_class_steps;
    large->analysis.n_sites = SITES;
    large->analysis.waiting_ns = SITES * CLASSES * CLASS_NS;
}

static struct cause_part *large_parts(struct large *large, double cause_ns)
{
    struct cause_part *parts = arena_array(&large->arena, struct cause_part, PARTS);
    for (uint32_t i = 0; i < PARTS; i++)
        parts[i] = (struct cause_part){.step = i,
                                       .depth = i > 0,
                                       .call_line = i,
                                       .own_ns = cause_ns / PARTS,
                                       .waiting_ns = i ? cause_ns / PARTS : cause_ns,
                                       .ranks = large->late,
                                       .n_ranks = RANKS / 2};
    return parts;
}

/* All waiting but the machine's tenth. */
static void large_causes(struct large *large)
{
    enum { SITES_EACH = 40 };
    struct analysis *analysis = &large->analysis;
    double each_ns = 0.9 * analysis->waiting_ns / CAUSES;
    struct cause *causes = analysis->causes = arena_array(&large->arena, struct cause, CAUSES);
    struct cause_site *sites = arena_array(&large->arena, struct cause_site, SITES_EACH);
    uint32_t *numbers = arena_array(&large->arena, uint32_t, CLASSES);
    struct cause_part *parts = large_parts(large, each_ns);
    for (uint32_t i = 0; i < CLASSES; i++)
        numbers[i] = i + 1;
    for (uint32_t i = 0; i < SITES_EACH; i++)
        sites[i] = (struct cause_site){.site = i,
                                       .waiting_ns = each_ns / SITES_EACH,
                                       .n_calls = CLASSES * 10,
                                       .classes = numbers,
                                       .n_classes = CLASSES};
    for (uint32_t i = 0; i < CAUSES; i++) {
        causes[i] = (struct cause){.step = i,
                                   .node = TRACE_NONE,
                                   .kind = KIND_MORE_TIME,
                                   .waiting_ns = each_ns,
                                   .direct_ns = each_ns,
                                   .share = 0.9 / CAUSES,
                                   .last_rank = TRACE_NONE,
                                   .ranks = large->late,
                                   .n_ranks = RANKS / 2,
                                   .n_late = RANKS / 4,
                                   .others = large->others,
                                   .n_others = RANKS / 2,
                                   .sites = sites,
                                   .n_sites = SITES_EACH,
                                   .parts = parts,
                                   .n_parts = PARTS};
        causes[i].kind_ns[KIND_MORE_TIME] = each_ns;
        for (int part = 0; part < WHEN_PARTS; part++)
            causes[i].when_ns[part] = each_ns / WHEN_PARTS;
    }
    analysis->n_causes = CAUSES;
    struct machine_place *places = arena_array(&large->arena, struct machine_place, PLACES);
    for (uint32_t i = 0; i < PLACES; i++)
        places[i] = (struct machine_place){.step = i % STEPS, .waiting_ns = 0.1 * analysis->waiting_ns / PLACES};
    analysis->machine = (struct machine){.waiting_ns = 0.1 * analysis->waiting_ns,
                                         .share = 0.1,
                                         .ranks = large->late,
                                         .sites = sites,
                                         .places = places,
                                         .n_ranks = RANKS / 2,
                                         .n_late = RANKS / 4,
                                         .n_sites = SITES_EACH,
                                         .n_places = PLACES};
}

static void large_routines(struct large *large)
{
    struct routine_profile *routines = arena_array(&large->arena, struct routine_profile, ROUTINES);
    struct routine_arc *arcs = arena_array(&large->arena, struct routine_arc, ROUTINES * ROUTINES);
    double *cycle_total_ns = arena_array(&large->arena, double, 2);
    for (uint32_t i = 0; i < ROUTINES; i++) {
        routines[i] = (struct routine_profile){
            .name = i < NAMESAKES ? "apply" : arena_printf(&large->arena, "physics_column_%u", i),
            .total_ns = 2e9 * (i + 1),
            .self_ns = 1e9,
            .calls = ROUTINES,
            .cycle = i < CYCLE,
            .rank_total_ns = large->by_rank,
            .rank_self_ns = large->by_rank};
        for (uint32_t k = 0; k < ROUTINES; k++)
            arcs[i * ROUTINES + k] =
                (struct routine_arc){.from = i, .to = k, .calls = 1, .self_ns = 1e6 * (i + k), .below_ns = 1e6};
    }
    cycle_total_ns[1] = 1e12;
    large->analysis.profile = (struct profile){.routines = routines,
                                               .arcs = arcs,
                                               .cycle_total_ns = cycle_total_ns,
                                               .n_routines = ROUTINES,
                                               .n_arcs = ROUTINES * ROUTINES,
                                               .n_cycles = 1,
                                               .time_ns = 1e13};
}

static void large_rest(struct large *large)
{
    struct analysis *analysis = &large->analysis;
    analysis->ranks = arena_array(&large->arena, struct rank_summary, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        analysis->ranks[i] = (struct rank_summary){.compute_ns = 1e9 * (i + 1), .waiting_ns = 1e12 - 1e9 * (i + 1)};
    analysis->rank_waiting_ns = large->by_rank;
    analysis->files = arena_array(&large->arena, const char *, STEPS);
    for (uint32_t i = 0; i < STEPS; i += 8)
        analysis->files[analysis->n_files++] = analysis->steps[i].file;
    analysis->matrix = (struct wait_matrix){
        .n_groups = GROUPS, .group_size = RANKS / GROUPS, .ns = arena_array(&large->arena, double, GROUPS *GROUPS)};
    for (uint32_t i = 0; i < GROUPS * GROUPS; i++)
        analysis->matrix.ns[i] = analysis->waiting_ns / (GROUPS * GROUPS);
    analysis->critical = arena_array(&large->arena, struct critical_step, STEPS);
    for (uint32_t i = 0; i < STEPS; i++)
        analysis->critical[i] = (struct critical_step){.step = i, .on_path_ns = 1e9, .n_ranks = 7};
    analysis->n_critical = STEPS;
    analysis->allocations = arena_array(&large->arena, struct allocation, PLACES);
    uint64_t *bytes = arena_array(&large->arena, uint64_t, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        bytes[i] = 1000000000 + i;
    for (uint32_t i = 0; i < PLACES; i++)
        analysis->allocations[i] =
            (struct allocation){.file = "/home/u/a.c", .routine = "f", .line = i, .bytes = 1, .rank_bytes = bytes};
    analysis->n_allocations = PLACES;
    struct open_wait *open = analysis->open_waits = arena_array(&large->arena, struct open_wait, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        open[i] = (struct open_wait){.rank = i,
                                     .for_rank = (i * 7 + 1) % RANKS,
                                     .unlike_rank = TRACE_NONE,
                                     .call = "MPI_Recv",
                                     .file = "/a/b.c"};
    analysis->n_open_waits = RANKS;
    analysis->efficiency =
        (struct efficiency){.wall_ns = 1e12, .all_ns = 3 * analysis->waiting_ns, .waiting_ns = analysis->waiting_ns};
}

static int large_make(void **state)
{
    struct large *large = calloc(1, sizeof *large);
    large->by_rank = arena_array(&large->arena, double, RANKS);
    large->late = arena_array(&large->arena, struct cause_rank, RANKS / 2);
    large->others = arena_array(&large->arena, struct cause_rank, RANKS / 2);
    for (uint32_t i = 0; i < RANKS / 2; i++) {
        large->late[i] = (struct cause_rank){.rank = 2 * i,
                                             .blame_ns = 1e10 / (i + 1),
                                             .time_ns = 1e11,
                                             .computing_ns = 1e11,
                                             .executions = 1000000 + i};
        large->others[i] = (struct cause_rank){.rank = 2 * i + 1, .time_ns = 1e10 + i};
    }
    for (uint32_t i = 0; i < RANKS; i++)
        large->by_rank[i] = SITES * CLASSES * CLASS_NS / RANKS / 1000;
    struct trace_location *locations = arena_array(&large->arena, struct trace_location, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        locations[i] = (struct trace_location){.rank = i,
                                               .host = arena_printf(&large->arena, "node%03u", i / 64),
                                               .end_ns = 1000000000000,
                                               .end_how = i % 3 ? WW_END_FINALIZE : WW_END_NONE,
                                               .n_dropped = i % 5 ? 0 : 12};
    large->trace = (struct trace){.program = "model",
                                  .path = "/a/model.whywait/traces.otf2",
                                  .recorder = "whywait",
                                  .is_ours = true,
                                  .n_ranks = RANKS,
                                  .end_ns = 1000000000000,
                                  .locations = locations,
                                  .n_locations = RANKS};
    large->analysis.trace = &large->trace;
    large_steps(large);
    large_sites(large);
    large_causes(large);
    large_routines(large);
    large_rest(large);
    *state = large;
    return 0;
}

static int large_free(void **state)
{
    struct large *large = *state;
    arena_release(&large->arena);
    free(large);
    return 0;
}

static void view_cause(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    report_cause(out, analysis, 0, options);
}

static void view_site(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    report_site(out, analysis, 0, options);
}

static struct routines_options routines_of(const struct report_options *options, unsigned n_top)
{
    struct routines_options routines = {.text = *options};
    routines.text.n_top = options->all ? 0 : n_top;
    return routines;
}

static void view_routines(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct routines_options routines = routines_of(options, ROUTINES_SHOWN);
    assert_int_equal(report_routines(out, analysis, &analysis->profile, &routines), 0);
}

static void view_routine(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct routines_options routines = routines_of(options, ROUTINES_SHOWN);
    assert_int_equal(report_routine(out, analysis, &analysis->profile, "apply", &routines), 0);
}

static void view_graph(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct routines_options routines = routines_of(options, ENTRIES_SHOWN);
    assert_int_equal(report_routine_graph(out, analysis, &analysis->profile, &routines), 0);
}

static void view_space(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    struct report_options text = routines_of(options, ROUTINES_SHOWN).text;
    report_space(out, analysis, &text);
}

static const struct view {
    const char *name;
    void (*print)(FILE *out, const struct analysis *analysis, const struct report_options *options);
} views[] = {{"overview", report_overview}, {"--cause", view_cause},     {"--sites", report_sites},
             {"--site", view_site},         {"--ranks", report_ranks},   {"--critical", report_critical},
             {"--routines", view_routines}, {"--routine", view_routine}, {"--graph", view_graph},
             {"--by space", view_space}};

static size_t lines_of(const struct view *view, const struct large *large, const struct report_options *options)
{
    char *text = NULL;
    size_t size = 0, n = 0;
    FILE *out = open_memstream(&text, &size);
    view->print(out, &large->analysis, options);
    fclose(out);
    for (const char *at = text; *at; at++)
        n += *at == '\n';
    free(text);
    return n;
}

static void every_view_keeps_to_two_screens(void **state)
{
    static const unsigned widths[] = {80, 110};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
            const struct report_options usual = {.width = widths[k], .n_top = 5, .hide_small = true};
            size_t n = lines_of(&views[i], *state, &usual);
            if (n > LINES_MOST)
                fail_msg("%s has %zu lines of %u columns", views[i].name, n, widths[k]);
        }
}

static void everything_is_shown_on_request(void **state)
{
    static const size_t least[] = {3 * CAUSES,
                                   RANKS + PARTS + 40 * CLASSES,
                                   SITES,
                                   RANKS + CLASSES,
                                   GROUPS,
                                   STEPS,
                                   ROUTINES,
                                   2 * ROUTINES * NAMESAKES,
                                   2 * ROUTINES * ROUTINES,
                                   PLACES};
    const struct report_options all = {.width = 110, .n_top = 5, .all = true, .all_steps = true};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        size_t n = lines_of(&views[i], *state, &all);
        if (n < least[i])
            fail_msg("%s has %zu lines with --all, fewer than %zu", views[i].name, n, least[i]);
    }
}

static json_t *printed_json(const struct large *large, const struct json_options *options, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_int_equal(json_print(out, &large->analysis, options), 0);
    fclose(out);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    free(text);
    return object;
}

static long long integer(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Of a list, with what the object says is left out of it. */
static void expect_whole(json_t *object, const char *list, const char *field, long long n, long long sum)
{
    json_t *left_out = json_object_get(json_object_get(object, "left_out"), list), *item;
    long long n_there = left_out ? integer(left_out, "n") : 0,
              sum_there = left_out && field ? integer(left_out, "waiting_ns") : 0;
    size_t i;
    json_array_foreach(json_object_get(object, list), i, item)
    {
        n_there++;
        sum_there += field ? integer(item, field) : 0;
    }
    assert_int_equal(n_there, n);
    if (field)
        assert_int_equal(sum_there, sum);
}

static void expect_sums(json_t *report)
{
    long long all = integer(report, "waiting_ns");
    json_t *machine = json_object_get(report, "machine"), *cause = json_array_get(json_object_get(report, "causes"), 0);
    json_t *site = json_array_get(json_object_get(report, "sites"), 0);
    expect_whole(report, "causes", "waiting_ns", CAUSES, all - integer(machine, "waiting_ns"));
    expect_whole(report, "sites", "waiting_ns", SITES, all);
    expect_whole(report, "by_rank", NULL, RANKS, 0);
    expect_whole(machine, "places", "waiting_ns", PLACES, integer(machine, "waiting_ns"));
    expect_whole(cause, "sites", "waiting_ns", 40, integer(cause, "waiting_ns"));
    expect_whole(cause, "parts", "own_ns", PARTS, integer(cause, "waiting_ns"));
    expect_whole(cause, "by_rank", NULL, RANKS, 0);
    expect_whole(site, "classes", "waiting_ns", CLASSES, integer(site, "waiting_ns"));
}

static void the_json_report_is_bounded(void **state)
{
    size_t size = 0;
    json_t *report = printed_json(*state, &(struct json_options){0}, &size);
    assert_in_range(size, BYTES_MOST / 4, BYTES_MOST);
    assert_true(json_array_size(json_object_get(report, "causes")) >= 10);
    assert_true(json_array_size(json_object_get(report, "sites")) >= 10);
    assert_int_equal(json_array_size(json_object_get(report, "by_rank")), RANKS);
    expect_sums(report);
    json_decref(report);
}

static void the_json_report_has_everything_on_request(void **state)
{
    struct large *large = *state;
    size_t size = 0;
    large->analysis.n_causes = 3; /* enough of them */
    large->analysis.n_sites = 200;
    json_t *report = printed_json(large, &(struct json_options){.all = true}, &size);
    json_t *cause = json_array_get(json_object_get(report, "causes"), 2);
    assert_null(json_object_get(report, "left_out"));
    assert_null(json_object_get(cause, "left_out"));
    assert_int_equal(json_array_size(json_object_get(cause, "sites")), 40);
    assert_int_equal(json_array_size(json_object_get(cause, "by_rank")), RANKS);
    assert_int_equal(json_array_size(json_object_get(report, "sites")), 200);
    assert_int_equal(json_array_size(json_object_get(json_object_get(report, "who_waits_for_whom"), "pairs")),
                     GROUPS * GROUPS);
    json_decref(report);
}

/* Of many ranks those that wait for longest, not those with the smallest numbers. */
static void a_site_names_those_who_wait_for_longest(void **state)
{
    struct large *large = *state;
    const struct report_options usual = {.width = 110};
    large->by_rank[RANKS - 3] *= 50;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    report_site(out, &large->analysis, 0, &usual);
    fclose(out);
    assert_non_null(strstr(text, "rank 1021 waits"));
    assert_null(strstr(text, "rank 11 waits"));
    assert_non_null(strstr(text, "and 1012 more ranks"));
    /* Its causes do not add up to its waiting without the machine's part. */
    assert_non_null(strstr(text, "because ranks were ready to run but had no CPU (the machine)"));
    free(text);
}

/* Each rank waits for the next: whom the last one waits for is the news, and is told first. */
static void a_long_chain_is_told_from_its_end(void **state)
{
    struct large *large = *state;
    const struct report_options wide = {.width = 300};
    for (uint32_t i = 0; i < RANKS; i++)
        large->analysis.open_waits[i] = (struct open_wait){.rank = i,
                                                           .for_rank = i + 1 < RANKS ? i + 1 : TRACE_NONE,
                                                           .unlike_rank = TRACE_NONE,
                                                           .call = "MPI_Recv",
                                                           .dur_ns = 5000000000};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    report_overview(out, &large->analysis, &wide);
    fclose(out);
    const char *last = strstr(text, "rank 1023 never came back from MPI_Recv");
    const char *others = strstr(text, "ranks 0-1022 never came back from MPI_Recv: they waited for ranks 1-1023, which "
                                      "hang themselves, from 0 s after the start.");
    assert_non_null(last);
    assert_non_null(others);
    assert_true(last < others);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_view_keeps_to_two_screens, large_make, large_free),
        cmocka_unit_test_setup_teardown(everything_is_shown_on_request, large_make, large_free),
        cmocka_unit_test_setup_teardown(a_site_names_those_who_wait_for_longest, large_make, large_free),
        cmocka_unit_test_setup_teardown(a_long_chain_is_told_from_its_end, large_make, large_free),
        cmocka_unit_test_setup_teardown(the_json_report_is_bounded, large_make, large_free),
        cmocka_unit_test_setup_teardown(the_json_report_has_everything_on_request, large_make, large_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
