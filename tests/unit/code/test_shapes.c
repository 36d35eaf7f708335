/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source loops found in compiled programs. The sources mark their loops ("@name(" on the first line, "@name)" on the
 * last, "@?name(" when the compiler may do without); for every way of compiling them
 *   - each marked loop is found, off by a line at most at either end;
 *   - nothing is found that is not marked, and no loop twice, one in the other;
 *   - each instruction whose line is known lies in the loop around that line, but for a few that the compiler moved.
 */
#include "analyze/code/code.h"
#include "wrap/base/containers.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct mark {
    char name[32];
    uint32_t first, last;
    bool is_optional, is_found;
};
typedef VEC(struct mark) marks;

static struct mark *mark_named(marks *list, const char *name, size_t n_name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strlen(list->at[i].name) == n_name && memcmp(list->at[i].name, name, n_name) == 0)
            return &list->at[i];
    struct mark *mark = vec_push(list);
    assert_true(n_name < sizeof mark->name);
    memcpy(mark->name, name, n_name);
    return mark;
}

static void read_marks(const char *source, marks *list)
{
    char line[512];
    FILE *file = fopen(source, "r");
    assert_non_null(file);
    for (uint32_t number = 1; fgets(line, sizeof line, file) != NULL; number++)
        for (char *at = strchr(line, '@'); at != NULL; at = strchr(at + 1, '@')) {
            bool is_optional = at[1] == '?';
            char *name = at + 1 + is_optional;
            size_t n_name = strcspn(name, "()");
            if (name[n_name] == 0 || n_name == 0 || strncmp(name, "name", 4) == 0)
                continue;
            struct mark *mark = mark_named(list, name, n_name);
            mark->is_optional |= is_optional;
            *(name[n_name] == '(' ? &mark->first : &mark->last) = number;
        }
    fclose(file);
    for (size_t i = 0; i < list->n; i++)
        assert_true(list->at[i].first != 0 && list->at[i].first <= list->at[i].last);
}

static bool is_near(uint32_t a, uint32_t b)
{
    return a <= b + 1 && b <= a + 1;
}

/* True when the place is a marked loop. */
static bool check_place(const struct code_place *place, marks *list)
{
    bool any = false;
    for (size_t i = 0; i < list->n; i++) {
        struct mark *mark = &list->at[i];
        if (!is_near(place->line_first, mark->first) || !is_near(place->line_last, mark->last))
            continue;
        mark->is_found = true;
        any = true;
    }
    return any;
}

