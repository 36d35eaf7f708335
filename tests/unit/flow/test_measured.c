/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters placed by measured executions: never dearer than by guessed ones, whatever the routine and the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "random_cfg.h"
#include "wrap/flow/knuth.h"
#include "wrap/flow/measured.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_GRAPHS = 2000, MOST_EDGES = 48 };

struct file {
    char path[64];
    FILE *out;
};

static struct file begin_file(void)
{
    struct file file = {.path = "/tmp/whywait-measured.XXXXXX"};
    int fd = mkstemp(file.path);
    assert_true(fd >= 0);
    file.out = fdopen(fd, "w");
    return file;
}

static struct measured *read_back(struct file *file)
{
    assert_int_equal(fclose(file->out), 0);
    struct measured *measured = measured_read(file->path);
    assert_non_null(measured);
    unlink(file->path);
    return measured;
}

/* Calls that prefer one way out of each block. */
static void execute(const struct cfg *cfg, struct random *random, int64_t *count)
{
    memset(count, 0, MOST_EDGES * sizeof *count);
    for (int call = 0; call < 20; call++)
        for (uint32_t block = 0; block != cfg->n_blocks - 1;) {
            uint32_t n_out = cfg->out_at[block + 1] - cfg->out_at[block];
            uint32_t way = random_below(random, 8) ? block % n_out : random_below(random, n_out);
            uint32_t edge = cfg->out[cfg->out_at[block] + way];
            count[edge]++;
            block = cfg->edges.at[edge].to;
        }
}

static int64_t place_and_add_up(struct cfg *cfg, const double *weights, const int64_t *count)
{
    unsigned char is_counted[MOST_EDGES];
    int64_t sum = 0;
    knuth_place(cfg, cfg->n_blocks - 1, weights, NULL, is_counted);
    for (size_t e = 0; e < cfg->edges.n; e++)
        sum += is_counted[e] ? count[e] : 0;
    return sum;
}

static void test_is_never_dearer(void **state)
{
    (void)state;
    struct random random = {17};
    int n_cheaper = 0;
    for (int i = 0; i < N_GRAPHS; i++) {
        struct cfg cfg;
        random_routine(&cfg, &random);
        int64_t count[MOST_EDGES];
        execute(&cfg, &random, count);
        struct file file = begin_file();
        fprintf(file.out, "an 1 1 5\nanother %u 0\n", measured_checksum(&cfg));
        measured_write(file.out, "routine", &cfg, count);
        struct measured *run = read_back(&file);
        struct cfg_loops loops = cfg_find_loops(&cfg);
        double *weights = knuth_weights(&cfg, &loops, NULL);
        int64_t by_guess = place_and_add_up(&cfg, weights, count);
        assert_false(measured_weigh(run, "rout", &cfg, weights));
        assert_false(measured_weigh(run, "routine2", &cfg, weights));
        assert_int_equal(place_and_add_up(&cfg, weights, count), by_guess);
        assert_true(measured_weigh(run, "routine", &cfg, weights));
        int64_t by_run = place_and_add_up(&cfg, weights, count);
        assert_true(by_run <= by_guess);
        n_cheaper += by_run < by_guess;
        measured_free(run);
        cfg_release(&cfg);
    }
    assert_true(n_cheaper > N_GRAPHS / 10);
}

static void diamond(struct cfg *cfg)
{
    static const struct cfg_edge edges[] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}};
    cfg_init(cfg, 5, 0);
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        cfg_add_edge(cfg, edges[e].from, edges[e].to);
    cfg_finish(cfg);
}

static void test_lines_of_one_routine_add_up(void **state)
{
    (void)state;
    struct cfg cfg;
    diamond(&cfg);
    struct file file = begin_file();
    measured_write(file.out, "f", &cfg, (int64_t[]){10, 10, 0, 10, 0});
    measured_write(file.out, "never", &cfg, (int64_t[]){0, 0, 0, 0, 0});
    measured_write(file.out, "f", &cfg, (int64_t[]){30, 0, 30, 0, 30});
    struct measured *run = read_back(&file);
    double weights[] = {1, .5, .5, .5, .5};
    assert_true(measured_weigh(run, "f", &cfg, weights));
    static const double expected[] = {1, .25, .75, .25, .75};
    for (size_t e = 0; e < cfg.edges.n; e++)
        assert_float_equal(weights[e], expected[e], 1e-6);
    assert_false(measured_weigh(run, "never", &cfg, weights));
    measured_free(run);
    cfg_release(&cfg);
}

static void test_damage_is_left_out(void **state)
{
    (void)state;
    struct cfg cfg;
    diamond(&cfg);
    char text[256];
    FILE *out = fmemopen(text, sizeof text, "w");
    measured_write(out, "f", &cfg, (int64_t[]){10, 9, 1, 9, 1});
    fclose(out);
    size_t n = strlen(text);
    struct random random = {19};
    for (int i = 0; i < 3000; i++) {
        struct file file = begin_file();
        for (size_t k = 0; k < n; k++)
            fputc(random_below(&random, 20) ? text[k] : (int)random_below(&random, 256), file.out);
        fputs(i % 2 ? "\nf\ng 9 99999999999 1\n" : "", file.out);
        struct measured *run = read_back(&file);
        double weights[] = {1, .5, .5, .5, .5};
        measured_weigh(run, "f", &cfg, weights);
        for (size_t e = 0; e < cfg.edges.n; e++)
            assert_true(weights[e] >= 0);
        measured_free(run);
    }
    struct file cut = begin_file();
    fprintf(cut.out, "%.*s", (int)n - 3, text);
    struct measured *run = read_back(&cut);
    double weights[] = {1, .5, .5, .5, .5};
    assert_false(measured_weigh(run, "f", &cfg, weights));
    assert_true(weights[1] == .5);
    measured_free(run);
    assert_null(measured_read("/tmp/whywait-measured.none"));
    assert_int_equal(errno, ENOENT);
    cfg_release(&cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_is_never_dearer),
                                       cmocka_unit_test(test_lines_of_one_routine_add_up),
                                       cmocka_unit_test(test_damage_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
