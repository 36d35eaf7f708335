/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of counts that have changed between two runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/out/difference.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_fact(struct arena *arena, struct run *run, struct fact fact, const struct fact_count *counts,
                     uint32_t n_counts)
{
    fact.counts = arena_copy(arena, counts, n_counts * sizeof *counts);
    fact.n_counts = n_counts;
    for (uint32_t i = 0; i < n_counts; i++)
        fact.sum += counts[i].n;
    run->facts[run->n_facts++] = fact;
}

/* Two ranks that reduce once a step, not built to count. At its start rank 0 sends its input to the other. */
static struct run *stepping(struct arena *arena, uint64_t n_steps, uint64_t input_bytes)
{
    struct run *run = arena_new(arena, struct run);
    *run = (struct run){.path = "run",
                        .program = "program",
                        .command = "./program",
                        .hosts = "here",
                        .n_ranks = 2,
                        .n_hosts = 1,
                        .is_whole = true,
                        .wall_ns = 1e9,
                        .all_ns = 2e9,
                        .compute_ns = 2e9,
                        .places = arena_array(arena, struct run_place, 1),
                        .nodes = arena_array(arena, struct run_node, 1),
                        .facts = arena_array(arena, struct fact, 2)};
    struct fact calls = {.kind = FACT_MPI_CALLS, .file = "solve.c", .routine = "MPI_Allreduce", .line_first = 9},
                sent = {.kind = FACT_SENT, .file = "input.c", .routine = "MPI_Bcast", .line_first = 5, .number = 1};
    const struct fact_count by_step = {0, n_steps, 0}, by_rank[] = {{0, input_bytes, 1}, {1, 0, 0}};
    add_fact(arena, run, calls, &by_step, 1);
    add_fact(arena, run, sent, by_rank, 2);
    return run;
}

typedef void printer(FILE *, const struct comparison *, const struct difference_options *);

static char *printed(struct arena *arena, struct run *before, struct run *after, printer *print,
                     const struct difference_options *options)
{
    struct run *runs[] = {before, after};
    const uint32_t sides[] = {0, 1};
    struct comparison comparison;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    compare_make(&comparison, runs, sides, 2, 2);
    print(out, &comparison, options);
    compare_release(&comparison);
    fclose(out);
    char *kept = arena_strdup(arena, text);
    free(text);
    return kept;
}

static char *difference_of(struct arena *arena, struct run *before, struct run *after)
{
    return printed(arena, before, after, difference_print, &(struct difference_options){.n_top = 5, .width = 110});
}

/* Who never sends there has no count that another one's could be like. */
static void a_rank_is_not_as_others_that_never_came_to_it(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = difference_of(&arena, stepping(&arena, 30, 3670), stepping(&arena, 30, 3668));
    assert_non_null(strstr(text, "bytes sent by MPI_Bcast input.c:5: 3,670 -> 3,668 a call on rank 0\n"));
    arena_release(&arena);
}

/* The size of a message does not decide how often another call is made. */
static void calls_do_not_follow_from_the_size_of_messages(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = difference_of(&arena, stepping(&arena, 30, 3670), stepping(&arena, 40, 3668));
    assert_non_null(strstr(text, "bytes sent by MPI_Bcast input.c:5"));
    assert_non_null(strstr(text, "calls of MPI_Allreduce solve.c:9: 30 -> 40 on every rank\n"));
    arena_release(&arena);
}

/* A loop on some ranks, before and after; then what is said of it. */
static void expect_trips(const uint64_t (*trips)[2], uint32_t n_ranks, const char *expected)
{
    enum { ENTRIES = 10, MOST = 8 };
    struct arena arena = {0};
    struct fact facts[2];
    struct fact_count counts[2][MOST];
    for (uint32_t side = 0; side < 2; side++) {
        facts[side] = (struct fact){.kind = FACT_TRIPS, .file = "a.c", .routine = "f", .line_first = 3, .line_last = 4};
        facts[side].counts = counts[side];
        facts[side].n_counts = n_ranks;
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            counts[side][rank] = (struct fact_count){rank, ENTRIES * trips[rank][side], ENTRIES};
            facts[side].sum += counts[side][rank].n;
        }
    }
    const struct compare_fact fact = {.before = &facts[0], .after = &facts[1], .is_decision = true};
    assert_string_equal(difference_fact(&arena, &fact), expected);
    arena_release(&arena);
}

