/* SPDX-License-Identifier: BSD-3-Clause */
/* The printers on an analysis built here: two ranks, one cause with two kinds, one site with two classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/words/ending.h"
#include "analyze/out/json_report.h"
#include "analyze/out/report.h"
#include "analyze/verdict/verdict.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct class_source {
    struct class_step steps[2];
    uint32_t n;
};

struct fixture {
    struct trace trace;
    struct trace_location locations[2];
    struct analysis analysis;
    struct step steps[2];
    struct class_source sources[2];
    struct wait_class classes[2];
    struct wait_site site;
    struct cause causes[2];
    struct cause_rank late, other, transfer;
    struct cause_site felt[2];
    uint32_t second_class, both_classes[2];
    double rank_waiting[2];
    struct open_wait open_waits[2];
};

static void fixture_steps(struct fixture *f)
{
    f->steps[0] = (struct step){.state = STEP_COMPUTING,
                                .file = "/home/u/app/jacobi.c",
                                .routine = "relax",
                                .line_first = 58,
                                .line_last = 63,
                                .is_loop = true,
                                .place = CODE_NONE,
                                .caller = TRACE_NONE};
    f->steps[1] =
        (struct step){.state = STEP_TRANSFER, .label = "MPI_Barrier", .place = CODE_NONE, .caller = TRACE_NONE};
    const struct class_step late = {.step = 0, .rank = 1, .dur_ns = 6e9 + 0.7, .blame_ns = 6e9 + 0.7};
    const struct class_step other = {.step = 0, .rank = 0, .dur_ns = -1e6, .is_redundant = true};
    f->sources[0] = (struct class_source){{other}, 1};
    f->sources[1] = (struct class_source){{late, other}, 2};
}

static struct class_steps fixture_class_steps(const struct analysis *analysis, const struct wait_class *class,
                                              struct arena *arena)
{
    (void)analysis;
    return (struct class_steps){arena_copy(arena, class->source->steps, sizeof class->source->steps), class->source->n};
}

static void fixture_site(struct fixture *f)
{
    f->classes[0] = (struct wait_class){
        .number = 1, .n_instances = 1, .waiting_ns = 1e6 + 0.4, .source = &f->sources[0], .when = {.first_ns = 100}};
    f->classes[1] = (struct wait_class){.number = 2,
                                        .n_instances = 99,
                                        .waiting_ns = 6e9 + 0.7,
                                        .source = &f->sources[1],
                                        .when = {.first_ns = 1000100}};
    f->site = (struct wait_site){.call = "MPI_Barrier",
                                 .kind = WAIT_BARRIER,
                                 .file = "/home/u/app/jacobi.c",
                                 .routine = "solve",
                                 .line = 71,
                                 .path = "solve() <- main()",
                                 .waiting_ns = 6.001e9 + 1.1,
                                 .n_instances = 100,
                                 .n_calls = 100,
                                 .rank_waiting_ns = f->rank_waiting,
                                 .classes = f->classes,
                                 .n_classes = 2};
}

static void fixture_causes(struct fixture *f)
{
    f->second_class = 2;
    f->both_classes[0] = 1;
    f->both_classes[1] = 2;
    f->felt[0] = (struct cause_site){.waiting_ns = 6e9 + 0.7,
                                     .n_calls = 99,
                                     .classes = &f->second_class,
                                     .n_classes = 1,
                                     .waiting = &f->other.rank,
                                     .n_waiting = 1};
    f->felt[1] =
        (struct cause_site){.waiting_ns = 1e6 + 0.4, .n_calls = 100, .classes = f->both_classes, .n_classes = 2};
    f->late = (struct cause_rank){.rank = 1, .blame_ns = 6e9 + 0.7, .time_ns = 8e9};
    f->other = (struct cause_rank){.rank = 0, .time_ns = 2e9};
    f->transfer = (struct cause_rank){.rank = 0, .blame_ns = 1e6};
    f->causes[0] = (struct cause){.step = 0,
                                  .kind = KIND_MORE_TIME,
                                  .kind_ns = {[KIND_MORE_TIME] = 4.8e9, [KIND_DESCHEDULED] = 1.2e9},
                                  .waiting_ns = 6e9 + 0.7,
                                  .direct_ns = 6e9 + 0.7,
                                  .share = 6e9 / 6.001e9,
                                  .if_balanced_ns = 2.9e9,
                                  .gain_ns = 2.9e9,
                                  .if_balanced_least_ns = INFINITY,
                                  .if_gone_ns = 3.4e9,
                                  .last_rank = TRACE_NONE,
                                  .ranks = &f->late,
                                  .n_ranks = 1,
                                  .n_late = 1,
                                  .others = &f->other,
                                  .n_others = 1,
                                  .sites = &f->felt[0],
                                  .n_sites = 1};
    f->causes[1] = (struct cause){.step = 1,
                                  .kind = KIND_TRANSFER,
                                  .kind_ns = {[KIND_TRANSFER] = 1e6},
                                  .waiting_ns = 1e6 + 0.4,
                                  .last_rank = 1,
                                  .direct_ns = 1e6,
                                  .share = 1e6 / 6.001e9,
                                  .ranks = &f->transfer,
                                  .n_ranks = 1,
                                  .n_late = 1,
                                  .sites = &f->felt[1],
                                  .n_sites = 1};
}

static int fixture_make(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->rank_waiting[0] = 6.001e9 + 1.1;
    for (uint32_t rank = 0; rank < 2; rank++)
        f->locations[rank] =
            (struct trace_location){.rank = rank, .host = "n1", .end_ns = 9000000100, .end_how = WW_END_FINALIZE};
    f->trace = (struct trace){.program = "jacobi",
                              .command = "./jacobi -n 4",
                              .path = "/a/jacobi-2.whywait/traces.otf2",
                              .run_dir = "/a/jacobi-2.whywait",
                              .recorder = "whywait",
                              .is_ours = true,
                              .n_ranks = 2,
                              .start_ns = 100,
                              .end_ns = 9000000100,
                              .locations = f->locations,
                              .n_locations = 2};
    fixture_steps(f);
    fixture_site(f);
    fixture_causes(f);
    f->analysis = (struct analysis){.trace = &f->trace,
                                    .steps = f->steps,
                                    .sites = &f->site,
                                    .class_steps = fixture_class_steps,
                                    .causes = f->causes,
                                    .n_steps = 2,
                                    .n_sites = 1,
                                    .n_causes = 2,
                                    .waiting_ns = 6.001e9 + 1.1,
                                    .rank_waiting_ns = f->rank_waiting,
                                    .n_mpi_calls = 204,
                                    .answer = {.kind = ANSWER_CAUSE,
                                               .has_causes = true,
                                               .waiting_ns = 6e9 + 0.7,
                                               .share = 6e9 / 6.001e9,
                                               .negligible_ns = 1e8},
                                    .efficiency = {.wall_ns = 9e9,
                                                   .all_ns = 18e9,
                                                   .compute_ns = 11.9e9,
                                                   .waiting_ns = 6.001e9,
                                                   .ended_ns = 0.09e9,
                                                   .parallel = 0.66,
                                                   .load_balance = 0.67,
                                                   .serialisation = 0.99,
                                                   .transfer = 0.998,
                                                   .processor = 0.98}};
    *state = f;
    return 0;
}

static int fixture_free(void **state)
{
    free(*state);
    return 0;
}

static const struct report_options usual = {.width = 100, .n_top = 5, .hide_small = true};

/* As after the analysis: output only prints what is decided. */
static void settle(struct fixture *f)
{
    for (uint32_t i = 0; i < f->analysis.n_causes; i++)
        verdict_settle(&f->analysis, &f->analysis.causes[i]);
    verdict_settle_like(&f->analysis);
    verdict_settle_machine(&f->analysis);
    verdict_settle_efficiency(&f->analysis);
}

/* The text that a printer makes; to be freed. Inlined, GCC takes what is found in it for a pointer to the variable. */
static __attribute__((noinline)) char *printed(struct fixture *f, const struct report_options *options)
{
    char *text = NULL;
    size_t size = 0;
    settle(f);
    FILE *out = open_memstream(&text, &size);
    report_overview(out, &f->analysis, options);
    fclose(out);
    return text;
}

