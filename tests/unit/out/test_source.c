/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/archive/keep.h"
#include "analyze/files/paths.h"
#include "analyze/out/source.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char path[64];
    struct step step;
    struct cause cause;
    struct cause_part part;
    struct wait_site site;
    struct trace trace;
    struct analysis analysis;
};

static int fixture_make(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->path, "/tmp/whywait-test-XXXXXX");
    FILE *file = fdopen(mkstemp(f->path), "w");
    for (int line = 1; line <= 30; line++)
        fprintf(file, line == 11 ? "\tbody\033[2J();\n" : "line %d\n", line);
    fclose(file);
    f->step = (struct step){.file = f->path, .line_first = 10, .line_last = 12, .is_loop = true};
    f->part = (struct cause_part){.waiting_ns = 2e9, .own_ns = 2e9};
    f->cause = (struct cause){.waiting_ns = 2e9, .parts = &f->part, .n_parts = 1};
    f->site = (struct wait_site){.file = f->path, .line = 25, .waiting_ns = 2e9};
    f->trace = (struct trace){.realtime_ns = UINT64_MAX};
    f->analysis = (struct analysis){.trace = &f->trace,
                                    .steps = &f->step,
                                    .causes = &f->cause,
                                    .sites = &f->site,
                                    .n_steps = 1,
                                    .n_causes = 1,
                                    .n_sites = 1,
                                    .waiting_ns = 2e9};
    *state = f;
    return 0;
}

static int fixture_free(void **state)
{
    struct fixture *f = *state;
    unlink(f->path);
    free(f);
    return 0;
}

/* *text is to be freed. */
static void print(const struct fixture *f, const struct source_options *options, uint32_t n_files, char **text)
{
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    assert_int_equal(source_print(out, &f->analysis, options).n_shown, n_files);
    fclose(out);
}

static void marked_lines_stand_with_their_context(void **state)
{
    struct fixture *f = *state;
    char *text;
    print(f, &(struct source_options){.width = 100, .n_context = 1, .directory = "/tmp"}, 1, &text);
    assert_string_equal(strchr(text, '\n') + 1, "     causes   waits here   line\n"
                                                "                              9  line 9\n"
                                                "     2.00 s |                10  line 10\n"
                                                "            |                11          body\\x1b[2J();\n"
                                                "            |                12  line 12\n"
                                                "                             13  line 13\n"
                                                "                            ...\n"
                                                "                             24  line 24\n"
                                                "                  2.00 s     25  line 25\n"
                                                "                             26  line 26\n");
    free(text);
}

/* Who wants all of a file may ask for as many lines as there can be. */
static void context_has_no_end(void **state)
{
    struct fixture *f = *state;
    char *text;
    print(f, &(struct source_options){.width = 100, .n_context = UINT32_MAX, .directory = "/tmp"}, 1, &text);
    assert_non_null(strstr(text, " 1  line 1\n"));
    assert_non_null(strstr(text, "24  line 24\n"));
    free(text);
}

/* Lines that nobody blames, of a file that is named. */
static void lines_that_are_asked_for_are_shown(void **state)
{
    struct fixture *f = *state;
    char *text;
    print(f,
          &(struct source_options){
              .width = 100, .only_file = f->path, .line_first = 9, .line_last = 10, .directory = "/tmp"},
          1, &text);
    /* No call is among them at which ranks wait. */
    assert_string_equal(strchr(text, '\n') + 1, "     causes     line\n"
                                                "                   9  line 9\n"
                                                "     2.00 s |     10  line 10\n");
    free(text);
    f->analysis.n_causes = f->analysis.n_sites = 0;
    print(f,
          &(struct source_options){
              .width = 100, .only_file = f->path, .line_first = 30, .line_last = 99, .directory = "/tmp"},
          1, &text);
    assert_non_null(strstr(text, "\n   line\n     30  line 30\n"));
    free(text);
}

