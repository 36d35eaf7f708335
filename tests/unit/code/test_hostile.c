/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged and hostile files: programs with random bytes overwritten, or cut short, are read from end to end. Each in a
 * process of its own, which must end in order and in time. WHYWAIT_FUZZ_SECONDS sets how long (default 5),
 * WHYWAIT_FUZZ_SEED where to begin; a failing file is kept and named.
 */
#include "analyze/code/code.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { LIMIT_SECONDS = 20, STEP_BYTES = 7 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void read_everything(const char *path)
{
    struct code *code = code_open();
    uint32_t module = code_add_module(code, path, NULL, 0);
    code_module_state(code, module);
    uint32_t n_routines = code_n_routines(code, module);
    for (uint32_t r = 0; r < n_routines; r++) {
        uint64_t at = code_routine_address(code, module, r);
        for (unsigned i = 0; i < 64; i++, at += STEP_BYTES) {
            uint32_t place = code_place_at(code, module, at);
            code_spot_at(code, module, at);
            for (unsigned depth = 0; place != CODE_NONE; depth++) {
                const struct code_place *p = code_place(code, place);
                if (p == NULL || depth > code_n_places(code))
                    abort();
                place = p->parent;
            }
        }
    }
    size_t n_notes;
    code_notes(code, &n_notes);
    code_close(code);
}

/* The bytes of a program; ends the test when it cannot be read. */
static unsigned char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*n);
    assert_true(bytes != NULL && fread(bytes, 1, *n, file) == *n);
    fclose(file);
    return bytes;
}

/* A few values that lengths and offsets trip over. */
static void damage(unsigned char *bytes, size_t n, uint64_t *state)
{
    static const uint64_t values[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX};
    uint64_t r = next_random(state);
    size_t at = r % 4 == 0 ? r / 4 % (n < 4096 ? n : 4096) : r / 4 % n; /* headers more often */
    size_t width = (size_t)1 << (next_random(state) % 4);
    uint64_t value = next_random(state) % 2 ? next_random(state) : values[next_random(state) % 9];
    if (at + width <= n)
        memcpy(bytes + at, &value, width);
}

static void write_mutant(const char *path, const unsigned char *original, size_t n, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    unsigned char *bytes = malloc(n);
    assert_non_null(bytes);
    memcpy(bytes, original, n);
    for (uint64_t left = 1 + next_random(&state) % 24; left > 0; left--)
        damage(bytes, n, &state);
    size_t n_kept = next_random(&state) % 16 == 0 ? next_random(&state) % n : n;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, bytes, n_kept) == (ssize_t)n_kept);
    close(fd);
    free(bytes);
}

/* The status of a process that reads the file. */
static int read_in_child(const char *path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (getenv("WHYWAIT_FUZZ_LOUD") == NULL)
            dup2(null, 2);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        alarm(LIMIT_SECONDS);
        read_everything(path);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_mutants(void **state)
{
    (void)state;
    static const char *const programs[] = {"c-O2",   "cpp-O2", "c-stripped",          "c-dwarf4",
                                           "omp-O2", "cpp-O0", "planted.cpython-0.so"};
    enum { PROGRAMS = sizeof programs / sizeof *programs };
    const char *seconds = getenv("WHYWAIT_FUZZ_SECONDS"), *first = getenv("WHYWAIT_FUZZ_SEED");
    time_t end = time(NULL) + (seconds != NULL ? atoi(seconds) : 5);
    uint64_t seed = first != NULL ? strtoull(first, NULL, 10) : 1;
    unsigned n_bad = 0, n_done = 0;
    char path[1024];
    for (; time(NULL) < end && n_bad < 10; seed++, n_done++) {
        size_t n;
        snprintf(path, sizeof path, "%s/%s", SHAPES_BIN, programs[seed % PROGRAMS]);
        unsigned char *bytes = read_file(path, &n);
        snprintf(path, sizeof path, "%s/mutant-%llu-%s", SHAPES_BIN, (unsigned long long)seed,
                 programs[seed % PROGRAMS]);
        write_mutant(path, bytes, n, seed);
        free(bytes);
        int status = read_in_child(path);
        if (status == 0) {
            unlink(path);
            continue;
        }
        print_error("%s: %s %d\n", path, WIFSIGNALED(status) ? "ended by signal" : "exit status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        n_bad++;
    }
    print_message("%u damaged programs read\n", n_done);
    assert_int_equal(n_bad, 0);
    assert_true(n_done > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
