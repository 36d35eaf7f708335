/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/never_waits.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_what_only_tells_or_converts(void **state)
{
    (void)state;
    static const char *const names[] = {
        "MPI_Wtime",        "mpi_wtick_",         "MPI_T_pvar_read",    "MPI_Abi_get_version", "MPI_Aint_add",
        "mpi_aint_diff_",   "MPI_Comm_c2f",       "MPI_File_f2c",       "MPI_Status_c2f08",    "MPI_Status_f082c",
        "MPI_Status_f2f08", "mpi_status_f082f_",  "MPI_Comm_toint",     "MPI_Win_fromint",     "mpi_comm_null_copy_fn_",
        "MPI_COMM_DUP_FN",  "mpi_win_dup_fn_f08", "MPI_TYPE_DUP_FN_ABI"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(never_waits(names[i]));
}

static void test_what_may_wait(void **state)
{
    (void)state;
    static const char *const names[] = {"MPI_Wait",        "mpi_waitall_",    "MPI_Test",      "MPI_Allreduce_init",
                                        "MPIX_Comm_agree", "MPI_Comm_idup_c", "mpi_send_f08_", "MPI_Fetch_and_op"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(never_waits(names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_only_tells_or_converts),
        cmocka_unit_test(test_what_may_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