static void expect_in(char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void the_overview_names_cause_first_and_call_second(void **state)
{
    char *text = printed(*state, &usual);
    assert_string_equal(
        text, "Rank 1 makes others wait, most in loop jacobi.c:58-63 in relax(): 6.00 s, 100 % of all waiting.\n"
              "jacobi   2 ranks   9.00 s       compute 66.1 %   waiting 33.3 %   already ended 0.5 %\n"
              "jacobi-2.whywait   ./jacobi -n 4\n"
              "parallel efficiency 0.66 = load balance 0.67 x serialisation 0.99 x transfer 1.00 x CPU in MPI 0.98\n"
              "\n"
              "  why ranks wait                    waiting  of waiting  if fixed  of run\n"
              "1 loop jacobi.c:58-63 in relax()     6.00 s       100 %    -2.9 s    32 %\n"
              "    rank 1 spends 4.0 x as long in it as rank 0   (more time 80 %, no CPU 20 %)\n"
              "    waiting at  MPI_Barrier jacobi.c:71 in solve() <- main()\n"
              "                rank 0 waits for it in 99 of 100 calls with waits\n"
              "    next: `whywait report --cause 1` shows its ranks, the calls where others wait, and its steps\n"
              "  and 1 more cause: 1.00 ms, <0.1 % of all waiting (--all)\n"
              "  if fixed: the run ends so much earlier with the work divided best\n");
    free(text);
}

/* Two rows, each felt at one of two calls that only a caller amid the path tells apart. */
static void a_call_reads_alike_in_no_two_rows(void **state)
{
    struct fixture *f = *state;
    static const char path[][96] = {"exchange() <- advance_the_interior():27 <- take_a_time_step():22 <- main()",
                                    "exchange() <- advance_the_boundary():29 <- take_a_time_step():22 <- main()"};
    struct wait_site sites[2] = {f->site, f->site};
    for (int i = 0; i < 2; i++) {
        sites[i].routine = "exchange";
        sites[i].path = path[i];
        f->felt[i].site = (uint32_t)i;
    }
    f->analysis.sites = sites;
    f->analysis.n_sites = 2;
    char *text = printed(f, &(struct report_options){.width = 80, .all = true});
    expect_in(text, "advance_the_interior():27 <- ...");
    expect_in(text, "advance_the_boundary():29 <- ...");
    free(text);
}

static void lines_keep_to_the_width(void **state)
{
    for (unsigned width = 70; width < 140; width += 7) {
        struct report_options options = usual;
        options.width = width;
        char *text = printed(*state, &options), *rest = text, *line;
        while ((line = strsep(&rest, "\n")))
            assert_true(strlen(line) <= width);
        free(text);
    }
}

static void hostile_names_reach_no_terminal(void **state)
{
    struct fixture *f = *state;
    f->trace.program = "\033]0;owned\a";
    f->steps[0].routine = "x\033[2J";
    f->steps[0].file = "a\nb.c";
    f->site.path = "\b\b";
    f->causes[0].library = "\r";
    char *text = printed(f, &usual);
    for (const char *at = text; *at; at++)
        assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
    expect_in(text, "\\x1b]0;owned\\x07");
    free(text);
}

static void files_of_one_name_are_told_apart(void **state)
{
    struct fixture *f = *state;
    const char *files[] = {f->steps[0].file, f->site.file = "/home/u/lib/jacobi.c"};
    f->analysis.files = files;
    f->analysis.n_files = 2;
    char *text = printed(f, &usual);
    expect_in(text, "loop app/jacobi.c:58-63");
    expect_in(text, "MPI_Barrier lib/jacobi.c:71");
    free(text);
}

static void long_template_arguments_are_left_out(void **state)
{
    struct fixture *f = *state;
    f->steps[0].routine = "grid::sweep<std::vector<double, std::allocator<double> >, 3>::relax<float>";
    f->site.path = "ns::operator<() <- a<b->c, std::map<int, std::less<int> > >() <- x<y";
    struct report_options wide = usual, whole = usual;
    wide.width = whole.width = 200;
    whole.full_paths = true;
    struct code_node nodes[] = {{.parent = TRACE_NONE, .step = 0}, {.parent = 0, .step = 0, .call_line = 77}};
    f->analysis.nodes = nodes;
    f->analysis.n_nodes = 2;
    f->causes[0].is_elsewhere = true;
    f->causes[0].node = 1;
    char *text = printed(f, &wide);
    expect_in(text, "in grid::sweep<...>::relax<float>()");
    expect_in(text, "called at jacobi.c:77 in grid::sweep<...>::relax<float>()");
    expect_in(text, "in ns::operator<() <- a<...>() <- x<y");
    free(text);
    text = printed(f, &whole);
    expect_in(text, "in grid::sweep<std::vector<double, std::allocator<double> >, 3>::relax<float>()");
    free(text);
}

/* Threads enter a part of the routine by a call within it, which tells nothing; and where code was entered by several
 * calls, one of them is not all. */
static void the_call_outside_a_routine_is_named(void **state)
{
    struct fixture *f = *state;
    struct report_options wide = usual;
    wide.width = 200;
    f->steps[1] = (struct step){.routine = "main", .file = "/src/main.c", .line_first = 5, .line_last = 20};
    struct code_node nodes[] = {{.parent = TRACE_NONE, .step = 1},
                                {.parent = 0, .step = 0, .call_line = 9},
                                {.parent = 1, .step = 0, .call_line = 60}};
    f->analysis.nodes = nodes;
    f->analysis.n_nodes = 3;
    f->causes[0].is_elsewhere = true;
    f->causes[0].node = 2;
    char *text = printed(f, &wide);
    expect_in(text, "loop jacobi.c:58-63 in relax(), called at main.c:9 in main() ");
    assert_null(strstr(text, "and elsewhere"));
    free(text);
    f->causes[0].has_other_ways = true;
    text = printed(f, &wide);
    expect_in(text, "loop jacobi.c:58-63 in relax(), called at main.c:9 in main() and elsewhere");
    free(text);
}

/* Without lines, what differs in the arguments of two routines is all that tells them apart. */
static void arguments_that_tell_routines_apart_are_kept(void **state)
{
    struct fixture *f = *state;
    struct report_options wide = usual, whole = usual;
    wide.width = whole.width = 200;
    wide.all = true;
    whole.full_paths = true;
    f->steps[0].file = NULL;
    f->steps[0].routine = "std::_Function_handler<void (Block&), main::{lambda(Block&)#1}>::_M_invoke";
    f->steps[1] = f->steps[0];
    f->steps[1].routine = "std::_Function_handler<void (Block&), main::{lambda(Block&)#2}>::_M_invoke";
    char *text = printed(f, &wide);
    expect_in(text, "loop at std::_Function_handler<..., main::{lambda(Block&)#1}>::_M_invoke()");
    expect_in(text, "loop at std::_Function_handler<..., main::{lambda(Block&)#2}>::_M_invoke()");
    free(text);
    f->steps[1].routine = "std::_Function_handler<void (Block&), main::{lambda(Block&)#1}>::_M_manager";
    text = printed(f, &wide);
    expect_in(text, "loop at std::_Function_handler<...>::_M_invoke()");
    expect_in(text, "loop at std::_Function_handler<...>::_M_manager()");
    free(text);
    f->steps[0].routine = "pairs<std::vector<double, std::allocator<double> >, 4, (Rule)1, true>";
    f->steps[1].routine = "pairs<std::vector<float, std::allocator<float> >, 4, (Rule)2, true>";
    text = printed(f, &wide);
    expect_in(text, "loop at pairs<std::vector<double, ...>, ...>()");
    free(text);
    f->steps[1].routine = "pairs<std::list<double, std::allocator<double> >, 4, (Rule)1, true>";
    text = printed(f, &wide);
    expect_in(text, "loop at pairs<std::vector<...>, ...>()");
    expect_in(text, "loop at pairs<std::list<...>, ...>()");
    free(text);
    text = printed(f, &whole);
    expect_in(text, "loop at pairs<std::vector<double, std::allocator<double> >, 4, (Rule)1, true>()");
    free(text);
}

/* Names in UTF-8, call operators and names that no demangler reads, with lines as well as without. */
static void names_of_any_length_are_short(void **state)
{
    struct fixture *f = *state;
    struct report_options wide = usual;
    char mangled[3000] = "_Z", *end = mangled + 2;
    while (end < mangled + sizeof mangled - 8)
        end = stpcpy(end, "\303\274Li7E");
    const struct {
        const char *name, *brief;
    } cases[] = {
        {"Gr\303\266\303\237\303\251<std::vector<double, std::allocator<double> > >",
         "in Gr\303\266\303\237\303\251<...>()"},
        {"Body::operator()<std::vector<double, std::allocator<double> > >", "in Body::operator()<...>"},
        {"a::operator<<std::vector<double, std::allocator<double> > >", "in a::operator<"},
        {mangled, "in _Z\303\274Li7E\303\274Li7E\303\274Li7E\303\274Li7E\303\274Li7E\303\274Li7E\303\274...7E"},
    };
    wide.width = 200;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->steps[0].routine = cases[i].name;
        char *text = printed(f, &wide);
        expect_in(text, cases[i].brief);
        assert_null(strstr(text, mangled));
        free(text);
    }
    f->steps[0].routine = "each<flux(std::vector<double> &, long)::{lambda(long)#1}>";
    f->steps[1] = f->steps[0];
    f->steps[1].routine = "each<flux(std::vector<double> &, long)::{lambda(long)#2}>";
    char *text = printed(f, &wide);
    expect_in(text, "in each<flux(std::vector<double> &, long)::{lambda(long)#1}>()");
    free(text);
}

