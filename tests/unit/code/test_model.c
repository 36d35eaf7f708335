/* SPDX-License-Identifier: BSD-3-Clause */
/* The code model beyond lines: states of modules, names, inlining, stripped files, what counts as run-time library. */
#include "analyze/code/code.h"
#include "analyze/code/interpreters.h"
#include "analyze/code/origin.h"
#include "analyze/code/routines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A file is found from any folder, however its path was told to the compiler. */
static void test_relative_paths(void **state)
{
    (void)state;
    static const char *const paths[] = {SHAPES_BIN "/c-relative-4", SHAPES_BIN "/c-relative-5"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct code *code = code_open();
        uint32_t module = code_add_module(code, paths[i], NULL, 0), n_found = 0;
        for (uint32_t r = 0; r < code_n_routines(code, module); r++)
            code_place_at(code, module, code_routine_address(code, module, r));
        for (uint32_t p = 0; p < code_n_places(code); p++) {
            const char *file = code_place(code, p)->file;
            if (!file || !strstr(file, "shapes.c"))
                continue;
            assert_string_equal(file, SHAPES_SOURCE "/shapes.c");
            n_found++;
        }
        assert_true(n_found > 10);
        code_close(code);
    }
}

static void test_missing(void **state)
{
    (void)state;
    size_t n_notes;
    struct code *code = code_open();
    uint32_t gone = code_add_module(code, "/nonexistent/app", NULL, 0);
    uint32_t text = code_add_module(code, "/etc/passwd", NULL, 0);
    uint32_t vdso = code_add_module(code, "[vdso]", NULL, 0);
    uint32_t none = code_add_module(code, NULL, NULL, 0);
    assert_int_equal(code_module_state(code, gone), CODE_MISSING);
    assert_int_equal(code_module_state(code, text), CODE_MISSING);
    assert_int_equal(code_module_state(code, vdso), CODE_MISSING);
    assert_true(code_module_is_runtime(code, vdso) && code_module_is_runtime(code, none));
    assert_int_equal(code_place_at(code, gone, 0x1000), CODE_NONE);
    assert_int_equal(code_place_at(code, none, 0), CODE_NONE);
    struct code_spot spot = code_spot_at(code, gone, 0x1000);
    assert_true(spot.file == NULL && spot.routine == NULL && spot.block == 0);
    const char *const *notes = code_notes(code, &n_notes);
    assert_int_equal(n_notes, 2);
    assert_non_null(strstr(notes[0], "/nonexistent/app"));
    code_close(code);
}

static void test_build_id(void **state)
{
    (void)state;
    static const uint8_t other[20] = {1, 2, 3};
    size_t n_notes;
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/c-O2", other, sizeof other);
    assert_int_equal(code_module_state(code, module), CODE_CHANGED);
    assert_int_equal(code_place_at(code, module, 0x1200), CODE_NONE);
    assert_non_null(strstr(code_notes(code, &n_notes)[0], "has been rebuilt since the run"));
    assert_int_equal(n_notes, 1);
    code_close(code);
}

static const struct code_place *find_loop(struct code *code, uint32_t module, const char *routine, uint32_t depth)
{
    for (uint32_t r = 0; r < code_n_routines(code, module); r++)
        code_place_at(code, module, code_routine_address(code, module, r));
    for (uint32_t p = 0; p < code_n_places(code); p++) {
        const struct code_place *place = code_place(code, p);
        if (place->source == p && place->is_loop && place->depth == depth && place->routine != NULL &&
            strcmp(place->routine, routine) == 0)
            return place;
    }
    return NULL;
}

static void test_inlining(void **state)
{
    (void)state;
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/c-O2", NULL, 0);
    const struct code_place *loop = find_loop(code, module, "kernel", 1);
    assert_non_null(loop);
    assert_string_equal(loop->host_routine, "calls_twice");
    const struct code_place *routine = code_place(code, loop->parent);
    assert_string_equal(routine->routine, "calls_twice");
    struct code_spot spot = code_spot_at(code, module, loop->address);
    assert_string_equal(spot.routine, "kernel");
    assert_string_equal(spot.host_routine, "calls_twice");
    assert_true(spot.line >= loop->line_first && spot.line <= loop->line_last);
    assert_true(spot.call_line > routine->line_first && spot.call_line <= routine->line_last);
    assert_true(spot.block != 0);
    /* Both copies are one place. */
    unsigned n_copies = 0;
    for (uint32_t p = 0; p < code_n_places(code); p++)
        n_copies += code_place(code, p)->is_loop && strcmp(code_place(code, p)->routine, "kernel") == 0;
    assert_int_equal(n_copies, 1);
    code_close(code);
}

