/* SPDX-License-Identifier: BSD-3-Clause */
/* What is added to causes: what a blocked one enters the kernel for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/profile/details.h"

static void routines_tell_what_the_kernel_is_entered_for(void **state)
{
    (void)state;
    static const struct {
        const char *routine;
        enum pause pause;
    } cases[] = {
        {"clock_nanosleep", PAUSE_SLEEP},
        {"__GI___clock_nanosleep", PAUSE_SLEEP},
        {"usleep", PAUSE_SLEEP},
        {"__GI___libc_write", PAUSE_FILE},
        {"pread64", PAUSE_FILE},
        {"__open64_nocancel", PAUSE_FILE},
        {"fsync", PAUSE_FILE},
        {"__GI_madvise", PAUSE_MEMORY},
        {"__munmap", PAUSE_MEMORY},
        {"__memset_avx2_unaligned_erms", PAUSE_MEMORY},
        {"__GI___wait4", PAUSE_CHILD},
        {"__waitpid", PAUSE_CHILD},
        {"waitid", PAUSE_CHILD},
        {"__libc_fork", PAUSE_CHILD},
        {"_Fork", PAUSE_CHILD},
        {"__vfork", PAUSE_CHILD},
        {"posix_spawnp@@GLIBC_2.15", PAUSE_CHILD},
        {"wait", PAUSE_UNKNOWN}, /* of a condition in C++ as well; that for processes is wait4 inside */
        {"__lll_lock_wait", PAUSE_UNKNOWN},
        {"readout", PAUSE_UNKNOWN},
        {"__pthread_cond_wait@@GLIBC_2.3.2", PAUSE_LOCK},
        {"___pthread_mutex_lock", PAUSE_LOCK},
        {"__libc_fcntl64", PAUSE_LOCK},
        {"__GI___poll", PAUSE_DATA},
        {"__select", PAUSE_DATA},
        {"selected", PAUSE_UNKNOWN},
        {"", PAUSE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pause_of_routine(cases[i].routine), cases[i].pause);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routines_tell_what_the_kernel_is_entered_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
