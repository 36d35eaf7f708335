/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of scripts by their text, and the places that a model makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "analyze/code/code.h"
#include "analyze/code/origin.h"
#include "analyze/code/script.h"
#include "wrap/base/containers.h"
#include "wrap/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "import os\n"                             /* 1 */
                           "\n"                                      /* 2 */
                           "@decorated(\n"                           /* 3 */
                           "    1)\n"                                /* 4 */
                           "def relax(n):\n"                         /* 5 */
                           "    \"\"\"for x in y:\n"                 /* 6 */
                           "  while it is a text.\"\"\"\n"           /* 7 */
                           "    for i in range(n):\n"                /* 8 */
                           "        # for a comment:\n"              /* 9 */
                           "        while i:\n"                      /* 10 */
                           "            i -= (1 +\n"                 /* 11 */
                           "2)\n"                                    /* 12 */
                           "\n"                                      /* 13 */
                           "    else:\n"                             /* 14 */
                           "        pass\n"                          /* 15 */
                           "    def inner():\n"                      /* 16 */
                           "        for k in 'for': print(k)\n"      /* 17 */
                           "    return [\n"                          /* 18 */
                           "        x for x in range(n)\n"           /* 19 */
                           "    ]\n"                                 /* 20 */
                           "\n"                                      /* 21 */
                           "class Grid:\n"                           /* 22 */
                           "    async def sweep(self):\n"            /* 23 */
                           "        async for row in self.rows:\n"   /* 24 */
                           "            y = \\\n"                    /* 25 */
                           "                row\n"                   /* 26 */
                           "        return sum(a[0] for a in row)\n" /* 27 */
                           "for format in (1,\n"                     /* 28 */
                           "               2):\n"                    /* 29 */
                           "\trelax(format)\n";                      /* 30 */

struct line_case {
    uint32_t line, first, last; /* of the innermost loop; 0 = none */
    const char *name;
    uint32_t first_line; /* of the routine */
};

static const struct line_case cases[] = {
    {8, 8, 12, "relax", 3},        {9, 8, 12, "relax", 3},          {10, 10, 12, "relax", 3},
    {12, 10, 12, "relax", 3},      {15, 0, 0, "relax", 3},          {7, 0, 0, "relax", 3},
    {17, 17, 17, "inner", 16},     {17, 0, 0, "relax", 3},          {19, 18, 20, "relax", 3},
    {24, 24, 26, "sweep", 23},     {26, 24, 26, "sweep", 23},       {27, 27, 27, "sweep", 23},
    {29, 28, 30, "<module>", 1},   {30, 28, 30, "<module>", 1},     {1, 0, 0, "<module>", 1},
    {19, 18, 20, "<genexpr>", 19}, {22, 0, 0, "never defined", 99},
};

static uint64_t address_of(const struct line_case *c)
{
    return (uint64_t)c->first_line << 32 | c->line;
}

static void check_places(struct code *code, uint32_t module, bool has_source)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct code_place *place = code_place(code, code_place_at(code, module, address_of(&cases[i])));
        bool is_loop = has_source && cases[i].first > 0;
        assert_non_null(place);
        assert_string_equal(place->routine, cases[i].name);
        assert_string_equal(place->file, "/a/solver.py");
        assert_int_equal(place->is_loop, is_loop);
        if (is_loop) {
            assert_int_equal(place->line_first, cases[i].first);
            assert_int_equal(place->line_last, cases[i].last);
        }
        struct code_spot spot = code_spot_at(code, module, address_of(&cases[i]));
        assert_int_equal(spot.line, cases[i].line);
        assert_string_equal(spot.routine, cases[i].name);
        const struct code_place *call =
            code_place(code, code_place_of_call(code, module, address_of(&cases[i]), false));
        assert_int_equal(call->line_first, cases[i].line);
        assert_false(call->is_loop);
    }
}

static void check_model(const char *source, bool has_source)
{
    struct code *code = code_open();
    uint32_t module = code_add_script(code, "/a/solver.py", source);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        code_name_routine(code, module, address_of(&cases[i]), cases[i].name);
    check_places(code, module, has_source);
    assert_true(code_has_script_routine(code, "sweep()", 5));
    assert_false(code_has_script_routine(code, "swee", 4));
    if (has_source) {
        uint32_t loops[4];
        assert_int_equal(code_loops_at(code, module, (uint64_t)3 << 32 | 11, loops, 4), 2);
        assert_int_equal(code_place(code, loops[1])->line_first, 8);
        assert_int_equal(code_place(code, loops[0])->parent, loops[1]);
    }
    /* A call of a package whose code has loops is not a loop of the script. */
    const struct code_place *call = code_place(code, code_place_of_call(code, module, (uint64_t)3 << 32 | 11, true));
    assert_false(call->is_loop);
    assert_int_equal(call->line_first, call->line_last);
    code_close(code);
}

static void test_places(void **state)
{
    char path[] = "/tmp/whywait-script-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    check_model(path, true);
    unlink(path);
    check_model(NULL, false);
    check_model("/tmp/whywait-no-such-script", false);
}