#ifdef HAVE_FORTRAN
/* A parallel region has the name of its procedure, not one made of the linked name. */
static void test_parallel_regions(void **state)
{
    (void)state;
    static const char *const yes[] = {"smooth", "relax"}, *const no[] = {"mesh::smooth", "relax_"};
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/parts", NULL, 0);
    for (int i = 0; i < 2; i++) {
        assert_non_null(find_loop(code, module, yes[i], 1));
        assert_null(find_loop(code, module, no[i], 1));
    }
    code_close(code);
}

/* Where a call has no line of its own, the compiler gives it that of the procedure: then it has the one before. */
static void test_calls_are_not_at_the_procedure(void **state)
{
    (void)state;
    enum { PROCEDURE = 14, WAITS_1 = 25, WAITS_2 = 30, END = 32 };
    static const char *const program[] = {SHAPES_BIN "/calls-f90-O0", SHAPES_BIN "/calls-f90-O2"};
    for (int i = 0; i < 2; i++) {
        struct code *code = code_open();
        uint32_t module = code_add_module(code, program[i], NULL, 0);
        bool is_first = true, waits[] = {false, false};
        for (uint32_t r = 0; r < code_n_routines(code, module); r++)
            for (uint64_t at = code_routine_address(code, module, r); at < code_routine_address(code, module, r + 1);
                 at++) {
                struct code_spot spot = code_spot_at(code, module, at);
                if (spot.line < PROCEDURE || spot.line > END || !spot.routine || strcmp(spot.routine, "exchange") != 0)
                    continue;
                is_first &= spot.line == PROCEDURE;
                assert_true(is_first || spot.line != PROCEDURE);
                waits[0] |= spot.line > PROCEDURE && spot.line <= WAITS_1;
                waits[1] |= spot.line > WAITS_1 && spot.line <= WAITS_2;
            }
        assert_true(!is_first && waits[0] && waits[1]);
        code_close(code);
    }
}
#endif

/* Each instance of a template is a place of its own, however often it is inlined. */
static void test_template(void **state)
{
    (void)state;
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/cpp-O2", NULL, 0);
    const struct code_place *of_double = find_loop(code, module, "grid::Field<double>::total", 1),
                            *of_float = find_loop(code, module, "grid::Field<float>::total", 1);
    assert_non_null(of_double);
    assert_non_null(of_float);
    assert_int_not_equal(of_double->source, of_float->source);
    assert_int_equal(of_double->line_first, of_float->line_first);
    assert_int_equal(code_place_at(code, module, of_double->address), of_double->source);
    assert_int_equal(code_place_at(code, module, of_float->address), of_float->source);
    code_close(code);
}

/* Without symbols and debug information the same loops are found, at the same addresses. */
static void test_stripped(void **state)
{
    (void)state;
    size_t n_notes;
    struct code *code = code_open();
    uint32_t full = code_add_module(code, SHAPES_BIN "/c-O2", NULL, 0);
    uint32_t stripped = code_add_module(code, SHAPES_BIN "/c-stripped", NULL, 0);
    assert_int_equal(code_module_state(code, full), CODE_FULL);
    assert_int_equal(code_module_state(code, stripped), CODE_SYMBOLS);
    assert_non_null(strstr(code_notes(code, &n_notes)[0], "no debug information"));
    unsigned n_same = 0;
    for (uint32_t r = 0; r < code_n_routines(code, full); r++) {
        uint64_t lo = code_routine_address(code, full, r);
        uint64_t hi = code_routine_address(code, full, r + 1);
        for (uint64_t at = lo; at < hi && code_place_at(code, full, at) != CODE_NONE; at++) {
            const struct code_place *place = code_place(code, code_place_at(code, full, at));
            uint32_t other = code_place_at(code, stripped, at);
            if (place->file == NULL || other == CODE_NONE)
                continue;
            assert_int_equal(place->is_loop, code_place(code, other)->is_loop);
            struct code_routine routine;
            assert_int_equal(code_routines_at(code, stripped, at, &routine, 1), 1);
            assert_null(routine.name);
            assert_int_equal(routine.address, code_place(code, other)->routine_address);
            n_same++;
        }
    }
    assert_true(n_same > 1000);
    code_close(code);
}