static void other_files_and_trifles_are_left_out(void **state)
{
    struct fixture *f = *state;
    char *text;
    print(f, &(struct source_options){.width = 100, .only_file = "other.c"}, 0, &text);
    free(text);
    f->site.waiting_ns = f->part.own_ns = 1e6;
    print(f, &(struct source_options){.width = 100}, 0, &text);
    free(text);
}

static void what_is_no_plain_file_is_not_opened(void **state)
{
    struct fixture *f = *state;
    f->step.file = f->site.file = "/dev/zero";
    char *text;
    print(f, &(struct source_options){.width = 100}, 0, &text);
    assert_non_null(strstr(text, "/dev/zero   cannot be read"));
    free(text);
    f->step.file = f->site.file = "/nowhere/a.c";
    print(f, &(struct source_options){.width = 100, .directory = "/also/nowhere"}, 0, &text);
    assert_non_null(strstr(text, "/nowhere/a.c   cannot be read: No such file"));
    free(text);
}

static void write_text(const char *path, const char *first_line)
{
    FILE *file = fopen(path, "w");
    fputs(first_line, file);
    for (int line = 2; line <= 30; line++)
        fprintf(file, "line %d\n", line);
    fclose(file);
}

/* An archive may name any file: without a program that says so, or a folder that the reader names, it is not read. */
static void files_that_only_the_archive_names_are_not_read(void **state)
{
    struct fixture *f = *state;
    char *text;
    print(f, &(struct source_options){.width = 100}, 0, &text);
    assert_non_null(strstr(text, "nothing else does"));
    assert_null(strstr(text, "line 10"));
    free(text);
    print(f, &(struct source_options){.width = 100, .directory = "/usr"}, 0, &text);
    free(text);
}

/* One that is younger than the build is told; what the run has kept is shown as it was, whatever came after. */
static void sources_are_never_shifted_silently(void **state)
{
    struct fixture *f = *state;
    char *text, dir[] = "/tmp/whywait-run-XXXXXX", *kept;
    const struct source_options options = {.width = 200, .n_context = 20, .directory = "/tmp"};
    f->trace.realtime_ns = 1000000000;
    print(f, &options, 1, &text);
    assert_non_null(strstr(text, "This file was written to after the program was built"));
    free(text);
    f->trace.realtime_ns = 0;
    print(f, &options, 1, &text);
    assert_non_null(strstr(text, "whether this file has changed since is not known"));
    free(text);

    f->trace.run_dir = mkdtemp(dir);
    f->trace.realtime_ns = UINT64_MAX;
    kept = keep_source_path(dir, f->path);
    *strrchr(kept, '/') = 0;
    mkdir(kept, 0700);
    kept[strlen(kept)] = '/';
    write_text(kept, "as it was\n");
    write_text(f->path, "as it is now\n");
    print(f, &options, 1, &text);
    assert_non_null(strstr(text, "  as it was\n"));
    assert_null(strstr(text, "after the program was built"));
    assert_null(strstr(text, "as it is now"));
    free(text);
    dir_remove(dir);
    print(f, &options, 1, &text);
    assert_non_null(strstr(text, "  as it is now\n"));
    free(text);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(marked_lines_stand_with_their_context, fixture_make, fixture_free),
        cmocka_unit_test_setup_teardown(context_has_no_end, fixture_make, fixture_free),
        cmocka_unit_test_setup_teardown(lines_that_are_asked_for_are_shown, fixture_make, fixture_free),
        cmocka_unit_test_setup_teardown(other_files_and_trifles_are_left_out, fixture_make, fixture_free),
        cmocka_unit_test_setup_teardown(files_that_only_the_archive_names_are_not_read, fixture_make, fixture_free),
        cmocka_unit_test_setup_teardown(sources_are_never_shifted_silently, fixture_make, fixture_free),
        cmocka_unit_test_setup_teardown(what_is_no_plain_file_is_not_opened, fixture_make, fixture_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