static void expect_first(struct fixture *f, const char *line)
{
    struct report_options wide = usual;
    wide.width = 300;
    char *text = printed(f, &wide);
    if (strncmp(text, line, strlen(line)) != 0)
        fail_msg("\"%s\" is not the first line of:\n%s", line, text);
    free(text);
}

/* The answer is the first line, and where there is nothing to mend no row follows. */
static void the_first_line_is_the_answer(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->analysis.answer;
    expect_first(f,
                 "Rank 1 makes others wait, most in loop jacobi.c:58-63 in relax(): 6.00 s, 100 % of all waiting.\n");
    answer->gains_more = 2;
    expect_first(f, "Rank 1 makes others wait, most in loop jacobi.c:58-63 in relax(): 6.00 s, 100 % of all waiting. "
                    "More is gained by row 2, transfer in MPI_Barrier.\n");
    answer->gains_more = 0;
    answer->n_like = 1;
    expect_first(f, "Rank 1 makes others wait, most in loop jacobi.c:58-63 in relax() and 1 more place: 6.00 s, 100 % "
                    "of all waiting.\n");
    answer->n_like = 0;
    answer->is_lacking = true;
    answer->waiting_ns = 10e9;
    answer->lacking_share = 0.4;
    answer->share = 0.5;
    answer->elsewhere_share = 0.6;
    expect_first(f, "Rank 1 makes others wait, most in loop jacobi.c:58-63 in relax(): 6.00 s, 30 % of all waiting, "
                    "for its code, and 4.00 s, 20 %, since it had no CPU there. Another 60 % is for ranks that had no "
                    "CPU.\n");
    answer->is_lacking = false;
    answer->waiting_ns = 6e9;
    answer->is_minor = true;
    answer->share = 0.02;
    answer->elsewhere_share = 0.97;
    expect_first(f, "97 % of the waiting is for ranks that had no CPU. Rank 1 makes others wait, most in loop "
                    "jacobi.c:58-63 in relax(): 6.00 s, 2.0 % of all waiting.\n");
    answer->elsewhere_share = 0;
    answer->is_minor = false;
    f->causes[0].is_spinning = true; /* it waits itself */
    expect_first(f, "Rank 1 waits for shared memory to change in loop jacobi.c:58-63 in relax(), and makes others "
                    "wait: 6.00 s, 2.0 % of all waiting.\n");
}

/* Where no row follows: little at random, much of it, and CPUs that are short. */
static void the_first_line_tells_when_no_rank_is_late(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->analysis.answer;
    *answer = (struct answer){.kind = ANSWER_FINE, .program_share = 0.02};
    expect_first(f, "Nothing to improve in the program: it makes ranks wait for 2.0 % of the time, at random.\n");
    answer->lacks_cpus = true;
    answer->lacking_cpus_share = 0.7;
    expect_first(f,
                 "Ranks had no CPU, or waited for others that had none, for 70 % of the time, so this run tells little "
                 "about the program. No rank is seen to be late: ranks wait for the program for 2.0 % of the time, at "
                 "random.\n");
    answer->busiest = 2;
    answer->busiest_ratio = 2.7;
    answer->busiest_step = f->causes[0].step;
    expect_first(f,
                 "Ranks had no CPU, or waited for others that had none, for 70 % of the time, so this run tells little "
                 "about the program. Rank 1 computes 2.7 x as long as the others on average, most in loop "
                 "jacobi.c:58-63 in relax().\n");
    *answer = (struct answer){.kind = ANSWER_FINE, .program_share = 0.02, .off_share = 0.36};
    expect_first(
        f, "Nothing to improve in the program: it makes ranks wait for 2.0 % of the time, at random. Ranks had no "
           "CPU for 36 % of the time, all alike.\n");
    *answer = (struct answer){.kind = ANSWER_VARYING, .program_share = 0.16};
    expect_first(
        f, "No rank is late over the run, but single steps vary: ranks wait for 16 % of the time, most at "
           "MPI_Barrier jacobi.c:71 in solve() <- main(). Let them wait for each other less often, so that steps even "
           "out.\n");
    *answer = (struct answer){.kind = ANSWER_ELSEWHERE, .program_share = 0.009, .blocked_share = 0.62};
    f->analysis.most_blocked = f->causes[0].step;
    f->steps[0].state = STEP_BLOCKED;
    expect_first(f, "Ranks wait inside MPI for 0.9 % of the time only, but they are asleep or in the kernel for 62 %, "
                    "most blocked in loop jacobi.c:58-63 in relax().\n");
    f->steps[0].state = STEP_COMPUTING;
    *answer = (struct answer){.kind = ANSWER_FINE, .program_share = 0.02};
    char *text = printed(f, &usual);
    assert_null(strstr(text, "why ranks wait"));
    assert_null(strstr(text, "next:"));
    free(text);
    answer->is_machine = true;
    answer->machine_share = 0.3;
    expect_first(f,
                 "Nothing to improve in the program: it makes ranks wait for 2.0 % of the time, at random. For another "
                 "30 % of the time ranks waited for others that had no CPU.\n");
}

/* Of other kinds than causes. */
static void the_first_line_tells_what_else_there_is(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->analysis.answer;
    *answer = (struct answer){.kind = ANSWER_ELSEWHERE, .program_share = 0.02};
    struct repeated_fetch fetch = {.call = "MPI_Get a.c:7", .rank = 1, .dur_ns = 3e9};
    f->analysis.fetches = &fetch;
    f->analysis.n_fetches = 1;
    expect_first(f,
                 "Ranks wait inside MPI for 2.0 % of the time only, but MPI_Get a.c:7 may wait as well: it fetches the "
                 "same again and again, for 3.00 s on rank 1.\n");
    struct spinning_loop spinning = {.step = f->causes[0].step, .dur_ns = 4e9};
    f->analysis.spinning = &spinning;
    f->analysis.n_spinning = 1;
    expect_first(f, "Ranks wait inside MPI for 2.0 % of the time only, but loop jacobi.c:58-63 in relax() waits for "
                    "memory to change, for 4.00 s on rank 0.\n");
    f->analysis.n_fetches = f->analysis.n_spinning = 0;
    f->open_waits[0] = (struct open_wait){
        .rank = 0, .for_rank = 1, .unlike_rank = TRACE_NONE, .call = "MPI_Recv", .since_ns = 100, .longest_ns = 1};
    f->open_waits[1] = (struct open_wait){.rank = 1,
                                          .for_rank = 0,
                                          .unlike_rank = TRACE_NONE,
                                          .call = "MPI_Recv",
                                          .since_ns = 1000000100,
                                          .dur_ns = 8000000000};
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 2;
    answer->kind = ANSWER_HANG; /* who waits no longer than usual stands below */
    expect_first(f, "Rank 1 never came back from MPI_Recv: it waited for rank 0 from 1.00 s after the start.\n");
    f->analysis.n_open_waits = 0;
    answer->kind = ANSWER_NO_WAIT;
    expect_first(f, "No rank waits for another.\n");
    answer->kind = ANSWER_ALONE;
    expect_first(f, "One rank only was recorded: nobody to wait for.\n");
    answer->kind = ANSWER_ELSEWHERE;
    f->analysis.outside = (struct outside){.places = &(struct outside_place){.step = 1, .ns = 3e9},
                                           .n_places = 1,
                                           .ns = 4e9,
                                           .longest_ns = 4e9,
                                           .is_notable = true,
                                           .advice = ADVICE_RECORD_THEM};
    expect_first(f, "Rank 0 waits for spawned processes: 4.00 s, 44 % of its time, most transfer in MPI_Barrier.\n");
    char *text = printed(f, &usual);
    assert_non_null(strstr(text, "processes outside this run: ranks waited for them for 4.00 s"));
    assert_non_null(strstr(text, "which makes a run of its own"));
    free(text);
}