static bool has_suffix(const char *text, const char *suffix)
{
    size_t n = text != NULL ? strlen(text) : 0, m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

struct tally {
    unsigned n_inside, n_astray;
};

/* The line of an address in the source, and whether the loop that is named there has it. */
static void check_address(struct code *code, uint32_t module, uint64_t address, const char *source, struct tally *tally)
{
    struct code_spot spot = code_spot_at(code, module, address);
    uint32_t id = code_place_at(code, module, address);
    assert_int_not_equal(id, CODE_NONE);
    const struct code_place *place = code_place(code, id);
    uint32_t line = has_suffix(spot.file, source) ? spot.line : has_suffix(spot.call_file, source) ? spot.call_line : 0;
    if (!place->is_loop || line == 0 || !has_suffix(place->file, source))
        return;
    bool is_inside = line >= place->line_first && line <= place->line_last;
    /* Through an inlined call, the line of the call counts as well. */
    is_inside |= spot.call_line >= place->line_first && spot.call_line <= place->line_last;
    is_inside ? tally->n_inside++ : tally->n_astray++;
}

static void check_tree(struct code *code, const struct code_place *place)
{
    if (place->parent == CODE_NONE) {
        assert_false(place->is_loop);
        assert_int_equal(place->depth, 0);
        return;
    }
    const struct code_place *parent = code_place(code, place->parent);
    assert_true(place->is_loop);
    assert_int_equal(place->depth, parent->depth + 1);
    assert_int_equal(parent->source, parent->id);
}

static bool is_parent_again(struct code *code, const struct code_place *place)
{
    const struct code_place *parent = code_place(code, place->parent);
    return parent->is_loop && place->file != NULL && parent->file != NULL && strcmp(place->file, parent->file) == 0 &&
           place->line_first == parent->line_first && place->line_last == parent->line_last;
}

/* Returns how many loops are not marked, twice there, or nowhere. */
static unsigned check_places(struct code *code, const char *program, const char *source, marks *list)
{
    unsigned n_bad = 0;
    for (uint32_t p = 0; p < code_n_places(code); p++) {
        const struct code_place *place = code_place(code, p);
        check_tree(code, place);
        if (place->source == p && place->is_loop && has_suffix(place->file, source) && !check_place(place, list)) {
            print_error("%s: a loop at lines %" PRIu32 "-%" PRIu32 " in %s that is not marked\n", program,
                        place->line_first, place->line_last, place->routine);
            n_bad++;
        }
        if (place->source == p && place->is_loop && is_parent_again(code, place)) {
            print_error("%s: the loop at lines %" PRIu32 "-%" PRIu32 " in %s is inside itself\n", program,
                        place->line_first, place->line_last, place->routine);
            n_bad++;
        }
    }
    for (uint32_t p = 0; p < code_n_places(code); p++)
        if (code_place(code, p)->is_loop && code_place(code, p)->file == NULL) {
            print_error("%s: a loop without lines in %s\n", program, code_place(code, p)->host_routine);
            n_bad++;
        }
    return n_bad;
}

/* Returns how many marked loops were not found. */
static unsigned check_marks(const char *program, const marks *list)
{
    unsigned n_bad = 0;
    for (size_t i = 0; i < list->n; i++)
        if (!list->at[i].is_found && !list->at[i].is_optional) {
            print_error("%s: loop %s at lines %" PRIu32 "-%" PRIu32 " not found\n", program, list->at[i].name,
                        list->at[i].first, list->at[i].last);
            n_bad++;
        }
    return n_bad;
}

/* `percent`: how many instructions may be elsewhere than their lines, to those that are not. */
static unsigned check_program_within(const char *program, const char *source, unsigned percent)
{
    char path[1024];
    marks list = {0};
    struct tally tally = {0};
    unsigned n_bad = 0;
    snprintf(path, sizeof path, "%s/%s", SHAPES_SOURCE, source);
    read_marks(path, &list);
    snprintf(path, sizeof path, "%s/%s", SHAPES_BIN, program);
    struct code *code = code_open();
    uint32_t module = code_add_module(code, path, NULL, 0);
    assert_int_equal(code_module_state(code, module), CODE_FULL);
    uint32_t n_routines = code_n_routines(code, module);
    for (uint32_t r = 0; r + 1 < n_routines; r++)
        for (uint64_t at = code_routine_address(code, module, r); at < code_routine_address(code, module, r + 1); at++)
            if (code_place_at(code, module, at) != CODE_NONE)
                check_address(code, module, at, source, &tally);
    n_bad += check_places(code, program, source, &list) + check_marks(program, &list);
    if (tally.n_astray * 100 > tally.n_inside * percent) {
        print_error("%s: %u bytes of code in loops that do not have their lines, %u that do\n", program, tally.n_astray,
                    tally.n_inside);
        n_bad++;
    }
    code_close(code);
    vec_release(&list);
    return n_bad;
}

/* Percent: GCC 12 leaves up to 4, GCC 14 up to 5.1. What masks leave over is straight code, with the loop's lines. */
enum { FEW_ASTRAY = 6, MASKED_ASTRAY = 30 };

static unsigned check_program(const char *program, const char *source)
{
    return check_program_within(program, source, FEW_ASTRAY);
}

static void test_c(void **state)
{
    (void)state;
    unsigned n_bad = 0;
    static const char *const programs[] = {"c-O0",     "c-O1",     "c-O2",     "c-O3",   "c-dwarf4",
                                           "c-no-pie", "c-shared", "c-native", "c-fast", "c-split"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        n_bad += check_program(programs[i], "shapes.c");
#ifdef __x86_64__
    n_bad += check_program("c-avx512", "shapes.c");
#endif
    assert_int_equal(n_bad, 0);
}

static void test_cpp(void **state)
{
    (void)state;
    unsigned n_bad = 0;
    static const char *const programs[] = {"cpp-O0", "cpp-O1", "cpp-O2", "cpp-O3", "cpp-sections", "cpp-lto"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        n_bad += check_program(programs[i], "shapes.cpp");
    static const char *const inlined[] = {"inlined-O0", "inlined-O1", "inlined-O2", "inlined-O3"};
    for (size_t i = 0; i < sizeof inlined / sizeof *inlined; i++)
        n_bad += check_program(inlined[i], "inlined.cpp");
    assert_int_equal(n_bad, 0);
}

static void test_another_machine(void **state)
{
    (void)state;
#ifdef HAVE_AARCH64
    unsigned n_bad = 0;
    static const char *const programs[][2] = {
        {"aarch64-c-O0", "shapes.c"},          {"aarch64-c-O1", "shapes.c"},
        {"aarch64-c-O2", "shapes.c"},          {"aarch64-c-O3", "shapes.c"},
        {"aarch64-c-shared", "shapes.c"},      {"aarch64-c-signed", "shapes.c"},
        {"aarch64-c-sve", "shapes.c"},         {"aarch64-cpp-O0", "shapes.cpp"},
        {"aarch64-cpp-O1", "shapes.cpp"},      {"aarch64-cpp-O2", "shapes.cpp"},
        {"aarch64-cpp-O3", "shapes.cpp"},      {"aarch64-inlined-O0", "inlined.cpp"},
        {"aarch64-inlined-O1", "inlined.cpp"}, {"aarch64-inlined-O2", "inlined.cpp"},
        {"aarch64-inlined-O3", "inlined.cpp"},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        n_bad += check_program(programs[i][0], programs[i][1]);
    assert_int_equal(n_bad, 0);
#else
    skip();
#endif
}

static void test_counted(void **state)
{
    (void)state;
#ifdef HAVE_PLUGIN
    unsigned n_bad = check_program("c-counted-O2", "shapes.c") + check_program("c-counted-O3", "shapes.c");
    n_bad += check_program("cpp-counted-O2", "shapes.cpp");
#ifdef HAVE_FORTRAN
    n_bad += check_program_within("f90-counted-O3", "shapes.f90", MASKED_ASTRAY);
#endif
    assert_int_equal(n_bad, 0);
#else
    skip();
#endif
}

static void test_openmp(void **state)
{
    (void)state;
    unsigned n_bad = 0;
    static const char *const programs[] = {"omp-O0", "omp-O1", "omp-O2", "omp-O3"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        n_bad += check_program(programs[i], "omp.c");
    assert_int_equal(n_bad, 0);
}

static void test_fortran(void **state)
{
    (void)state;
#ifdef HAVE_FORTRAN
    unsigned n_bad = 0;
    static const char *const programs[] = {"f90-O0", "f90-O1", "f90-O2", "f90-O3", "f90-Os", "f90-lto"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        n_bad += check_program(programs[i], "shapes.f90");
    static const char *const ahead[] = {"ahead-O0", "ahead-O1", "ahead-O2", "ahead-O3"};
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++)
        n_bad += check_program(ahead[i], "ahead.f90");
    assert_int_equal(n_bad, 0);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c),      cmocka_unit_test(test_cpp),     cmocka_unit_test(test_counted),
        cmocka_unit_test(test_openmp), cmocka_unit_test(test_fortran), cmocka_unit_test(test_another_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
