/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare EXE-A DUMP-A EXE-B DUMP-B: solves every interval of both runs (sync.c) and compares the executions of every
 * block of every function. Prints one line; exit status 0 when there was something to compare and nothing differed.
 */
#include "analyze/counts/counts.h"
#include "wrap/base/err.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MODULES = 16, MOST_THREADS = 64 };

/* One side's dump, read interval by interval. */
struct side {
    FILE *dump;
    const char *exe;
    struct counts *modules[MOST_MODULES];
    int n_modules;
    struct interval {
        VEC(struct counts_frame) frames[MOST_MODULES];
    } last[MOST_THREADS];
    /* Of the current interval. */
    int thread;
    VEC(struct counts_bin) bins[MOST_MODULES];
    VEC(struct counts_frame) frames[MOST_MODULES];
    struct counts_result result[MOST_MODULES];
    char line[4096];
    bool has_line;
};

static bool next_line(struct side *side)
{
    if (!side->has_line)
        side->has_line = fgets(side->line, sizeof side->line, side->dump) != NULL;
    return side->has_line;
}

static void open_module(struct side *side, const char *line)
{
    int module;
    char path[4000];
    if (sscanf(line, "M %d %*x %3999s", &module, path) != 2 || module >= MOST_MODULES)
        die("bad line: %s", line);
    side->n_modules = module + 1;
    if (counts_open(strcmp(path, "exe") == 0 ? side->exe : path, &side->modules[module]) != 0 || !side->modules[module])
        die("%s has no table of points", path);
}

static void read_item(struct side *side, const char *line)
{
    int module;
    uint64_t a, b;
    if (sscanf(line, "F %d %" SCNx64, &module, &a) == 2)
        *vec_push(&side->frames[module]) = (struct counts_frame){a, 1};
    else if (sscanf(line, "B %d %" SCNu64 " %" SCNu64, &module, &a, &b) == 3)
        *vec_push(&side->bins[module]) = (struct counts_bin){(uint32_t)a, b};
    else
        die("bad line: %s", line);
}

static void solve(struct side *side)
{
    struct interval *last = &side->last[side->thread];
    for (int m = 0; m < side->n_modules; m++) {
        size_t n_now = side->frames[m].n;
        for (size_t i = 0; i < last->frames[m].n; i++)
            *vec_push(&side->frames[m]) = (struct counts_frame){last->frames[m].at[i].return_address, -1};
        counts_solve(side->modules[m], side->bins[m].at, side->bins[m].n, side->frames[m].at, side->frames[m].n,
                     &side->result[m]);
        last->frames[m].n = 0;
        for (size_t i = 0; i < n_now; i++)
            *vec_push(&last->frames[m]) = side->frames[m].at[i];
    }
}

static bool next_interval(struct side *side)
{
    for (int m = 0; m < MOST_MODULES; m++)
        side->frames[m].n = side->bins[m].n = 0;
    for (; next_line(side) && side->line[0] == 'M'; side->has_line = false)
        open_module(side, side->line);
    if (!next_line(side) || sscanf(side->line, "S %d", &side->thread) != 1 || side->thread >= MOST_THREADS)
        return false;
    side->has_line = false;
    for (; next_line(side) && (side->line[0] == 'F' || side->line[0] == 'B'); side->has_line = false)
        read_item(side, side->line);
    solve(side);
    return true;
}

struct tally {
    unsigned long n_intervals, n_blocks, n_mismatches, n_faults, n_missing;
};

static bool is_like(const struct counts_function *a, const struct counts_function *b)
{
    return strcmp(a->name, b->name) == 0 && a->checksum == b->checksum;
}

/* Function f of a in b. Several units may have the same static function: they stand in the same order on both sides. */
static uint32_t find_function(const struct counts *a, uint32_t f, const struct counts *b)
{
    const struct counts_function *function = counts_function(a, f);
    uint32_t n_before = 0;
    for (uint32_t i = 0; i < f; i++)
        n_before += is_like(counts_function(a, i), function);
    for (uint32_t i = 0; i < counts_n_functions(b); i++)
        if (is_like(counts_function(b, i), function) && n_before-- == 0)
            return i;
    return CFG_NONE;
}