/* They stand first where they are more than the waiting, and the program's waiting apart from the machine's. */
static void transfers_are_the_first_line(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->analysis.answer;
    *answer = (struct answer){.kind = ANSWER_TRANSFERS, .transfer_share = 0.4};
    f->analysis.transfers.n_places = 1;
    f->analysis.transfers.places = &(struct transfer_place){.step = 1, .ns = 1e9};
    expect_first(f, "No rank is late: moving data takes 40 % of the time, most transfer in MPI_Barrier.\n");
    answer->has_causes = true;
    f->analysis.transfers.have_most = true;
    f->analysis.efficiency.transfer_ns = 7.2e9;
    expect_first(f, "Moving data takes 40 % of the time, most transfer in MPI_Barrier. Ranks wait for 33 %.\n");
    char *text = printed(f, &usual);
    assert_true(strstr(text, "why ranks wait") > strstr(text, "transfers: "));
    free(text);
    answer->is_machine = true;
    answer->machine_share = 0.3;
    f->analysis.machine.waiting_ns = 0.3 * f->analysis.efficiency.all_ns;
    expect_first(f,
                 "Moving data takes 40 % of the time, most transfer in MPI_Barrier. Ranks wait for 3.3 %. For another "
                 "30 % of the time ranks waited for others that had no CPU.\n");
}

static void a_message_that_nobody_sent_is_told(void **state)
{
    struct fixture *f = *state;
    f->open_waits[0] = (struct open_wait){.rank = 0,
                                          .for_rank = TRACE_NONE,
                                          .unlike_rank = TRACE_NONE,
                                          .call = "MPI_Improbe",
                                          .file = "/a/b.c",
                                          .line = 9,
                                          .polls = true,
                                          .probes = true,
                                          .dur_ns = 8000000000};
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 1;
    f->analysis.answer = (struct answer){.kind = ANSWER_HANG};
    expect_first(f, "Rank 0 polled with MPI_Improbe at b.c:9 for 8.00 s, to the end: no rank sent a message that it "
                    "would find.\n");
}

/* Who was where when the run broke off, in groups; what hung no longer than usual is part of that. */
static void the_end_of_a_run_is_said_first(void **state)
{
    struct fixture *f = *state;
    struct last_place places[2] = {{.rank = 0, .call = "MPI_Win_lock", .file = "/a/b.c", .line = 20},
                                   {.rank = 1, .call = "MPI_Win_lock", .file = "/a/b.c", .line = 20}};
    f->analysis.answer = (struct answer){.kind = ANSWER_BROKE_OFF};
    f->analysis.last_places = places;
    f->analysis.n_last_places = 2;
    f->locations[0].end_how = f->locations[1].end_how = WW_END_NONE;
    f->open_waits[0] = (struct open_wait){
        .rank = 0, .for_rank = TRACE_NONE, .unlike_rank = TRACE_NONE, .call = "MPI_Win_lock", .file = "/a/b.c"};
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 1;
    expect_first(f, "The run ended abruptly after 9.00 s: ranks 0,1 were in MPI_Win_lock at b.c:20.\n");
    char *text = printed(f, &usual);
    assert_null(strstr(text, "why ranks wait"));
    assert_null(strstr(text, "no longer than in other waits"));
    expect_in(text, "note: ranks 0,1 ended abruptly (killed, crashed, _exit or fatal MPI error)");
    free(text);
    places[1] = (struct last_place){.rank = 1, .step = TRACE_NONE};
    expect_first(f, "The run ended abruptly after 9.00 s: rank 0 was in MPI_Win_lock at b.c:20; rank 1 was outside "
                    "MPI.\n");
    f->locations[0].end_how = WW_END_SIGNAL;
    f->locations[0].end_detail = 15;
    places[1].step = 0;
    expect_first(f, "The run ended abruptly after 9.00 s: rank 0 ended by signal 15 (Terminated), in MPI_Win_lock at "
                    "b.c:20; rank 1 was outside MPI, in loop jacobi.c:58-63 in relax().\n");
    f->locations[0].end_how = f->locations[1].end_how = WW_END_EXIT;
    f->locations[0].end_detail = f->locations[1].end_detail = 3;
    expect_first(f, "The run ended after 9.00 s: ranks 0,1 ended with status 3 without calling MPI_Finalize.\n");
}

/* Those that waited for it are its victims. Of a run that lost time before, the end is said first as well. */
static void who_ended_first_comes_before_its_victims(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->analysis.answer;
    const struct answer usual_answer = *answer;
    struct last_place before = {.call = "MPI_Init", .file = "/a/b.c", .line = 3, .path = "main()"};
    struct last_place places[2] = {
        {.rank = 0, .call = "MPI_Barrier", .file = "/a/b.c", .line = 7, .path = "main()"},
        {.rank = 1, .step = TRACE_NONE, .after = &before},
    };
    f->analysis.last_places = places;
    f->analysis.n_last_places = 2;
    f->locations[0].end_how = f->locations[1].end_how = WW_END_NONE;
    f->locations[1].end_ns = 2000100;
    f->open_waits[0] = (struct open_wait){.rank = 0,
                                          .for_rank = 1,
                                          .unlike_rank = TRACE_NONE,
                                          .call = "MPI_Barrier",
                                          .file = "/a/b.c",
                                          .line = 7,
                                          .path = "main()",
                                          .dur_ns = 8000000000};
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 1;
    *answer = (struct answer){.kind = ANSWER_HANG, .first_end = 2};
    expect_first(
        f,
        "The run ended abruptly after 9.00 s: rank 1 has no record after 2.00 ms: it was outside MPI, after MPI_Init "
        "at b.c:3 in main(); rank 0 was in MPI_Barrier at b.c:7 in main().\n");
    char *text = printed(f, &usual);
    expect_in(text, "\nrank 0 never came back from MPI_Barrier at b.c:7 in main(): it waited for rank 1");
    free(text);
    f->analysis.n_open_waits = 0;
    answer->kind = ANSWER_BROKE_OFF;
    f->locations[1].end_how = WW_END_ABORT;
    f->locations[1].end_detail = 7;
    places[1] = (struct last_place){.rank = 1, .call = "MPI_Abort", .file = "/a/b.c", .line = 9, .path = "check()"};
    expect_first(f,
                 "The run ended abruptly after 9.00 s: rank 1 called MPI_Abort(7) at b.c:9 in check(); rank 0 was in "
                 "MPI_Barrier at b.c:7 in main().\n");
    *answer = usual_answer;
    answer->first_end = 2;
    expect_first(f, "Rank 1 called MPI_Abort(7) at b.c:9 in check(). Rank 1 makes others wait, most in loop ");
}

/* Most of the time is then that of the hang, or of nobody knows what. */
static void a_run_that_hangs_or_is_not_recorded_has_no_efficiency(void **state)
{
    struct fixture *f = *state;
    const struct efficiency efficiency = f->analysis.efficiency;
    struct open_wait *hang = &f->open_waits[0];
    *hang = (struct open_wait){.rank = 1, .unlike_rank = TRACE_NONE, .call = "MPI_Recv", .dur_ns = 8000000000};
    char *text = printed(f, &usual);
    expect_in(text, "\nparallel efficiency 0.66 = ");
    free(text);
    f->analysis.efficiency.unrecorded_ns = efficiency.all_ns / 10;
    text = printed(f, &usual);
    assert_null(strstr(text, "parallel efficiency"));
    free(text);
    f->analysis.efficiency = efficiency;
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 1;
    f->analysis.answer.kind = ANSWER_HANG;
    text = printed(f, &usual);
    assert_null(strstr(text, "parallel efficiency"));
    free(text);
}

/* Its causes stand below it, without what it says of them already. */
/* Rank 1 takes twice as long in both causes; what it points to must live as long. */
struct divided {
    uint32_t both[2];
    struct cause_rank all[2];
    struct partition partition;
};

static void divide(struct fixture *f, struct divided *divided)
{
    *divided = (struct divided){.both = {0, 1}, .all = {{.rank = 1, .time_ns = 8e9}, {.rank = 0, .time_ns = 4e9}}};
    divided->partition = (struct partition){.whole = {.waiting_ns = 6.001e9,
                                                      .share = 1,
                                                      .gain_ns = 3e9,
                                                      .gain_least_ns = 1e9,
                                                      .ranks = divided->all,
                                                      .n_ranks = 1,
                                                      .n_late = 1,
                                                      .others = divided->all + 1,
                                                      .n_others = 1},
                                            .factor = {1.9, 2, 2.1},
                                            .reason = PARTITION_DATA,
                                            .causes = divided->both,
                                            .n_causes = 2};
    f->causes[0].partition = f->causes[1].partition = 1;
    f->analysis.partitions = &divided->partition;
    f->analysis.n_partitions = 1;
    f->analysis.answer =
        (struct answer){.kind = ANSWER_PARTITION, .has_causes = true, .waiting_ns = 6.001e9, .share = 1};
}

