/* SPDX-License-Identifier: BSD-3-Clause */
/* The routine profile as text: main calls two routines of a namespace, one of which calls MPI, and two in a circle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/out/routines.h"
#include <stdlib.h>
#include <string.h>

enum { MAIN, RELAX, EXCHANGE, SEND, EVEN, ODD, N_ROUTINES };

static double rank_total[N_ROUTINES][2] = {{3e9, 7e9}, {1e9, 5e9}, {1e9, 1e9}, {0.75e9, 0.25e9}, {0, 0}, {1e9, 1e9}};
static double rank_self[N_ROUTINES][2] = {{0, 0}, {1e9, 5e9}, {0.25e9, 0.75e9}, {0.75e9, 0.25e9}, {0, 0}, {1e9, 1e9}};
static double cycle_total[] = {0, 2e9};

static struct routine_profile routines[N_ROUTINES] = {
    [MAIN] = {.name = "main", .file = "/home/u/a.cc", .line = 90, .total_ns = 10e9},
    [RELAX] =
        {.name = "heat::relax", .file = "/home/u/a.cc", .line = 12, .total_ns = 6e9, .self_ns = 6e9, .calls = 4000},
    [EXCHANGE] = {.name = "heat::exchange", .file = "/home/u/a.cc", .line = 40, .total_ns = 2e9, .self_ns = 1e9},
    [SEND] = {.name = "MPI_Send", .is_mpi = true, .total_ns = 1e9, .self_ns = 1e9, .calls = 20},
    [EVEN] = {.name = "even", .cycle = 1},
    [ODD] = {.name = "odd", .total_ns = 2e9, .self_ns = 2e9, .cycle = 1},
};

static struct routine_arc arcs[] = {
    {.from = MAIN, .to = RELAX, .calls = 4000, .self_ns = 6e9},
    {.from = MAIN, .to = EXCHANGE, .self_ns = 1e9, .below_ns = 1e9},
    {.from = EXCHANGE, .to = SEND, .calls = 20, .self_ns = 1e9},
    {.from = MAIN, .to = EVEN, .self_ns = 2e9},
    {.from = EVEN, .to = ODD},
    {.from = ODD, .to = EVEN},
};

static struct trace trace = {.program = "heat", .n_ranks = 2};
static struct analysis analysis;

static int prepare(void **state)
{
    (void)state;
    for (int i = 0; i < N_ROUTINES; i++) {
        routines[i].rank_total_ns = rank_total[i];
        routines[i].rank_self_ns = rank_self[i];
    }
    analysis = (struct analysis){.trace = &trace, .waiting_ns = 4e9};
    analysis.profile = (struct profile){.routines = routines,
                                        .arcs = arcs,
                                        .cycle_total_ns = cycle_total,
                                        .n_routines = N_ROUTINES,
                                        .n_arcs = sizeof arcs / sizeof *arcs,
                                        .n_cycles = 1,
                                        .time_ns = 10e9};
    return 0;
}

static const struct routines_options options = {.text.width = 80};

/* What is printed of the list (no name) or of a routine; to be freed. */
static char *printed(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (name)
        assert_int_equal(report_routine(out, &analysis, &analysis.profile, name, &options), 0);
    else
        report_routines(out, &analysis, &analysis.profile, &options);
    fclose(out);
    return text;
}

static void expect_order(const char *text, const char *const *parts, size_t n)
{
    const char *at = text;
    for (size_t i = 0; i < n; i++) {
        const char *found = strstr(at, parts[i]);
        if (!found)
            fail_msg("\"%s\" is not (in this order) in:\n%s", parts[i], text);
        at = found;
    }
}

static void the_list_falls_and_names_the_rank_with_most(void **state)
{
    (void)state;
    static const char *const parts[] = {"main() a.cc:90", "10.0 s",   "heat::relax() a.cc:12",
                                        "6.00 s",         "60 %",     "4,000",
                                        "1: 1.7 x mean",  "MPI_Send", "cycle 1, 2.00 s in all"};
    char *text = printed(NULL);
    expect_order(text, parts, sizeof parts / sizeof *parts);
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
        assert_true(end - line <= 80);
    free(text);
}

