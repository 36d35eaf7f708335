/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of control groups, from trees of files as the kernel shows them; the rest from this process itself. */
#include "wrap/record/process/machine.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

/* Makes the folders on the way to `file`, and it. */
static void put(const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static uint32_t limit(const char *groups)
{
    char dir[MACHINE_PATH_BYTES];
    return machine_read_limit(groups, root, dir);
}

/* A limit holds for all groups below it. */
static void tightest_on_the_way(void **state)
{
    (void)state;
    put("job/cpu.max", "250000 100000\n");
    put("job/step/cpu.max", "max 100000\n");
    put("job/step/task/cpu.max", "400000 100000\n");
    assert_int_equal(limit("0::/job/step/task\n"), 2500);
    assert_int_equal(limit("0::/job/step"), 2500);
    assert_int_equal(limit("0::/\n"), 0);
    assert_int_equal(limit("0::/elsewhere\n"), 0);
}

/* In a container the path is that of the host, and the group itself stands where the root should be. */
static void path_outside_the_container(void **state)
{
    (void)state;
    put("cpu.max", "50000 100000\n");
    assert_int_equal(limit("0::/../../host/a1b2\n"), 500);
    put("cpu.max", "max 100000\n");
}

static void version_1(void **state)
{
    (void)state;
    put("cpu/slurm/cpu.cfs_quota_us", "150000\n");
    put("cpu/slurm/cpu.cfs_period_us", "100000\n");
    put("cpu/cpu.cfs_quota_us", "-1\n");
    put("cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(limit("9:name=systemd:/\n4:cpuacct,cpu:/slurm\n3:cpuset:/\n0::/\n"), 1500);
    assert_int_equal(limit("3:cpuset:/slurm\n2:cpuacct:/slurm\n"), 0);
    assert_int_equal(limit("nonsense\n\n:::\n4:cpu"), 0);
}

static void this_process(void **state)
{
    (void)state;
    struct ww_machine machine;
    cpu_set_t one;
    uint8_t cpus[WW_CPUS_BYTES] = {0};
    machine_begin(&machine);
    assert_int_equal(machine.n_cpus, sysconf(_SC_NPROCESSORS_ONLN));
    machine_read_cpus(0, cpus);
    unsigned cpu = 0;
    while (!(cpus[cpu / 8] >> cpu % 8 & 1))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    memset(cpus, 0, sizeof cpus);
    machine_read_cpus(0, cpus);
    for (unsigned i = 0; i < sizeof cpus; i++)
        assert_int_equal(cpus[i], i == cpu / 8 ? 1 << cpu % 8 : 0);
    struct timespec used;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < 100000000);
    assert_true(machine_thread_ns(getpid()) >= 100000000);
    machine_watch(&machine, 7);
    assert_int_equal(machine.watched_ns, 7);
    assert_true(machine.own_ns > 50000000);
    assert_int_equal(machine_thread_ns(getppid()), 0);
}

int main(void)
{
    snprintf(root, sizeof root, "/tmp/whywait-machine-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(tightest_on_the_way),
                                       cmocka_unit_test(path_outside_the_container), cmocka_unit_test(version_1),
                                       cmocka_unit_test(this_process)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return failed || system(command);
}