static void a_partition_is_a_level_above_its_causes(void **state)
{
    struct fixture *f = *state;
    struct divided divided;
    divide(f, &divided);
    expect_first(f, "Rank 1 makes others wait, 2.0 x as long in 2 places: 6.00 s, 100 % of all waiting.\n");
    char *text = printed(f, &(struct report_options){.n_top = usual.n_top, .width = 130});
    expect_in(text, "rank 1 takes 2.0 x as long in 2 places: it has more of the data");
    expect_in(text, "-1.0 s to -3.0 s  11 % to 33 %\n    time there: rank 1 8.00 s, rank 0 4.00 s\n"
                    "    next: divide the data anew, so that this rank has less of it\n");
    expect_in(text, "\n  1 loop jacobi.c:58-63 in relax()");
    expect_in(text, "\n  2 transfer in MPI_Barrier");
    assert_null(strstr(text, "waiting at"));
    free(text);
    size_t size;
    FILE *out = open_memstream(&text, &size);
    f->causes[1].like = 1;
    report_cause(out, &f->analysis, 0, &(struct report_options){.width = 130});
    fclose(out);
    f->causes[1].like = 0;
    expect_in(text, "  rank 1 takes 2.0 x as long in 2 places, this among them: it has more of the data\n");
    assert_null(strstr(text, "perhaps"));
    free(text);
}

static void what_is_known_of_a_partition_is_told(void **state)
{
    struct fixture *f = *state;
    struct divided divided;
    divide(f, &divided);
    struct partition *partition = &divided.partition;
    partition->factor = (struct ratio){1.6, 2, 2.5};
    expect_first(f,
                 "Rank 1 makes others wait, 2.0 x (1.6 to 2.5) as long in 2 places: 6.00 s, 100 % of all waiting.\n");
    char *text = printed(f, &(struct report_options){.n_top = usual.n_top, .width = 130});
    expect_in(text, "rank 1 takes 2.0 x (1.6 to 2.5) as long in 2 places: it has more of the ");
    free(text);
    partition->whole.kind = KIND_MORE_TIME; /* nothing is counted */
    text = printed(f, &(struct report_options){.n_top = usual.n_top, .width = 230});
    expect_in(text, "as long in 2 places: perhaps it has more of the data");
    expect_in(text, "less of it; if it has no more of it, look at how its data lie in memory\n");
    free(text);
    partition->whole.kind = KIND_MORE_WORK;
    partition->factor.high = INFINITY;
    expect_first(f,
                 "Rank 1 makes others wait, 2.0 x (at least 1.6) as long in 2 places: 6.00 s, 100 % of all waiting.\n");
    partition->factor = (struct ratio){1.9, 2, 2.1};
    partition->reason = PARTITION_SLOWER;
    expect_first(f,
                 "Rank 1 makes others wait, 2.0 x as long in 2 places, as its CPU or memory is slower: 6.00 s, 100 % "
                 "of all waiting.\n");
    text = printed(f, &(struct report_options){.n_top = usual.n_top, .width = 130});
    expect_in(text, "2.0 x as long in 2 places: its CPU or memory is slower");
    expect_in(text,
              "    next: bind ranks to cores and keep other work off them; if this rank is still slower, look at how "
              "its data lie in memory\n");
    free(text);
    partition->has_own_node = true;
    text = printed(f, &(struct report_options){.n_top = usual.n_top, .width = 130});
    expect_in(text, "    next: compare the clock speed and memory of this rank's node with the others'\n");
    free(text);
}

static void whose_records_end_first_is_said(void **state)
{
    struct fixture *f = *state;
    struct report_options wide = usual;
    wide.width = 300;
    f->locations[0].end_how = f->locations[1].end_how = WW_END_NONE;
    f->locations[1].end_ns = 2000000100;
    char *text = printed(f, &wide);
    expect_in(text, "the records of rank 1 end first, 2.00 s after the start, the last ones at 9.00 s.");
    free(text);
}

static void endings_and_losses_are_said(void **state)
{
    struct fixture *f = *state;
    f->locations[0].end_how = WW_END_NONE;
    f->locations[1].end_how = WW_END_EXIT;
    f->locations[1].end_detail = 3;
    f->locations[1].n_dropped = 1234 + 5;
    f->locations[1].n_nested = 5;
    f->open_waits[0] = (struct open_wait){.rank = 0,
                                          .for_rank = 1,
                                          .unlike_rank = TRACE_NONE,
                                          .call = "MPI_Recv",
                                          .file = "/a/b.c",
                                          .line = 9,
                                          .since_ns = 1000000100,
                                          .dur_ns = 8000000000};
    f->open_waits[1] = (struct open_wait){
        .rank = 1, .for_rank = 0, .unlike_rank = TRACE_NONE, .call = "MPI_Recv", .since_ns = 100, .dur_ns = 9000000000};
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 2;
    f->analysis.deadlock = (uint32_t[]){0, 1};
    f->analysis.n_deadlock = 2;
    struct report_options wide = usual;
    wide.width = 300;
    char *text = printed(f, &wide);
    expect_in(
        text,
        "rank 0 ended abruptly (killed, crashed, _exit or fatal MPI error); the last event is 9.00 s after the start.");
    expect_in(text, "rank 1 ended with status 3 without calling MPI_Finalize");
    f->locations[1].end_how = WW_END_EXEC;
    char *became = printed(f, &wide);
    expect_in(became, "rank 1 became another program (exec) without calling MPI_Finalize");
    free(became);
    f->open_waits[0].meanwhile_share = 0.9;
    char *busy = printed(f, &wide);
    expect_in(busy, "it waited for rank 1 from 1.00 s after the start; meanwhile rank 1 was outside MPI, "
                    "in loop jacobi.c:58-63 in relax() (90 % of that time).");
    free(busy);
    expect_in(text, "rank 0 never came back from MPI_Recv at b.c:9: it waited for rank 1 from 1.00 s after the start.");
    expect_in(text, "Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0.");
    expect_in(text, "Lost: 1,234 records of rank 1 found no room.");
    expect_in(text, "Lost: 5 calls of rank 1, made within another call of MPI (by a function that MPI calls back).");
    free(text);
}

/* What the awaited rank did instead, and operations that do not match. */
static void why_a_call_never_came_back_is_told(void **state)
{
    struct fixture *f = *state;
    struct report_options wide = usual;
    wide.width = 300;
    enum { TO_ITSELF, OTHER_TAG, OTHER_COMM, FINALIZING, OTHER_BARRIER, GONE, CASES };
    static const char *const said[CASES] = {
        "it waited for itself from 1.00 s after the start.",
        "after the start; rank 1 has sent it a message with tag 4, which nobody received: this call waits for tag 3.",
        "after the start; rank 1 has sent it a message with the same tag 3 on another communicator, which nobody "
        "received.",
        "after the start; rank 1 has come to MPI_Finalize.",
        "after the start; rank 1 is in MPI_Barrier of another communicator.",
        "after the start; rank 1 ended with status 3 without calling MPI_Finalize 2.00 s after the start.",
    };
    f->locations[1].end_how = WW_END_EXIT;
    f->locations[1].end_detail = 3;
    f->analysis.open_waits = f->open_waits;
    f->analysis.n_open_waits = 1;
    for (int i = 0; i < CASES; i++) {
        f->open_waits[0] = (struct open_wait){.rank = 0,
                                              .for_rank = i != TO_ITSELF,
                                              .unlike_rank = TRACE_NONE,
                                              .call = i == OTHER_BARRIER ? "MPI_Barrier" : "MPI_Recv",
                                              .tag = 3,
                                              .is_other_sent = i == OTHER_TAG || i == OTHER_COMM,
                                              .other_tag = i == OTHER_TAG ? 4 : 3,
                                              .is_for_finalizing = i == FINALIZING,
                                              .is_for_other_comm = i == OTHER_BARRIER,
                                              .since_ns = 1000000100,
                                              .dur_ns = 8000000000};
        f->locations[1].end_ns = i == GONE ? 2000000100 : 9000000100;
        char *text = printed(f, &wide);
        expect_in(text, said[i]);
        free(text);
    }
    /* Who hung itself did not hang others by its end. */
    f->open_waits[1] = (struct open_wait){
        .rank = 1, .for_rank = TRACE_NONE, .unlike_rank = TRACE_NONE, .call = "MPI_Recv", .dur_ns = 2000000000};
    f->analysis.n_open_waits = 2;
    char *both = printed(f, &wide);
    expect_in(both, "rank 0 never came back from MPI_Recv: it waited for rank 1 from 1.00 s after the start.");
    free(both);
    for (uint32_t rank = 0; rank < 2; rank++)
        f->open_waits[rank] = (struct open_wait){.rank = rank,
                                                 .for_rank = 1 - rank,
                                                 .unlike_rank = 1 - rank,
                                                 .call = rank ? "MPI_Bcast" : "MPI_Barrier",
                                                 .dur_ns = 8000000000};
    f->analysis.n_open_waits = 2;
    char *text = printed(f, &wide);
    expect_in(text, "Mismatch: rank 0 is in MPI_Barrier, rank 1 in MPI_Bcast, as the same operation of one "
                    "communicator: the call has to be the same on all its ranks.");
    free(text);
}