/* Executions in `result`, 0 when there is no row. */
static uint64_t executions(const struct counts_result *result, uint32_t function, uint32_t block)
{
    for (size_t i = 0; i < result->rows.n; i++)
        if (result->rows.at[i].function == function && result->rows.at[i].block == block)
            return result->rows.at[i].executions;
    return 0;
}

static void say(const struct counts_function *function, uint32_t block, uint64_t a, uint64_t b, unsigned long interval)
{
    const struct counts_block *at = &function->blocks[block];
    fprintf(stderr, "interval %lu: %s block %u (%s:%u): %" PRIu64 " against %" PRIu64 "\n", interval, function->name,
            block, at->n_lines ? at->lines[0].file : "?", at->n_lines ? at->lines[0].line : 0, a, b);
}

/* Every block that a has, against b; block 0, which has no counter of its own, aside. */
static void compare_module(const struct side *a, const struct side *b, int m, struct tally *tally, bool count)
{
    for (size_t i = 0; i < a->result[m].rows.n; i++) {
        const struct counts_row *row = &a->result[m].rows.at[i];
        const struct counts_function *function = counts_function(a->modules[m], row->function);
        uint32_t other = find_function(a->modules[m], row->function, b->modules[m]);
        if (row->block < 2)
            continue;
        if (other == CFG_NONE) {
            fprintf(stderr, "%s is counted on one side only, or differs\n", function->name);
            tally->n_missing++;
            continue;
        }
        uint64_t theirs = executions(&b->result[m], other, row->block);
        tally->n_blocks += count;
        if (theirs == row->executions)
            continue;
        tally->n_mismatches++;
        say(function, row->block, row->executions, theirs, tally->n_intervals);
    }
}

static void compare_interval(struct side *a, struct side *b, struct tally *tally)
{
    if (a->n_modules != b->n_modules || a->thread != b->thread)
        die("the two runs differ");
    tally->n_intervals++;
    for (int m = 0; m < a->n_modules; m++) {
        compare_module(a, b, m, tally, true);
        compare_module(b, a, m, tally, false);
        tally->n_faults += a->result[m].faults.n + b->result[m].faults.n;
        for (size_t i = 0; i < a->result[m].faults.n; i++)
            fprintf(stderr, "interval %lu: %s: counts contradict each other\n", tally->n_intervals,
                    counts_function(a->modules[m], a->result[m].faults.at[i].function)->name);
    }
}

static void open_side(struct side *side, const char *exe, const char *dump)
{
    side->exe = exe;
    side->dump = fopen(dump, "r");
    if (!side->dump)
        die("cannot read %s", dump);
}

static void close_side(struct side *side)
{
    fclose(side->dump);
    for (int m = 0; m < MOST_MODULES; m++) {
        counts_close(side->modules[m]);
        counts_result_release(&side->result[m]);
        vec_release(&side->bins[m]);
        vec_release(&side->frames[m]);
        for (int t = 0; t < MOST_THREADS; t++)
            vec_release(&side->last[t].frames[m]);
    }
}

int main(int argc, char **argv)
{
    static struct side a, b;
    struct tally tally = {0};
    if (argc != 5)
        die("usage: compare EXE-A DUMP-A EXE-B DUMP-B");
    open_side(&a, argv[1], argv[2]);
    open_side(&b, argv[3], argv[4]);
    for (;;) {
        bool has_a = next_interval(&a), has_b = next_interval(&b);
        if (has_a != has_b)
            die("one run has more intervals");
        if (!has_a)
            break;
        compare_interval(&a, &b, &tally);
    }
    printf("%lu intervals, %lu blocks, %lu mismatches, %lu contradictions, %lu functions on one side only\n",
           tally.n_intervals, tally.n_blocks, tally.n_mismatches, tally.n_faults, tally.n_missing);
    close_side(&a);
    close_side(&b);
    return tally.n_mismatches || tally.n_faults || tally.n_missing || !tally.n_blocks;
}
