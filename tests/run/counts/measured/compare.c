/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare EXE COUNTS STEPS: for each interval and each loop of the program, the instructions that follow from the
 * counts (executions of its blocks, each weighed with its length) against those that were stepped through there. Exit
 * status 0 when they agree to a seventh wherever a loop is more than a hundredth of the interval.
 */
#include "analyze/counts/executions.h"
#include "wrap/base/err.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PLACES = 1000 };
static const double LARGEST_ERROR = 0.15, WORTH_COMPARING = 0.01;

struct both {
    struct counts *counts;
    struct code *code;
    uint32_t module;
    struct block_places places;
    struct counts_result result;
    VEC(struct counts_bin) bins;
    VEC(struct counts_frame) frames, last;
    double counted[MOST_PLACES], stepped[MOST_PLACES];
};

/* Reads the items of one interval behind the line that begins it; false at the end. Both files end an interval alike.
 */
static bool read_counts(struct both *both, FILE *file)
{
    char line[4096];
    bool is_there = false;
    int module;
    uint64_t a, b;
    both->bins.n = both->frames.n = 0;
    for (long at = ftell(file); fgets(line, sizeof line, file); at = ftell(file)) {
        if (*line == 'S' && is_there)
            return fseek(file, at, SEEK_SET) == 0;
        is_there |= *line == 'S';
        if (sscanf(line, "F %d %" SCNx64, &module, &a) == 2 && module == 0)
            *vec_push(&both->frames) = (struct counts_frame){a, 1};
        else if (sscanf(line, "B %d %" SCNu64 " %" SCNu64, &module, &a, &b) == 3 && module == 0)
            *vec_push(&both->bins) = (struct counts_bin){(uint32_t)a, b};
    }
    return is_there;
}

static void read_steps(struct both *both, FILE *file)
{
    char line[4096];
    uint64_t address, n;
    bool is_there = false;
    for (long at = ftell(file); fgets(line, sizeof line, file); at = ftell(file)) {
        if (*line == 'S' && is_there) {
            fseek(file, at, SEEK_SET);
            return;
        }
        is_there |= *line == 'S';
        if (sscanf(line, "P %" SCNx64 " %" SCNu64, &address, &n) != 2)
            continue;
        uint32_t place = code_place_at(both->code, both->module, address);
        if (place < MOST_PLACES)
            both->stepped[place] += (double)n;
    }
}

static void solve(struct both *both)
{
    size_t n_now = both->frames.n;
    for (size_t i = 0; i < both->last.n; i++)
        *vec_push(&both->frames) = (struct counts_frame){both->last.at[i].return_address, -1};
    counts_solve(both->counts, both->bins.at, both->bins.n, both->frames.at, both->frames.n, &both->result);
    both->last.n = 0;
    for (size_t i = 0; i < n_now; i++)
        *vec_push(&both->last) = both->frames.at[i];
    for (size_t i = 0; i < both->result.rows.n; i++) {
        const struct counts_row *row = &both->result.rows.at[i];
        const struct counts_function *function = counts_function(both->counts, row->function);
        uint32_t place = block_place(&both->places, both->code, both->module, function, row->block);
        if (place < MOST_PLACES)
            both->counted[place] += (double)row->executions *
                                    block_instructions(&both->places, both->code, both->module, function, row->block);
    }
}

static unsigned compare(const struct both *both, unsigned interval, unsigned *n_compared)
{
    unsigned n_wrong = 0;
    double sum = 0;
    for (uint32_t i = 0; i < MOST_PLACES; i++)
        sum += both->stepped[i];
    for (uint32_t i = 0; i < code_n_places(both->code) && i < MOST_PLACES; i++) {
        const struct code_place *place = code_place(both->code, i);
        double largest = fmax(both->stepped[i], both->counted[i]);
        if (!place->is_loop || sum == 0 || largest < WORTH_COMPARING * sum)
            continue;
        bool is_wrong = fabs(both->counted[i] - both->stepped[i]) > LARGEST_ERROR * largest;
        if (is_wrong || getenv("COUNTS_VERBOSE"))
            printf("interval %u: loop %u-%u in %s: %.0f instructions by counts, %.0f by steps\n", interval,
                   place->line_first, place->line_last, place->routine, both->counted[i], both->stepped[i]);
        n_wrong += is_wrong;
        ++*n_compared;
    }
    return n_wrong;
}

int main(int argc, char **argv)
{
    static struct both both;
    unsigned n_wrong = 0, n_compared = 0;
    FILE *counts = argc == 4 ? fopen(argv[2], "r") : NULL, *steps = argc == 4 ? fopen(argv[3], "r") : NULL;
    if (!counts || !steps || counts_open(argv[1], &both.counts) != 0 || !both.counts)
        die("usage: compare EXE COUNTS STEPS");
    both.code = code_open();
    both.module = code_add_module(both.code, argv[1], NULL, 0);
    for (unsigned interval = 1; read_counts(&both, counts); interval++) {
        for (uint32_t i = 0; i < MOST_PLACES; i++)
            both.counted[i] = both.stepped[i] = 0;
        read_steps(&both, steps);
        solve(&both);
        n_wrong += compare(&both, interval, &n_compared);
    }
    printf("%u loops compared, %u wrong\n", n_compared, n_wrong);
    fclose(counts);
    fclose(steps);
    block_places_release(&both.places);
    counts_result_release(&both.result);
    vec_release(&both.bins);
    vec_release(&both.frames);
    vec_release(&both.last);
    counts_close(both.counts);
    code_close(both.code);
    return n_wrong || !n_compared;
}