static void waits_that_were_cut_off_are_told_from_hanging(void **state)
{
    struct fixture *f = *state;
    struct report_options wide = usual;
    wide.width = 300;
    static const char *const said[] = {
        "ranks 0,1 waited in MPI_Test when the run ended, no longer than in other waits.",
        "rank 0 polled with MPI_Test to the end: waiting for rank 1 from 1.00 s after the start.",
    };
    for (int lasts = 0; lasts < 2; lasts++) {
        for (uint32_t rank = 0; rank < 2; rank++)
            f->open_waits[rank] = (struct open_wait){.rank = rank,
                                                     .for_rank = 1 - rank,
                                                     .unlike_rank = TRACE_NONE,
                                                     .call = "MPI_Test",
                                                     .polls = true,
                                                     .since_ns = 1000000100,
                                                     .dur_ns = lasts ? 80000000 : 4000000,
                                                     .longest_ns = 50000000};
        f->analysis.open_waits = f->open_waits;
        f->analysis.n_open_waits = 2;
        char *text = printed(f, &wide);
        expect_in(text, said[lasts]);
        free(text);
    }
}

static json_t *printed_json(struct fixture *f, const struct json_options *options)
{
    char *text = NULL;
    size_t size = 0;
    settle(f);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(json_print(out, &f->analysis, options), 0);
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

/* The late rank had no CPU for a quarter of the waiting, all of it in one place. */
static void set_machine(struct fixture *f, struct machine_place *place)
{
    f->analysis.machine = (struct machine){
        .waiting_ns = 2e9, .share = 0.25, .ranks = &f->late, .places = place, .n_ranks = 1, .n_late = 1, .n_places = 1};
}

/* Parts in a line of the overview and as a tree; the machine below the causes. */
static void parts_and_the_machine_have_their_rows(void **state)
{
    struct fixture *f = *state;
    struct cause_part parts[] = {{.step = 0, .waiting_ns = 6e9},
                                 {.step = 1, .depth = 1, .waiting_ns = 4e9, .own_ns = 4e9, .call_line = 77},
                                 {.step = 1, .depth = 1, .waiting_ns = 2e9, .own_ns = 2e9}};
    struct machine_place place = {.step = 0, .waiting_ns = 2e9};
    f->causes[0].parts = parts;
    f->causes[0].n_parts = 3;
    f->causes[0].when_ns[3] = 6e9;
    f->causes[0].acts = (struct acting){.kind = ACTS_AT_ONCE, .from_ns = 984e6};
    set_machine(f, &place);
    struct report_options whole = usual;
    whole.all = true;
    char *text = printed(f, &usual);
    assert_null(strstr(text, "2 places inside"));
    free(text);
    text = printed(f, &whole);
    expect_in(text, "2 places inside, most of it (67 %) transfer in ");
    expect_in(text, "; close together, about 984 ms\n");
    assert_null(strstr(strstr(text, "close together") + 1, "close together")); /* said once */
    assert_true(strstr(text, "the machine: ranks were ready to run but had no CPU") > strstr(text, "waiting at"));
    expect_in(text, "rank 1 on n1 (2 ranks there); most of it (100 %) in loop");
    free(text);
    size_t size;
    FILE *out = open_memstream(&text, &size);
    report_cause(out, &f->analysis, 0, &(struct report_options){.width = 120});
    fclose(out);
    assert_non_null(strstr(text, ", called on line 77"));
    assert_non_null(strstr(text, "when: |"));
    free(text);
    parts[0].own_ns = 5e9;
    parts[1].own_ns = 6e8;
    parts[2].own_ns = 4e8;
    text = printed(f, &whole);
    expect_in(text, "2 places inside, but most of it (83 %) in the loop itself");
    free(text);
    parts[0].own_ns = 5.9e9;
    text = printed(f, &whole);
    assert_null(strstr(text, " places inside"));
    free(text);
    parts[0].own_ns = 5e8;
    parts[1].own_ns = 2e9;
    text = printed(f, &whole);
    expect_in(text, "2 places inside, the largest part (33 %) transfer in ");
    free(text);
}

/* Advice on transfers sends the reader there. */
static void the_machine_has_its_row_beside_transfers(void **state)
{
    struct fixture *f = *state;
    struct machine_place place = {.step = 0, .waiting_ns = 2e9};
    struct transfer_place call = {.step = 1, .ns = 1e9};
    set_machine(f, &place);
    f->analysis.transfers.n_places = 1;
    f->analysis.transfers.places = &call;
    f->analysis.answer = (struct answer){.kind = ANSWER_TRANSFERS, .transfer_share = 0.4};
    char *text = printed(f, &usual);
    assert_null(strstr(text, "the machine:"));
    free(text);
    f->analysis.answer.is_machine = true;
    f->analysis.answer.machine_share = 0.02;
    text = printed(f, &usual);
    expect_in(text, "the machine: ranks were ready to run but had no CPU");
    free(text);
}

/* Behind the first. */
static void negligible_causes_are_not_listed(void **state)
{
    struct fixture *f = *state;
    struct analysis *analysis = &f->analysis;
    analysis->causes[1].waiting_ns = 0.02 * analysis->causes[0].waiting_ns;
    char *text = printed(f, &usual);
    expect_in(text, "\n2 ");
    free(text);
    analysis->causes[1].waiting_ns = 0.9 * analysis->answer.negligible_ns;
    text = printed(f, &usual);
    assert_null(strstr(text, "\n2 "));
    free(text);
    analysis->answer.negligible_ns = 2 * analysis->causes[0].waiting_ns;
    text = printed(f, &usual);
    expect_in(text, "\n1 ");
    free(text);
}

/* One of the late ranks makes the others wait there. */
static void a_call_says_for_whom_ranks_wait(void **state)
{
    struct fixture *f = *state;
    uint32_t late = 1;
    f->felt[0].late = &late;
    f->felt[0].n_late = 1;
    char *text = printed(f, &(struct report_options){.width = 120, .all = true});
    expect_in(text, "rank 0 waits for rank 1 in 99 of 100 calls with waits");
    free(text);
    json_t *report = printed_json(f, &(struct json_options){0});
    json_t *site = json_array_get(json_object_get(json_array_get(json_object_get(report, "causes"), 0), "sites"), 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(site, "late_ranks"), 0)), 1);
    json_decref(report);
}

/* It is one imbalance in several rows: the first of them says so. */
static void the_first_of_rows_that_are_alike_says_so(void **state)
{
    struct fixture *f = *state;
    f->causes[1].waiting_ns = 1e9;
    char *apart = printed(f, &usual);
    assert_null(strstr(apart, "same rank late"));
    free(apart);
    f->causes[1].like = 1;
    char *text = printed(f, &usual);
    const char *said = strstr(text, "    row 2 has the same rank late by the same factor: perhaps it has more of the");
    assert_true(said && said < strstr(text, "\n2 transfer in MPI_Barrier"));
    free(text);
}

/* Of two rows, with gains in one or in both. */
static void gains_are_those_of_one_row(void **state)
{
    struct fixture *f = *state;
    f->causes[1].waiting_ns = 1e9;
    for (int have_both = 0; have_both < 2; have_both++) {
        f->causes[1].if_balanced_ns = f->causes[1].if_balanced_least_ns = have_both ? 0.5e9 : 0;
        char *text = printed(f, &usual);
        expect_in(text, "\n2 transfer in MPI_Barrier");
        expect_in(text, have_both ? " with the work divided best; gains of rows do not add up\n"
                                  : " with the work divided best\n");
        free(text);
    }
}