/* Which part of a routine is out of line is told alike with names and without, whichever is asked for first: here the
 * one behind the other, as linkers place what is seldom executed in front. */
static void test_stripped_cold(void **state)
{
    (void)state;
    struct code *code = code_open();
    uint32_t full = code_add_module(code, SHAPES_BIN "/cold", NULL, 0);
    uint32_t stripped = code_add_module(code, SHAPES_BIN "/cold-stripped", NULL, 0);
    unsigned n_parts = 0;
    for (uint32_t r = code_n_routines(code, full); r-- > 0;) {
        uint64_t at = code_routine_address(code, full, r);
        uint32_t place = code_place_at(code, full, at), other = code_place_at(code, stripped, at);
        const char *name = place == CODE_NONE ? NULL : code_place(code, place)->host_routine;
        if (name == NULL || strcmp(name, "walk") != 0)
            continue;
        assert_int_equal(code_place(code, other)->routine_address, code_place(code, place)->routine_address);
        n_parts++;
    }
    assert_int_equal(n_parts, 2);
    code_close(code);
}

/* What would take memory without end is left alone; the routine beside it is not. */
static void test_nested(void **state)
{
    (void)state;
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/nested", NULL, 0);
    assert_true(find_loop(code, module, "nested", 1) == NULL);
    const struct code_place *loop = find_loop(code, module, "plain", 1);
    assert_non_null(loop);
    assert_int_equal(loop->address, loop->routine_address + 1);
    code_close(code);
}

/* A line behind the loop that stays in force over padding is not the loop's. */
static void test_padded(void **state)
{
    (void)state;
    struct code *code = code_open();
    const struct code_place *loop = find_loop(code, code_add_module(code, SHAPES_BIN "/padded", NULL, 0), "padded", 1);
    assert_non_null(loop);
    assert_int_equal(loop->line_first, 12);
    assert_int_equal(loop->line_last, 13);
    code_close(code);
}

/* A jump whose label was loaded elsewhere goes where the other jumps through the labels go: all that goes round is one
 * loop. */
static void test_threaded(void **state)
{
    (void)state;
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/threaded", NULL, 0);
    const struct code_place *loop = find_loop(code, module, "threaded", 1);
    assert_non_null(loop);
    uint32_t n_inside = 0, n_outside = 0;
    for (uint64_t at = loop->routine_address; at < loop->routine_address + 0x30; at++) {
        uint32_t place = code_place_at(code, module, at);
        n_inside += place == loop->id;
        n_outside += place != loop->id && n_inside > 0 && place != CODE_NONE;
    }
    assert_true(n_inside > 30);
    assert_int_equal(n_outside, 0);
    code_close(code);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"relax", "relax"},
        {"relax.constprop.0", "relax"},
        {"relax.cold", "relax"},
        {"main._omp_fn.0", "main"},
        {"_ZN3sim5relaxIdEEvPT_i", "sim::relax<double>"},
        {"_ZNK4grid5FieldIdE5totalEv", "grid::Field<double>::total"},
        {"_ZplRK1AS1_", "operator+"},
        {"_ZNK1AclEi", "A::operator()"},
        {"_ZN12_GLOBAL__N_16sorterERSt6vectorIdSaIdEE", "(anonymous namespace)::sorter"},
        {"_ZN1AcvbEv", "A::operator bool"},
        {"_ZN1AIXadL_Z1fiEEE1gEv", "A<&(f(int))>::g"},
        {"__mesh_MOD_relax", "mesh::relax"},
        {"MAIN__", "MAIN__"},
        {"_Zbroken", "_Zbroken"},
        {".", "."},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(name_readable(&arena, cases[i][0]), cases[i][1]);
    assert_null(name_readable(&arena, ""));
    assert_null(name_readable(&arena, NULL));
    assert_true(name_is_noreturn("exit") && name_is_noreturn("__cxa_throw") && name_is_noreturn("_Exit"));
    assert_true(name_is_noreturn("_ZSt20__throw_length_errorPKc"));
    assert_false(name_is_noreturn("MPI_Abort") || name_is_noreturn("printf") || name_is_noreturn(NULL));
    arena_release(&arena);
}

