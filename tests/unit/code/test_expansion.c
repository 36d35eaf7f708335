/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a file holds in compressed form: symbols that a distribution leaves in stripped programs by xz are read; what
 * expands beyond reason is not, nor is memory taken for it. A file of debug information on which opening waits is left.
 */
#include "analyze/code/code.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUTINE "collatz" /* of shapes.c; the dynamic symbols of a program do not name it */
enum { BOMB_MB = 700, MOST_MB = 350, NESTED_MB = 64, LIMIT_SECONDS = 60 };
static char dir[] = "/tmp/whywait-expansion.XXXXXX";

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

/* The file and then so many megabytes of zeros, by xz. */
static void compress_file(const char *path, unsigned zeros_mb, const char *to)
{
    static uint8_t in[1 << 20], out[1 << 20];
    lzma_stream stream = LZMA_STREAM_INIT;
    FILE *from = path ? fopen(path, "rb") : NULL, *file = fopen(to, "wb");
    assert_true(file && (from || !path));
    assert_int_equal(lzma_easy_encoder(&stream, 0, LZMA_CHECK_CRC32), LZMA_OK);
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK) {
        if (stream.avail_in == 0) {
            stream.next_in = in;
            stream.avail_in = from ? fread(in, 1, sizeof in, from) : 0;
            if (stream.avail_in == 0 && zeros_mb > 0) {
                zeros_mb--;
                memset(in, 0, sizeof in);
                stream.avail_in = sizeof in;
            }
        }
        stream.next_out = out;
        stream.avail_out = sizeof out;
        status = lzma_code(&stream, stream.avail_in ? LZMA_RUN : LZMA_FINISH);
        fwrite(out, 1, sizeof out - stream.avail_out, file);
    }
    assert_int_equal(status, LZMA_STREAM_END);
    lzma_end(&stream);
    fclose(file);
    if (from)
        fclose(from);
}

struct reading {
    unsigned n_named; /* routines of that name */
    long most_mb;     /* of memory */
};

static unsigned n_of_the_name(const char *path)
{
    struct code *code = code_open();
    uint32_t module = code_add_module(code, path, NULL, 0);
    unsigned n = 0;
    for (uint32_t r = 0; r < code_n_routines(code, module); r++) {
        struct code_routine routine;
        uint64_t at = code_routine_address(code, module, r);
        n += code_routines_at(code, module, at, &routine, 1) > 0 && routine.name && !strcmp(routine.name, ROUTINE);
    }
    code_close(code);
    return n;
}

/* In a process of its own. */
static struct reading read_module(const char *path)
{
    int status = 0;
    struct rusage usage;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(LIMIT_SECONDS);
        _exit((int)n_of_the_name(path));
    }
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status));
    return (struct reading){.n_named = (unsigned)WEXITSTATUS(status), .most_mb = usage.ru_maxrss / 1024};
}

/* A stripped program with this file as its MiniDebugInfo. */
static struct reading read_with(const char *symbols)
{
    shell("cd %s && " OBJCOPY " --remove-section .gnu_debugdata --add-section .gnu_debugdata=%s " SHAPES_BIN
          "/c-stripped program 2>&1",
          dir, symbols);
    char path[64];
    snprintf(path, sizeof path, "%s/program", dir);
    return read_module(path);
}

static void symbols_by_xz_are_read(void **state)
{
    char symbols[64], compressed[64];
    (void)state;
    snprintf(symbols, sizeof symbols, "%s/symbols", dir);
    snprintf(compressed, sizeof compressed, "%s/symbols.xz", dir);
    shell(OBJCOPY " --strip-debug " SHAPES_BIN "/c-O2 %s", symbols);
    compress_file(symbols, 0, compressed);
    assert_int_equal(read_module(SHAPES_BIN "/c-stripped").n_named, 0);
    assert_int_equal(read_with(compressed).n_named, 1);
}

/* Zeros alone, zeros behind the symbols, and symbols of which a section is compressed once more. */
static void what_expands_beyond_reason_takes_no_memory(void **state)
{
    char symbols[64], compressed[64];
    (void)state;
    snprintf(symbols, sizeof symbols, "%s/symbols", dir);
    snprintf(compressed, sizeof compressed, "%s/bomb.xz", dir);
    compress_file(NULL, BOMB_MB, compressed);
    assert_in_range(read_with(compressed).most_mb, 0, MOST_MB);
    shell(OBJCOPY " --strip-debug " SHAPES_BIN "/c-O2 %s", symbols);
    compress_file(symbols, BOMB_MB, compressed);
    assert_in_range(read_with(compressed).most_mb, 0, MOST_MB);
    shell("head -c %um /dev/zero > %s/zeros && " OBJCOPY
          " --add-section .debug_str=%s/zeros --compress-debug-sections=zlib-gabi "
          "%s 2>&1",
          NESTED_MB, dir, dir, symbols);
    compress_file(symbols, 0, compressed);
    assert_int_equal(read_with(compressed).n_named, 0);
}

/* A program names the file that has the debug information of a unit: here a pipe, to which nobody writes. */
static void no_reading_waits_for_split_debug_information(void **state)
{
    (void)state;
    shell("cd %s && echo 'static int " ROUTINE "(int n) { int s = 0; while (n--) s += n * n; return s; }"
          "int main(int n, char **a) { (void)a; return " ROUTINE "(n); }' > split.c && "
          "gcc -g -O0 -gsplit-dwarf -c split.c && gcc split.o -o split",
          dir);
    char path[64];
    snprintf(path, sizeof path, "%s/split", dir);
    assert_int_equal(read_module(path).n_named, 1);
    shell("cd %s && rm split.dwo && mkfifo split.dwo", dir);
    assert_int_equal(read_module(path).n_named, 1);
    shell("cd %s && rm split.dwo && ln -s /dev/zero split.dwo", dir);
    assert_int_equal(read_module(path).n_named, 1);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    shell("rm -r %s", dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_by_xz_are_read),
        cmocka_unit_test(what_expands_beyond_reason_takes_no_memory),
        cmocka_unit_test(no_reading_waits_for_split_debug_information),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