/* Not all gains come from the same remedy. */
static void each_remedy_is_named(void **state)
{
    struct fixture *f = *state;
    f->causes[1].waiting_ns = 1e9;
    f->causes[1].if_as_others_ns = f->causes[1].if_as_others_least_ns = 0.5e9;
    f->causes[1].kind = KIND_BLOCKED;
    char *text = printed(f, &usual);
    expect_in(text, " with the work divided best, or with late ranks as fast");
    free(text);
}

/* Late ranks that are as fast as the others still do more. */
static void speed_gains_nothing_of_more_work(void **state)
{
    struct fixture *f = *state;
    struct cause *cause = &f->causes[0];
    memset(cause->kind_ns, 0, sizeof cause->kind_ns);
    cause->kind = KIND_SLOWER;
    cause->kind_ns[KIND_SLOWER] = 0.6 * cause->waiting_ns;
    cause->kind_ns[KIND_MORE_WORK] = 0.4 * cause->waiting_ns;
    cause->if_as_others_ns = cause->if_as_others_least_ns = 5e9;
    char *text = printed(f, &usual);
    expect_in(text, "-3.0 s");
    expect_in(text, "with late ranks as fast as the others");
    free(text);
}

/* What goes with the cause beside its waiting: without a word the one figure belies the other. */
static void a_gain_beyond_the_waiting_is_explained(void **state)
{
    struct fixture *f = *state;
    struct cause *cause = &f->causes[0];
    const struct {
        enum cause_kind kind;
        double gain_ns, least_ns, known_ns;
        const char *figure, *said;
    } cases[] = {
        {KIND_MORE_TIME, 7e9, 3e9, 0, "-3.0 s to -7.0 s", "since time without a CPU goes away with it\n"},
        {KIND_BLOCKED, 7e9, 3e9, 7e9, "-3.0 s to -7.0 s", "since time without a CPU goes away with it\n"},
        {KIND_BLOCKED, 7e9, 7e9, 6.5e9, "-7.0 s", "since waiting for other rows goes away with it\n"},
        {KIND_BLOCKED, 7e9, 7e9, 3e9, "-7.0 s", "since time in which other ranks have ended or are"},
        {KIND_BLOCKED, 6.2e9, 6.1e9, 6.1e9, "-6.0 s", NULL},
        {KIND_MORE_TIME, 5e9, 3e9, 0, "-3.0 s to -5.0 s", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(cause->kind_ns, 0, sizeof cause->kind_ns);
        cause->kind = cases[i].kind;
        cause->kind_ns[cause->kind] = cause->waiting_ns;
        cause->if_balanced_ns = cause->if_as_others_ns = cases[i].gain_ns;
        cause->if_balanced_least_ns = cause->if_as_others_least_ns = cases[i].least_ns;
        cause->if_as_others_known_ns = cases[i].known_ns;
        char *text = printed(f, &usual);
        expect_in(text, cases[i].figure);
        if (cases[i].said) {
            expect_in(text, "\n  if fixed: row 1 gains more than its waiting, since ");
            expect_in(text, cases[i].said);
        } else
            assert_null(strstr(text, "more than its waiting"));
        free(text);
    }
}

static void every_kind_of_wait_is_explained(void **state)
{
    struct fixture *f = *state;
    for (int kind = 0; kind < WAIT_N_KINDS; kind++) {
        char *text = NULL, line[256];
        size_t size = 0;
        f->site.kind = (enum wait_kind)kind;
        snprintf(line, sizeof line, "    %s: %s\n", wait_kind_name(f->site.kind), wait_kind_meaning(f->site.kind));
        for (int view = 0; view < 3; view++) {
            FILE *out = open_memstream(&text, &size);
            if (view == 0)
                report_cause(out, &f->analysis, 0, &(struct report_options){.width = 200});
            else if (view == 1)
                report_site(out, &f->analysis, 0, &(struct report_options){.width = 200});
            else
                report_sites(out, &f->analysis, &(struct report_options){.width = 200, .n_top = 5});
            fclose(out);
            expect_in(text, line);
            free(text);
        }
    }
}

static void json_has_the_documented_fields(void **state)
{
    json_t *report = printed_json(*state, &(struct json_options){0});
    assert_int_equal(integer(report, "version"), JSON_VERSION);
    assert_string_equal(json_string_value(json_object_get(report, "program")), "jacobi");
    assert_int_equal(integer(report, "ranks"), 2);
    assert_int_equal(integer(report, "duration_ns"), 9000000000);
    json_t *answer = json_object_get(report, "answer");
    assert_string_equal(json_string_value(json_object_get(answer, "kind")), "cause");
    assert_int_equal(integer(answer, "cause"), 1);
    assert_string_equal(
        json_string_value(json_object_get(answer, "text")),
        "Rank 1 makes others wait, most in loop jacobi.c:58-63 in relax(): 6.00 s, 100 % of all waiting.");
    json_t *cause = json_array_get(json_object_get(report, "causes"), 0);
    assert_string_equal(json_string_value(json_object_get(cause, "file")), "/home/u/app/jacobi.c");
    assert_int_equal(integer(cause, "line_first"), 58);
    assert_int_equal(integer(cause, "line_last"), 63);
    assert_string_equal(json_string_value(json_object_get(cause, "routine")), "relax");
    assert_string_equal(json_string_value(json_object_get(cause, "kind")), "more-time");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(cause, "ranks"), 0)), 1);
    assert_true(json_is_real(json_object_get(cause, "share")));
    json_t *site = json_array_get(json_object_get(cause, "sites"), 0);
    assert_string_equal(json_string_value(json_object_get(site, "call")), "MPI_Barrier");
    assert_int_equal(integer(site, "line"), 71);
    assert_int_equal(integer(site, "instances"), 100);
    assert_int_equal(json_array_size(json_object_get(site, "classes")), 2);
    json_decref(report);
}

static void json_times_add_up(void **state)
{
    json_t *report = printed_json(*state, &(struct json_options){0}), *item;
    long long causes = 0, sites = 0, classes = 0;
    size_t i;
    json_array_foreach(json_object_get(report, "causes"), i, item) causes += integer(item, "waiting_ns");
    json_array_foreach(json_object_get(report, "sites"), i, item) sites += integer(item, "waiting_ns");
    json_array_foreach(json_object_get(json_array_get(json_object_get(report, "sites"), 0), "classes"), i, item)
        classes += integer(item, "waiting_ns");
    assert_int_equal(causes, integer(report, "waiting_ns"));
    assert_int_equal(sites, causes);
    assert_int_equal(classes, causes);
    json_decref(report);
}

static void json_survives_names_that_are_no_utf8(void **state)
{
    struct fixture *f = *state;
    f->trace.program = f->trace.command = "\xff";
    f->steps[0].routine = "\xc0\xaf";
    f->site.call = "\xfe";
    f->analysis.efficiency.parallel = NAN;
    json_t *report = printed_json(f, &(struct json_options){.n_top = 1});
    assert_string_equal(json_string_value(json_object_get(report, "program")), "\\xff");
    assert_true(json_is_null(json_object_get(json_object_get(report, "efficiency"), "parallel")));
    assert_int_equal(json_array_size(json_object_get(report, "causes")), 1);
    json_decref(report);
}

static void drilling_shows_classes_and_steps(void **state)
{
    struct fixture *f = *state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    report_cause(out, &f->analysis, 0, &usual);
    report_cause(out, &f->analysis, 1, &usual);
    report_site(out, &f->analysis, 0, &usual);
    report_sites(out, &f->analysis, &usual);
    f->causes[0].if_gone_off_ns = 2.7e9;
    report_cause(out, &f->analysis, 0, &usual);
    fclose(out);
    expect_in(text, "if divided best: nothing to -2.9 s (estimate)\n  if it took no time: at most -3.40 s\n");
    expect_in(text, "if it took no time: at most -3.40 s, 2.70 s of that without a CPU");
    expect_in(text, "if it took no time: nothing");
    expect_in(text, "rank 1 then becomes the slowest\n");
    expect_in(text, "cause 1   loop jacobi.c:58-63 in relax()");
    expect_in(text, "class 2: 99 calls alike   6.00 s waiting for all causes   from 1.00 ms to ");
    expect_in(text, "    differences and blame: sums over the calls of a class and all ranks that wait in them\n"
                    "    class 2: 99 calls alike");
    expect_in(text, "1 minor step hidden (--all-steps)");
    expect_in(text, "rank 0 waits 6.00 s");
    expect_in(text, "6.00 s because of loop jacobi.c:58-63 in relax() (cause 1)");
    expect_in(text, "6.00 s in 99 of 100 calls with waits, 1 is for other causes\n"
                    "    wait at barrier: no rank goes on before the last one comes\n");
    expect_in(text, "6.00 s waiting   100 calls with waits\n");
    expect_in(text, "where ranks wait");
    free(text);
}