/* Not only the first rank that changed. */
static void every_change_names_its_ranks(void **state)
{
    (void)state;
    static const uint64_t one[][2] = {{500, 500}, {1500, 500}}, two[][2] = {{500, 1000}, {1500, 1000}, {500, 1000}},
                          many[][2] = {{5, 10}, {6, 10}, {7, 10}, {5, 10}, {8, 10}, {9, 10}, {10, 10}};
    expect_trips(one, 2,
                 "loop a.c:3-4 in f(): 1,500 -> 500 trips each time it is entered on rank 1, now as on the "
                 "others (20,000 -> 10,000 in all)");
    expect_trips(two, 3,
                 "loop a.c:3-4 in f(): 500 -> 1,000 trips each time it is entered on ranks 0,2, 1,500 -> 1,000 "
                 "on rank 1 (25,000 -> 30,000 in all)");
    expect_trips(many, 7,
                 "loop a.c:3-4 in f(): 5 -> 10 trips each time it is entered on ranks 0,3, 6 -> 10 on rank 1, "
                 "other changes on ranks 2,4,5 (500 -> 700 in all)");
}

enum { LOOPS = 12 };

/* Twelve loops that ranks wait for, each by more than the one before. Rank 0 is in each for twice as long as it waits
 * for it, and `all` of that is on the critical path. */
static struct run *looping(struct arena *arena, double ns, double mpi_ns, double machine_ns)
{
    struct run *run = stepping(arena, 30, 3670);
    run->n_facts = 0;
    run->wall_ns = mpi_ns + machine_ns;
    run->places = arena_array(arena, struct run_place, LOOPS + 2);
    run->nodes = arena_array(arena, struct run_node, LOOPS + 2);
    for (uint32_t i = 0; i <= LOOPS; i++) {
        double own_ns = i < LOOPS ? ns * (i + 1) : mpi_ns;
        const char *name = i < LOOPS ? arena_printf(arena, "loop x.c:%u in f()", 10 + i) : "inside MPI_Barrier x.c:99";
        run->places[i] = (struct run_place){.name = name,
                                            .file = "x.c",
                                            .routine = i < LOOPS ? "f" : "MPI_Barrier",
                                            .line_first = 10 + i,
                                            .line_last = 10 + i,
                                            .state = i < LOOPS ? STEP_COMPUTING : STEP_TRANSFER,
                                            .is_loop = i < LOOPS};
        run->nodes[i] = (struct run_node){.parent = TRACE_NONE, .place = i, .cause = i + 1};
        run->nodes[i].kind_ns[i < LOOPS ? KIND_MORE_TIME : KIND_TRANSFER] = own_ns;
        run->nodes[i].time_ns = i < LOOPS ? 3 * own_ns : 0;
        run->nodes[i].longest_ns = run->nodes[i].on_path_ns = i < LOOPS ? 2 * own_ns : mpi_ns;
        run->waiting_ns += own_ns;
        run->wall_ns += i < LOOPS ? 2 * own_ns : 0;
    }
    run->n_places = run->n_nodes = LOOPS + 1;
    run->machine_ns = run->path_off_cpu_ns = machine_ns;
    run->waiting_ns += machine_ns;
    run->all_ns = 2 * run->wall_ns;
    run->compute_ns = run->all_ns - mpi_ns - machine_ns;
    return run;
}

/* "  12.5 ms", "-3.20 s", "+980 us"; in ms. */
static double amount_at(const char **at)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{" ns", 1e-6}, {" us", 1e-3}, {" ms", 1}, {" s", 1000}};
    char *end;
    *at += strcspn(*at, "+-0123456789");
    double value = strtod(*at, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strncmp(end, units[i].unit, strlen(units[i].unit))) {
            *at = end + strlen(units[i].unit);
            return value * units[i].ms;
        }
    fail_msg("no amount: %s", *at);
    return 0;
}

/* Of a table: a group's times before and after, and those of its rows together. */
struct sums_shown {
    double whole[2], rows[2];
    unsigned n_rows;
};

/* The line and how deep it is. The name of a row has no two blanks in it. */
static void add_line(struct sums_shown *sums, const char *line, bool is_markdown)
{
    const char *mark = is_markdown ? "| &nbsp;&nbsp;" : "  ";
    bool is_row = !strncmp(line, mark, strlen(mark));
    const char *at = strstr(line + (is_row ? strlen(mark) : 2), is_markdown ? " | " : "  ");
    assert_non_null(at);
    for (int side = 0; side < 2; side++)
        (is_row ? sums->rows : sums->whole)[side] += amount_at(&at);
    sums->n_rows += is_row;
}

