/* SPDX-License-Identifier: BSD-3-Clause */
/* Parcels reach the others whole; a process that is lost is lost for all; nothing is left at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/engine/engine.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16, BYTES_MAX = 4000 };

/* Bytes that process `from` gives to `to`. Sizes differ, and are 0 as well. */
static size_t fill(unsigned char *bytes, uint32_t round, uint32_t from, uint32_t to)
{
    size_t n = (round * 991 + from * 397 + to * 131) % BYTES_MAX;
    n = n % 5 ? n : 0;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(round + 3 * from + 7 * to + i * i);
    return n;
}

static bool is_from(struct parcel parcel, uint32_t round, uint32_t from, uint32_t to)
{
    unsigned char bytes[BYTES_MAX];
    size_t n = fill(bytes, round, from, to);
    return parcel.n_bytes == n && (!n || !memcmp(parcel.at, bytes, n));
}

static bool exchanges_well(struct engine *engine, uint32_t round)
{
    static unsigned char bytes[MOST][BYTES_MAX];
    struct parcel give[MOST] = {0}, take[MOST];
    uint32_t n = engine_n(engine);
    bool is_right = true;
    for (uint32_t i = 0; i < n; i++)
        give[i] = (struct parcel){bytes[i], fill(bytes[i], round, engine->number, i)};
    engine_exchange(engine, give, take);
    for (uint32_t i = 0; i < n; i++)
        is_right = is_right && (n > 1 && engine->is_lost[i] ? take[i].n_bytes == PARCEL_LOST
                                                            : is_from(take[i], round, i, engine->number));
    return is_right;
}

/* In number 0: whether all that are there say so. */
static bool all_agree(struct engine *engine, bool is_right)
{
    struct parcel take[MOST];
    engine_gather(engine, (struct parcel){&is_right, sizeof is_right}, take);
    for (uint32_t i = 0; i < engine_n(engine) && engine_is_first(engine); i++)
        if (take[i].n_bytes != PARCEL_LOST)
            is_right = is_right && take[i].n_bytes == sizeof is_right && *(const bool *)take[i].at;
    return is_right;
}

static uint32_t n_descriptors(void)
{
    uint32_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void test_exchanges(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    static const uint32_t sizes[] = {0, 1, 2, 3, 7, MOST};
    uint32_t n_before = n_descriptors();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct engine engine = {0};
        bool is_right = true;
        engine_fork(&engine, sizes[k]);
        for (uint32_t round = 0; round < ROUNDS; round++)
            is_right = exchanges_well(&engine, round) && is_right;
        is_right = all_agree(&engine, is_right);
        engine_end(&engine);
        assert_true(is_right);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
    }
    assert_int_equal(n_descriptors(), n_before);
}

static void test_tells_all(void **state)
{
    (void)state;
    struct engine engine = {0};
    struct parcel take[3];
    engine_fork(&engine, 3);
    uint32_t mine = 100 + engine.number;
    engine_tell_all(&engine, (struct parcel){&mine, sizeof mine}, take);
    bool is_right = true;
    for (uint32_t i = 0; i < 3; i++)
        is_right = is_right && take[i].n_bytes == sizeof mine && *(const uint32_t *)take[i].at == 100 + i;
    engine_exchange(&engine, NULL, take); /* nobody gives anything */
    for (uint32_t i = 0; i < 3; i++)
        is_right = is_right && take[i].n_bytes == 0;
    is_right = all_agree(&engine, is_right);
    engine_end(&engine);
    assert_true(is_right);
}

enum end { DIES, STOPS, GIVES_UP, ENDS };

static void come_to_end(struct engine *engine, enum end end)
{
    if (end == DIES)
        raise(SIGKILL);
    else if (end == STOPS)
        raise(SIGSTOP);
    else if (end == GIVES_UP)
        engine_give_up(engine);
    _exit(3);
}

/* Processes 2 and 3 of 5 are lost in different rounds. */
static void test_goes_on_without(void **state)
{
    (void)state;
    setenv("WHYWAIT_PATIENCE", "1", 1);
    for (enum end end = DIES; end <= ENDS; end++) {
        struct engine engine = {0};
        bool is_right = true;
        engine_fork(&engine, 5);
        for (uint32_t round = 0; round < 6; round++) {
            if ((round == 2 && engine.number == 3) || (round == 4 && engine.number == 2))
                come_to_end(&engine, end);
            is_right = exchanges_well(&engine, round) && is_right;
            is_right = is_right && engine.is_lost[3] == (round >= 2) && engine.is_lost[2] == (round >= 4);
        }
        is_right = all_agree(&engine, is_right) && !engine.is_lost[1] && !engine.is_lost[4];
        engine_end(&engine);
        assert_true(is_right);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    unsetenv("WHYWAIT_PATIENCE");
}

/* Longer than anybody is patient, but at work. */
static void test_waits_for_who_works(void **state)
{
    (void)state;
    struct engine engine = {0};
    setenv("WHYWAIT_PATIENCE", "2", 1);
    engine_fork(&engine, 2);
    for (int i = 0; i < 400 && engine.number; i++) {
        usleep(10000);
        engine_tick(&engine);
    }
    bool is_right = all_agree(&engine, true) && !engine.is_lost[1];
    engine_end(&engine);
    assert_true(is_right);
    unsetenv("WHYWAIT_PATIENCE");
}

/* Processes that are left behind become children of this one. */
static void test_ends_with_the_first(void **state)
{
    (void)state;
    int n_ended = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        struct engine engine = {0};
        struct parcel take[4];
        engine_fork(&engine, 4);
        if (engine.number == 1)
            sleep(60); /* at work, for so long */
        if (engine_is_first(&engine)) {
            usleep(50000);
            raise(SIGKILL);
        }
        engine_exchange(&engine, NULL, take);
        _exit(1);
    }
    while (wait(NULL) > 0)
        n_ended++;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    assert_in_range(n_ended, 1, 4);
}

/* By hand, since it takes some GB of memory: parcels that no int can count. */
static void test_large(void **state)
{
    (void)state;
    const size_t n = ((size_t)1 << 31) + 77;
    struct engine engine = {0};
    struct parcel take[2];
    engine_fork(&engine, 2);
    uint32_t other = 1 - engine.number;
    unsigned char *bytes = calloc(1, n);
    bytes[n - 1] = (unsigned char)(1 + engine.number);
    engine_tell_all(&engine, (struct parcel){bytes, n}, take);
    bool is_right = take[other].n_bytes == n && ((const unsigned char *)take[other].at)[n - 1] == 1 + other;
    is_right = all_agree(&engine, is_right);
    engine_end(&engine);
    free(bytes);
    assert_true(is_right);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest large[] = {cmocka_unit_test(test_large)},
                            tests[] = {
                                cmocka_unit_test(test_exchanges),           cmocka_unit_test(test_tells_all),
                                cmocka_unit_test(test_goes_on_without),     cmocka_unit_test(test_waits_for_who_works),
                                cmocka_unit_test(test_ends_with_the_first),
                            };
    bool is_large = argc > 1 && !strcmp(argv[1], "large");
    return is_large ? cmocka_run_group_tests(large, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
