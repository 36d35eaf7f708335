/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the recorder takes for an MPI's values and types (pmpi/abi.def, abi.h), against the header of the MPI that this
 * test is linked with. The header and abi.h cannot be read together: what abi.h says of types comes from a second file
 * of this test, which is compiled with it.
 */
// clang-format off
#include "tests/unit/record/pmpi/installed.h"
// clang-format on
#include "tests/unit/record/pmpi/ours.h"
#include "wrap/record/pmpi/abi.h"
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_constants_are_theirs(void **state)
{
    (void)state;
#define ABI_CONSTANT(name, open_mpi, mpich, standard) assert_int_equal(ABI_COLUMN(open_mpi, mpich, standard), name);
#include "wrap/record/pmpi/abi.def"
#define ABI_ADDRESS(name, type, open_mpi, mpich, standard)                                                             \
    assert_int_equal((intptr_t)ABI_COLUMN(open_mpi, mpich, standard), (intptr_t)(name));
#include "wrap/record/pmpi/abi.def"
}

static void test_handles_are_theirs(void **state)
{
    (void)state;
#define ABI_HANDLE(field, type, name, open_mpi, mpich, standard)                                                       \
    assert_int_equal((uint32_t)(uintptr_t)ABI_COLUMN(dlsym(RTLD_DEFAULT, #open_mpi), mpich, standard),                 \
                     (uint32_t)(uintptr_t)(name));
#include "wrap/record/pmpi/abi.def"
}

static void test_types_are_theirs(void **state)
{
    (void)state;
    static const size_t theirs[] = {ABI_SIZES};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        assert_int_equal(our_sizes[i], theirs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_theirs),
        cmocka_unit_test(test_handles_are_theirs),
        cmocka_unit_test(test_types_are_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