/* "_Z4workI4listIJLi0ELi1E...EEEvv" */
static char *mangled_list(unsigned n)
{
    char *name = malloc(64 + 16 * (size_t)n), *end = stpcpy(name, "_Z4workI4listIJ");
    assert_non_null(name);
    for (unsigned i = 0; i < n; i++)
        end += sprintf(end, "Li%uE", i);
    strcpy(end, "EEEvv");
    return name;
}

/* Pointers to pointers, and types that name what is before them twice: as long as text is, when it is printed. */
static char *mangled_hostile(unsigned n, bool is_deep)
{
    char *name = malloc(64 + 16 * (size_t)n), *end = stpcpy(name, "_Z1f");
    assert_non_null(name);
    for (unsigned i = 0; i < n; i++)
        end = stpcpy(end, is_deep ? "P" : i == 0 ? "1aIiiE" : i == 1 ? "S_IS0_S0_E" : "S_IS1_S1_E");
    strcpy(end, is_deep ? "i" : "");
    return name;
}

static void test_long_names(void **state)
{
    (void)state;
    static const char begin[] = "work<list<0, 1, 2, 3, ";
    struct arena arena = {0};
    for (unsigned n = 64; n <= 8192; n *= 2) {
        char *mangled = mangled_list(n);
        const char *name = name_readable(&arena, mangled);
        assert_int_equal(strncmp(name, begin, strlen(begin)), 0);
        assert_true(name[strlen(name) - 1] == '>' && (strstr(name, ", ...> >") != NULL) == (n > 128));
        free(mangled);
    }
    for (unsigned n = 4; n <= 60000; n *= 5) {
        char *deep = mangled_hostile(n, true), *wide = mangled_hostile(n, false);
        assert_non_null(name_readable(&arena, deep));
        assert_true(strlen(name_readable(&arena, wide)) <= 1 << 20);
        free(deep);
        free(wide);
    }
    arena_release(&arena);
}

static void test_runtime(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib64/ld-linux-x86-64.so.2",
        "/usr/lib/libm-2.31.so",
        "/usr/lib/libstdc++.so.6.0.30",
        "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4",
        "/usr/lib/x86_64-linux-gnu/libopen-pal.so.40",
        "/usr/lib/openmpi/mca_btl_vader.so",
        "libopenblas.so.0",
        "/opt/lib/libmkl_core.so.2",
        "libfftw3.so.3",
        "libmpi_usempif08.so.40",
        "libmpich.so.12",
        "libmpifort.so",
        "/x/libwhywait.so",
        "[vdso]",
        "",
    };
    static const char *const no[] = {
        "/home/u/app", "/usr/bin/lmp",  "/usr/lib/liblammps.so.0", "./a.out",    "libmesh.so",
        "libcfd.so.1", "libmpimesh.so", "/opt/libc/app",           "/home/u/ld",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!runtime_is_library(yes[i]))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (runtime_is_library(no[i]))
            fail_msg("%s", no[i]);
    assert_true(runtime_is_library(NULL));
}

static void test_interpreters(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        {"/usr/bin/python3.11", "Python"},
        {"/opt/conda/lib/libpython3.12.so.1.0", "Python"},
        {"/usr/bin/python", "Python"},
        {"/opt/lib/libpython3.7m.so.1.0", "Python"},
        {"/opt/bin/python3.13t", "Python"},
        {"/opt/bin/pythont", NULL},
        {"/usr/lib/R/lib/libR.so", "R"},
        {"/usr/lib/x86_64-linux-gnu/libguile-3.0.so.1", "Scheme"},
        {"/usr/bin/python3-config", NULL},
        {"/home/u/pythonic", NULL},
        {"/home/u/R3d", NULL},
        {"/home/u/R", NULL}, /* the interpreter of R is a library */
        {"libRmath.so", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *language = interpreter_language(paths[i][0]);
        if (!language != !paths[i][1] || (language && strcmp(language, paths[i][1])))
            fail_msg("%s: %s", paths[i][0], language ? language : "none");
    }
}