/* What routines cause, what the machine does, and what has no samples add up to all waiting. */
static void the_machine_stands_apart_from_what_routines_cause(void **state)
{
    (void)state;
    static const char *const parts[] = {"2.40 s of 4.00 s waiting",
                                        "\n    1.50 s more, 38 % of all, is the machine's: ranks were ready to run but",
                                        "\n    100 ms more is caused by what has no samples"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    analysis.machine.waiting_ns = 1.5e9;
    analysis.machine.share = 1.5 / 4;
    analysis.blame_profile = analysis.profile;
    analysis.blame_profile.time_ns = 2.4e9;
    analysis.blame_profile.left_out_ns = 1.6e9;
    report_routines(out, &analysis, &analysis.blame_profile, &options);
    fclose(out);
    expect_order(text, parts, sizeof parts / sizeof *parts);
    free(text);
}

static void an_entry_has_callers_and_callees(void **state)
{
    (void)state;
    static const char *const parts[] = {"heat::exchange() a.cc:40",
                                        "total 2.00 s, 20 %",
                                        "self 1.00 s, 10 %",
                                        "called by",
                                        "main()",
                                        "calls",
                                        "MPI_Send"};
    char *text = printed("exchange");
    expect_order(text, parts, sizeof parts / sizeof *parts);
    assert_null(strstr(text, "relax"));
    free(text);
}

/* Callers above the own line, callees below; a cycle as a whole with its members, whose calls have no "of all". */
static void a_graph_has_entries_and_cycles(void **state)
{
    (void)state;
    static const char *const parts[] = {"[1]",
                                        "main()",
                                        "4,000/4,000",
                                        "heat::relax() a.cc:12 [2]",
                                        "4,000/4,000",
                                        "main() a.cc:90 [1]",
                                        "[2]",
                                        "4,000",
                                        "main() a.cc:90 [1]",
                                        "<cycle 1 as a whole>",
                                        "even() <cycle 1>",
                                        "odd() <cycle 1>",
                                        "main() a.cc:90 [1]",
                                        "heat::exchange()"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_routine_graph(out, &analysis, &analysis.profile, &options), 0);
    fclose(out);
    expect_order(text, parts, sizeof parts / sizeof *parts);
    free(text);
}

static void a_choice_keeps_what_is_reached(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct routine_row *rows;
    struct routines_options chosen = {.below = "exchange", .order = ROUTINES_BY_NAME};
    assert_int_equal(routines_choose(&arena, &analysis.profile, &chosen, false, &rows), 2);
    assert_int_equal(rows[0].number, SEND);
    assert_int_equal(rows[1].number, EXCHANGE);
    chosen = (struct routines_options){.above = "MPI_Send"};
    assert_int_equal(routines_choose(&arena, &analysis.profile, &chosen, false, &rows), 3);
    assert_int_equal(rows[0].number, MAIN);
    chosen = (struct routines_options){.above = "odd"}; /* even, which has no time, is on the way */
    assert_int_equal(routines_choose(&arena, &analysis.profile, &chosen, true, &rows), 4);
    assert_true(rows[1].is_cycle);
    chosen = (struct routines_options){.match = "heat::", .order = ROUTINES_BY_SELF};
    assert_int_equal(routines_choose(&arena, &analysis.profile, &chosen, false, &rows), 2);
    assert_int_equal(rows[0].number, RELAX);
    arena_release(&arena);
}

static void names_may_lack_namespaces_and_have_parentheses(void **state)
{
    (void)state;
    static const char *const names[] = {"heat::relax", "relax", "relax()", "heat::relax()"};
    char *first = printed(names[0]);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        char *text = printed(names[i]);
        assert_string_equal(text, first);
        free(text);
    }
    free(first);
    FILE *nowhere = fopen("/dev/null", "w");
    assert_int_equal(report_routine(nowhere, &analysis, &analysis.profile, "lax", &options), -1);
    assert_int_equal(report_routine(nowhere, &analysis, &analysis.profile, "main::relax", &options), -1);
    fclose(nowhere);
}

/* As long as that names one routine; and what is shown can be asked for. */
static void long_template_arguments_are_left_out(void **state)
{
    (void)state;
    static const char *const whole[] = {"apply<View<std::vector<double, std::allocator<double> > > >",
                                        "apply<View<std::vector<float, std::allocator<float> > > >"};
    routines[RELAX].name = whole[0];
    char *text = printed(NULL), *asked = printed("apply<...>");
    assert_non_null(strstr(text, "apply<...>() a.cc:12"));
    assert_null(strstr(text, "allocator"));
    assert_non_null(strstr(asked, "apply<...>() a.cc:12"));
    free(text);
    free(asked);
    routines[ODD].name = whole[1];
    text = printed(NULL);
    assert_null(strstr(text, "apply<...>"));
    assert_non_null(strstr(text, "std::allocator<double>"));
    assert_non_null(strstr(text, "std::allocator<float>"));
    free(text);
    routines[RELAX].name = "heat::relax";
    routines[ODD].name = "odd";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_falls_and_names_the_rank_with_most),
        cmocka_unit_test_setup(the_machine_stands_apart_from_what_routines_cause, prepare),
        cmocka_unit_test_setup(an_entry_has_callers_and_callees, prepare),
        cmocka_unit_test(a_graph_has_entries_and_cycles),
        cmocka_unit_test(a_choice_keeps_what_is_reached),
        cmocka_unit_test(names_may_lack_namespaces_and_have_parentheses),
        cmocka_unit_test(long_template_arguments_are_left_out),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