/* A place is counted on all ranks or on none: what never ran is known never to have run. */
static void executions_that_are_zero_are_told_from_none_counted(void **state)
{
    struct fixture *f = *state;
    for (int is_counted = 0; is_counted < 2; is_counted++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        f->late.executions = is_counted ? 4000 : 0;
        f->sources[1].steps[0].executions = is_counted ? 4000 : 0;
        f->sources[1].steps[1].executions = is_counted ? -1000 : 0;
        report_cause(out, &f->analysis, 0, &(struct report_options){.width = 100, .all_steps = true});
        fclose(out);
        assert_true(!!strstr(text, "not counted") == !is_counted);
        assert_true(!!strstr(text, "8.00 s       4,000") == is_counted);
        assert_true(!!strstr(text, "2.00 s           0") == is_counted);
        assert_true(!!strstr(text, "+4,000\n") == is_counted && !!strstr(text, "-1,000\n") == is_counted);
        assert_null(strstr(text, "0.00 ns")); /* where it slept, and was never on a CPU */
        free(text);
    }
}

/* Of a routine that is called from elsewhere too, executions are known for all its calls together. */
static void executions_that_other_calls_have_a_part_of_are_told_as_such(void **state)
{
    struct fixture *f = *state;
    for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        f->late.instructions = 5000;
        f->causes[0].is_elsewhere = is_elsewhere;
        report_cause(out, &f->analysis, 0, &usual);
        fclose(out);
        assert_true(!!strstr(text, "8.00 s  counted with others\n") == is_elsewhere);
        assert_true(!!strstr(text, "not counted") == !is_elsewhere);
        free(text);
    }
}

static struct class_steps three_steps(const struct analysis *analysis, const struct wait_class *class,
                                      struct arena *arena)
{
    static const struct class_step steps[] = {{.rank = 1, .dur_ns = 4e9, .blame_ns = 3e9, .executions = 4000},
                                              {.rank = 1, .dur_ns = 2e9, .blame_ns = 1e9, .executions = 1000},
                                              {.rank = 1, .dur_ns = -1e9}};
    (void)analysis, (void)class;
    return (struct class_steps){arena_copy(arena, steps, sizeof steps), sizeof steps / sizeof *steps};
}

static void steps_that_read_the_same_are_one_row_a_side(void **state)
{
    struct fixture *f = *state;
    char *text = NULL;
    size_t size = 0;
    f->analysis.class_steps = three_steps;
    FILE *out = open_memstream(&text, &size);
    report_cause(out, &f->analysis, 0, &(struct report_options){.width = 100});
    fclose(out);
    expect_in(text, "+6.00 s  4.00 s      +5,000\n");
    expect_in(text, "-1.00 s");
    assert_null(strstr(text, "+4,000"));
    free(text);
}

static void ranks_that_have_ended_are_told_from_recording_off(void **state)
{
    struct fixture *f = *state;
    struct rank_summary ranks[] = {{.compute_ns = 6e9, .ended_ns = 2e9}, {.compute_ns = 6e9, .unrecorded_ns = 2e9}};
    f->analysis.ranks = ranks;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    report_ranks(out, &f->analysis, &(struct report_options){.width = 100});
    fclose(out);
    expect_in(text, "computing  recording off  ended");
    expect_in(text, "rank 0       75 %                  25 %");
    expect_in(text, "rank 1       75 %           25 %");
    free(text);
}

/* The diagonal of the matrix. */
static void why_a_rank_waits_for_itself_is_told(void **state)
{
    static struct rank_summary ranks[] = {{.waiting_ns = 6e9}, {.compute_ns = 6e9}};
    struct fixture *f = *state;
    f->analysis.ranks = ranks;
    for (int has_self = 0; has_self < 2; has_self++) {
        double *ns = (double[]){has_self ? 1e9 : 0, 5e9, 0, 0};
        char *text = NULL;
        size_t size = 0;
        f->analysis.matrix = (struct wait_matrix){.n_groups = 2, .group_size = 1, .ns = ns};
        FILE *out = open_memstream(&text, &size);
        report_ranks(out, &f->analysis, &(struct report_options){.width = 200});
        fclose(out);
        expect_in(text, "who waits (rows) for whom (columns)");
        assert_int_equal(strstr(text, "\na rank for itself: its own delay comes back") != NULL, has_self);
        free(text);
    }
}

static void the_machine_takes_no_row_of_the_critical_path(void **state)
{
    struct fixture *f = *state;
    struct critical_step path[] = {
        {.step = 1, .on_path_ns = 5e9, .mean_ns = 3e9, .rank = 0, .rank_ns = 5e9, .n_ranks = 1},
        {.step = 0, .on_path_ns = 2e9, .mean_ns = 1e9, .rank = 1, .rank_ns = 2e9, .n_ranks = 1}};
    struct report_options options = usual;
    f->steps[1].state = STEP_DESCHEDULED;
    f->analysis.critical = path;
    f->analysis.n_critical = 2;
    for (int all = 0; all < 2; all++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        options.all = all;
        report_critical(out, &f->analysis, &options);
        fclose(out);
        expect_in(text, "\nloop jacobi.c:58-63 in relax()");
        assert_int_equal(strstr(text, "the machine: for 5.00 s of the path") != NULL, !all);
        assert_int_equal(strstr(text, "rank 0") != NULL, all);
        free(text);
    }
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_make, fixture_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(the_overview_names_cause_first_and_call_second),
        WITH_FIXTURE(a_call_reads_alike_in_no_two_rows),
        WITH_FIXTURE(a_call_says_for_whom_ranks_wait),
        WITH_FIXTURE(the_first_of_rows_that_are_alike_says_so),
        WITH_FIXTURE(gains_are_those_of_one_row),
        WITH_FIXTURE(each_remedy_is_named),
        WITH_FIXTURE(speed_gains_nothing_of_more_work),
        WITH_FIXTURE(a_gain_beyond_the_waiting_is_explained),
        WITH_FIXTURE(every_kind_of_wait_is_explained),
        WITH_FIXTURE(why_a_rank_waits_for_itself_is_told),
        WITH_FIXTURE(lines_keep_to_the_width),
        WITH_FIXTURE(hostile_names_reach_no_terminal),
        WITH_FIXTURE(files_of_one_name_are_told_apart),
        WITH_FIXTURE(long_template_arguments_are_left_out),
        WITH_FIXTURE(the_call_outside_a_routine_is_named),
        WITH_FIXTURE(arguments_that_tell_routines_apart_are_kept),
        WITH_FIXTURE(names_of_any_length_are_short),
        WITH_FIXTURE(the_first_line_is_the_answer),
        WITH_FIXTURE(the_first_line_tells_when_no_rank_is_late),
        WITH_FIXTURE(the_first_line_tells_what_else_there_is),
        WITH_FIXTURE(transfers_are_the_first_line),
        WITH_FIXTURE(a_message_that_nobody_sent_is_told),
        WITH_FIXTURE(the_end_of_a_run_is_said_first),
        WITH_FIXTURE(who_ended_first_comes_before_its_victims),
        WITH_FIXTURE(a_run_that_hangs_or_is_not_recorded_has_no_efficiency),
        WITH_FIXTURE(a_partition_is_a_level_above_its_causes),
        WITH_FIXTURE(what_is_known_of_a_partition_is_told),
        WITH_FIXTURE(whose_records_end_first_is_said),
        WITH_FIXTURE(endings_and_losses_are_said),
        WITH_FIXTURE(why_a_call_never_came_back_is_told),
        WITH_FIXTURE(waits_that_were_cut_off_are_told_from_hanging),
        WITH_FIXTURE(parts_and_the_machine_have_their_rows),
        WITH_FIXTURE(the_machine_has_its_row_beside_transfers),
        WITH_FIXTURE(negligible_causes_are_not_listed),
        WITH_FIXTURE(the_machine_takes_no_row_of_the_critical_path),
        WITH_FIXTURE(json_has_the_documented_fields),
        WITH_FIXTURE(json_times_add_up),
        WITH_FIXTURE(json_survives_names_that_are_no_utf8),
        WITH_FIXTURE(drilling_shows_classes_and_steps),
        WITH_FIXTURE(steps_that_read_the_same_are_one_row_a_side),
        WITH_FIXTURE(executions_that_are_zero_are_told_from_none_counted),
        WITH_FIXTURE(executions_that_other_calls_have_a_part_of_are_told_as_such),
        WITH_FIXTURE(ranks_that_have_ended_are_told_from_recording_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
