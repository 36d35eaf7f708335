/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of expressions, by their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "analyze/profile/expression.h"
#include "wrap/base/containers.h"
#include <string.h>

static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } texts[] = {
        {"np.sqrt(values * values + 1.0)", "np.sqrt()"},
        {"sorted(points, key=lambda p: p[1])", "sorted()"},
        {"x[rows].sum()", "sum()"},
        {"'a)b'.join(f'{x}(' for x in \"(\")", "join()"},
        {"make()(3)", NULL},
        {"a * b + c", "the + of a * b + c"},
        {"a - b + c", "the + of a - b + c"},
        {"(a + b) * (c + d)", "the * of (a + b) * (c + d)"},
        {"-x ** 2", "the - of -x ** 2"},
        {"x ** -2", "the ** of x ** -2"},
        {"x *= 1e-3", "the *= of x *= 1e-3"},
        {"f(a) @ g(b)", "the @ of f(a) @ g(b)"},
        {"a < b", "the < of a < b"},
        {"a < b < c", NULL},
        {"np.concatenate((first_of_all, second_of_all)) @ third", "an operator @"},
        {"x[rows, :]", "x[rows, :]"},
        {"p.speed", "p.speed"},
        {"speed", NULL},
        {"(x for x in y)", "(x for x in y)"},
        {"[a for a in somewhere if a is not nowhere or b]", NULL},
        {"a if b else c", NULL},
        {"a and b", NULL},
        {"lambda: f(x)", NULL},
        {"a, b", NULL},
        {"f(x", NULL},
        {"'never ends", NULL},
        {"a\tb", NULL},
        {"", NULL},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *name = expression_name(&arena, texts[i].text, strlen(texts[i].text));
        if (texts[i].name)
            assert_string_equal(name, texts[i].name);
        else
            assert_null(name);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_expressions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