/* Stripped, and yet with names: those of methods, the first of several by alphabet. */
static void test_methods(void **state)
{
    (void)state;
    static const char *const names[] = {"relax", "again"};
    struct code *code = code_open();
    uint32_t module = code_add_module(code, SHAPES_BIN "/planted.cpython-0.so", NULL, 0);
    unsigned n_found = 0;
    for (uint32_t r = 0; r < code_n_routines(code, module); r++) {
        struct code_routine routine;
        code_routines_at(code, module, code_routine_address(code, module, r), &routine, 1);
        for (size_t i = 0; routine.name != NULL && i < sizeof names / sizeof *names; i++)
            n_found += strcmp(routine.name, names[i]) == 0;
        assert_true(routine.name == NULL || (strcmp(routine.name, "width") && strcmp(routine.name, "twice")));
    }
    assert_int_equal(n_found, 2);
    code_close(code);
}

static void test_extension_modules(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        {"/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
         "numpy.core._multiarray_umath"},
        {"/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", "_json"},
        {"/home/u/site-packages/old/lib/python3/site-packages/a/b.abi3.so", "a.b"},
        {"/home/u/build/solver.cpython-312-x86_64-linux-gnu.so", "solver"},
        {"/x/site-packages/torch/_C.so", "torch._C"},
        {"/x/site-packages/numpy.libs/libgfortran.so.5", NULL},
        {"/usr/lib/libmesh.so", NULL},
        {"/home/u/app", NULL},
        {"", NULL},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *name = extension_name(&arena, paths[i][0]);
        if (!name != !paths[i][1] || (name && strcmp(name, paths[i][1])))
            fail_msg("%s: %s", paths[i][0], name ? name : "none");
    }
    assert_string_equal(library_name(&arena, "/usr/lib/libmesh.so.1"), "libmesh.so.1");
    arena_release(&arena);
}

static void check_spins(const char *path)
{
    struct code *code = code_open();
    uint32_t module = code_add_module(code, path, NULL, 0), n_spins = 0, n_works = 0;
    for (uint32_t r = 0; r < code_n_routines(code, module); r++)
        code_place_at(code, module, code_routine_address(code, module, r));
    for (uint32_t p = 0; p < code_n_places(code); p++) {
        const struct code_place *place = code_place(code, p);
        bool spins = place->host_routine && !strncmp(place->host_routine, "spin_", 5);
        bool works = place->host_routine && !strncmp(place->host_routine, "work_", 5);
        if (!place->is_loop || !(spins || works) || place->source != place->id)
            continue;
        if (place->is_spinning != spins)
            fail_msg("%s: %s is taken for one that %s", path, place->host_routine, spins ? "works" : "spins");
        n_spins += spins;
        n_works += works;
    }
    assert_true(n_spins >= 10 && n_works >= 9);
    code_close(code);
}

/* Loops that only look at memory are waits of their own, however they are compiled. Without optimisation counts stay in
 * memory, where a loop looks at them. */
static void test_spins(void **state)
{
    (void)state;
    check_spins(SHAPES_BIN "/spins-O1");
    check_spins(SHAPES_BIN "/spins-O2");
    check_spins(SHAPES_BIN "/spins-O3");
#ifdef HAVE_PLUGIN
    check_spins(SHAPES_BIN "/spins-counted");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relative_paths),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_inlining),
        cmocka_unit_test(test_template),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_stripped_cold),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_padded),
        cmocka_unit_test(test_threaded),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_runtime),
        cmocka_unit_test(test_interpreters),
        cmocka_unit_test(test_extension_modules),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_spins),
#ifdef HAVE_FORTRAN
        cmocka_unit_test(test_parallel_regions),
        cmocka_unit_test(test_calls_are_not_at_the_procedure),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
