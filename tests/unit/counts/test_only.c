/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions a user's patterns choose. */
#include "wrap/only.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void patterns_choose_functions(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        uint64_t chosen;
    } cases[] = {
        {"f", 1},
        {"A<double>::f", 1},
        {"ns::A<double>::f", 1},
        {"ns::*", 1},
        {"*::f", 1},
        {"f(double, int)", 1},
        {"_ZN2ns1AIdE1fEdi", 1},
        {"solver.cpp", 1},
        {"src/solver.cpp", 1},
        {"/home/src/solver.cpp", 1},
        {"solver.?pp", 1},
        {"*/src/*", 1},
        {"olver.cpp", 0},
        {"solver", 0},
        {"g", 0},
        {"ff", 0},
        {"", 0},
        {";;", 0},
        {"g;f", 2},
        {"g;;f;", 2},
        {"f;ns::*;nobody;*.cpp", 1 | 2 | 8},
        {"*a*b*c*d*e*", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t chosen =
            only_choose(cases[i].list, "_ZN2ns1AIdE1fEdi", "ns::A<double>::f(double, int)", "/home/src/solver.cpp");
        if (chosen != cases[i].chosen)
            fail_msg("\"%s\" chose %llx", cases[i].list, (unsigned long long)chosen);
    }
}

static void more_patterns_than_bits_do_no_harm(void **state)
{
    (void)state;
    char list[3 * ONLY_MOST];
    for (unsigned i = 0; i < sizeof list - 1; i++)
        list[i] = i % 2 ? ONLY_SEPARATOR : 'x';
    list[sizeof list - 1] = '\0';
    assert_true(only_choose(list, "x", "x", "x.c") == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_choose_functions),
                                       cmocka_unit_test(more_patterns_than_bits_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