/* Three digits of each amount are shown. */
static void check_sums(const char *text, const char *group, bool is_markdown, unsigned n_rows)
{
    struct sums_shown sums = {0};
    const char *line = strstr(text, group);
    assert_non_null(line);
    add_line(&sums, line, is_markdown);
    while (sums.n_rows < n_rows)
        add_line(&sums, line = strchr(line, '\n') + 1, is_markdown);
    for (int side = 0; side < 2; side++)
        if (fabs(sums.rows[side] - sums.whole[side]) > 0.01 * sums.whole[side])
            fail_msg("%u rows of \"%s\" have %g of %g ms in\n%s", n_rows, group, sums.rows[side], sums.whole[side],
                     text);
}

/* "of the run time's -951 ms", then lines of parts up to a blank one. */
static void check_shares(const char *text, unsigned n_rows)
{
    static const char heading[] = "of the run time's ";
    const char *line = strstr(text, heading), *at = line;
    double parts = 0;
    unsigned n = 0;
    assert_non_null(line);
    double whole = amount_at(&at);
    for (line = strchr(line, '\n') + 1; *line != '\n'; line = strchr(line, '\n') + 1) {
        at = line;
        bool is_part = strspn(line, " ") < 11; /* not the rest of a long one */
        parts += is_part ? amount_at(&at) : 0;
        n += is_part;
    }
    assert_true(n >= n_rows);
    if (fabs(parts - whole) > 0.01 * fabs(whole))
        fail_msg("parts have %g of %g ms in\n%s", parts, whole, text);
}

/* Rows, and the one that stands for those that have none, add up to the whole, however many are shown. */
static void what_has_no_row_is_told_in_one(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const unsigned tops[] = {1, 3, 5, 11, 12, 40, 0};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        for (int with_parts = 0; with_parts < 2; with_parts++) {
            struct run *before = looping(&arena, 10e6, 30e6, 50e6), *after = looping(&arena, 4e6, 45e6, 20e6);
            const struct difference_options options = {.n_top = tops[i], .width = 110, .parts = with_parts};
            unsigned n_rows = tops[i] && tops[i] < LOOPS ? tops[i] + 1 : LOOPS;
            const char *text = printed(&arena, before, after, difference_print, &options);
            check_sums(text, "waiting for the program's code", false, n_rows);
            check_sums(text, "waiting for what passes inside MPI", false, 1);
            check_shares(text, n_rows);
            text = printed(&arena, before, after, difference_print_markdown, &options);
            check_sums(text, "| waiting for the program's code", true, n_rows);
            check_sums(text, "| waiting for what passes inside MPI", true, 1);
        }
    arena_release(&arena);
}

/* Of three runs a side, the first line. */
static const char *first_line(struct arena *arena, struct run *const before[3], struct run *const after[3])
{
    struct run *runs[] = {before[0], before[1], before[2], after[0], after[1], after[2]};
    struct comparison comparison;
    compare_make(&comparison, runs, (const uint32_t[]){0, 0, 0, 1, 1, 1}, 6, 2);
    const char *text = difference_news(arena, &comparison);
    char *kept = text ? arena_strdup(arena, text) : NULL;
    compare_release(&comparison);
    return kept;
}

/* Counts may have changed in a loop that takes no time: what time has changed stands before them. */
static void the_largest_change_of_time_is_said_first(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct run *before[3], *after[3], *as_long[3];
    for (int i = 0; i < 3; i++) {
        double scatter = 1 + i * 1e-4;
        before[i] = looping(&arena, 10e6 * scatter, 30e6, 50e6);
        after[i] = looping(&arena, 4e6 * scatter, 30e6, 50e6);
        as_long[i] = looping(&arena, 4e6 * scatter, 30e6, 50e6);
        as_long[i]->wall_ns = before[i]->wall_ns;
    }
    assert_string_equal(first_line(&arena, before, after),
                        "The run takes 936 ms less (1.64 s -> 704 ms): -144 ms by loop x.c:21 in f().");
    assert_string_equal(first_line(&arena, before, before), "No time has changed by more than these runs scatter.");
    assert_string_equal(first_line(&arena, before, as_long),
                        "Changed most: computing time of the slowest rank, loop x.c:21 in f(): 144 ms less (240 ms -> "
                        "96.0 ms). The run time is within noise.");
    const char *text = difference_of(&arena, before[0], after[0]);
    assert_int_equal(strncmp(text, "The run takes 936 ms less (", 27), 0);
    assert_non_null(strstr(text, "So few runs do not"));
    assert_true(strstr(text, "So few runs do not") < strstr(text, "\n1 run before, 1 after: means per run\n"));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_not_as_others_that_never_came_to_it),
        cmocka_unit_test(calls_do_not_follow_from_the_size_of_messages),
        cmocka_unit_test(every_change_names_its_ranks),
        cmocka_unit_test(the_largest_change_of_time_is_said_first),
        cmocka_unit_test(what_has_no_row_is_told_in_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