/* Any text, also one that ends anywhere: blocks that enclose each other. */
static void test_any_text(void **state)
{
    static const char *const pieces[] = {"for ",  "def f():", "\n",       "    ", "\t", "(", ")",
                                         "[x ",   "]",        "\"\"\"",   "'",    "\\", "#", "@a",
                                         "while", "async ",   "class C:", "é",    "{",  "0"};
    char any[400];
    (void)state;
    srandom(1);
    for (unsigned trial = 0; trial < 20000; trial++) {
        script_blocks blocks = {0};
        size_t n = 0;
        for (unsigned i = 0; i < 40; i++) {
            const char *piece = pieces[(size_t)random() % (sizeof pieces / sizeof *pieces)];
            memcpy(any + n, piece, strlen(piece));
            n += strlen(piece);
        }
        script_parse(any, n - (size_t)random() % 5, &blocks);
        for (size_t i = 0; i < blocks.n; i++) {
            const struct script_block *block = &blocks.at[i];
            assert_true(block->first >= 1 && block->first <= block->last && block->last <= 42);
            assert_true(block->parent == SCRIPT_NONE ||
                        (block->parent < i && blocks.at[block->parent].last >= block->last));
        }
        vec_release(&blocks);
    }
}

static void test_sources(void **state)
{
    char path[] = "/tmp/whywait-key-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(script_is_source("/home/u/app/solver.py"));
    assert_false(script_is_source("/home/u/.ssh/solver.py"));
    assert_true(script_is_source("/home/u/build/.././solver.py"));
    assert_false(script_is_source("/home/u/../.ssh/solver.py"));
    assert_false(script_is_source("solver.py"));
    assert_false(script_is_source("<string>"));
    assert_false(script_is_source(path));
    assert_true(write(fd, "#!/usr/bin/env python3\n", 23) == 23);
    assert_true(script_is_source(path));
    close(fd);
    unlink(path);
}

/* Which files are no part of the program, and what they are for. */
static void test_roles(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum code_role role;
    } known[] = {{"<frozen importlib._bootstrap>", CODE_ROLE_IMPORTS},
                 {"<frozen runpy>", CODE_ROLE_NONE},
                 {WW_CODE_COLLECTOR, CODE_ROLE_COLLECTS},
                 {"/usr/lib/python3.11/pickle.py", CODE_ROLE_INSTALLED},
                 {"/home/u/venv/lib/python3.12/site-packages/dask/core.py", CODE_ROLE_INSTALLED},
                 {"/usr/lib/python3/dist-packages/numpy/core/numeric.py", CODE_ROLE_INSTALLED},
                 {"/home/u/library/python3/app.py", CODE_ROLE_NONE},
                 {"<string>", CODE_ROLE_MADE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(script_role(known[i].path), known[i].role);
    assert_true(script_is_built_in(WW_CODE_COLLECTOR));
    /* Their packages, and the names by which they are imported. */
    static const struct {
        const char *path, *package, *name;
    } sources[] = {
        {"/home/u/venv/lib/python3.12/site-packages/dask/core.py", "/home/u/venv/lib/python3.12/site-packages/dask",
         "dask.core"},
        {"/usr/lib/python3/dist-packages/numpy/fft/__init__.py", "/usr/lib/python3/dist-packages/numpy", "numpy.fft"},
        {"/x/site-packages/six.py", "/x/site-packages/six.py", "six"},
        {"/usr/lib/python3.11/json/encoder.py", "", "json.encoder"},
        {"/home/u/app.py", "", "app"},
        {"<__array_function__ internals>", "<__array_function__ internals>", "<__array_function__ internals>"}};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        assert_int_equal(script_package_bytes(sources[i].path), strlen(sources[i].package));
        assert_string_equal(source_module_name(&arena, sources[i].path), sources[i].name);
    }
    arena_release(&arena);
    /* mpi4py is no code of the program, wherever it was built, and with whatever debug information. */
    struct code *code = code_open();
    uint32_t messenger = code_add_module(code, "/home/u/build/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so", NULL, 0);
    uint32_t other = code_add_module(code, "/home/u/build/solver/MPI.cpython-311-x86_64-linux-gnu.so", NULL, 0);
    assert_int_equal(code_module_role(code, messenger), CODE_ROLE_MESSENGER);
    assert_true(code_module_is_runtime(code, messenger));
    assert_int_equal(code_module_role(code, other), CODE_ROLE_NONE);
    assert_false(code_module_is_runtime(code, other));
    code_close(code);
}

static void test_text_at(void **state)
{
    struct arena arena = {0};
    (void)state;
    /* Of the file, as the columns of a line; a line or columns that it does not have are nothing. */
    char path[] = "/tmp/whywait-expression-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    assert_string_equal(script_text_at(&arena, path, 29, 15 << WW_CODE_COLUMN_BITS | 16), "2");
    assert_string_equal(script_text_at(&arena, path, 30, 1 << WW_CODE_COLUMN_BITS | 14), "relax(format)");
    assert_null(script_text_at(&arena, path, 30, 1 << WW_CODE_COLUMN_BITS | 15));
    assert_null(script_text_at(&arena, path, 31, 1 << WW_CODE_COLUMN_BITS | 2));
    assert_null(script_text_at(&arena, path, 99, 1 << WW_CODE_COLUMN_BITS | 2));
    unlink(path);
    assert_null(script_text_at(&arena, path, 30, 1 << WW_CODE_COLUMN_BITS | 14));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_at), cmocka_unit_test(test_places), cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_sources), cmocka_unit_test(test_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
