/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/ranks.h"
#include <stdlib.h>

static void summaries_write(const struct measure_input *input, struct analysis *analysis)
{
    analysis->ranks = arena_array(&analysis->arena, struct rank_summary, input->n_ranks + 1);
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        const struct rank_time *time = &input->ranks[rank];
        analysis->ranks[rank] = (struct rank_summary){.compute_ns = time->compute_ns,
                                                      .waiting_ns = time->waiting_ns,
                                                      .transfer_ns = time->transfer_ns > 0 ? time->transfer_ns : 0,
                                                      .mpi_ns = time->mpi_ns,
                                                      .descheduled_ns = time->descheduled_ns,
                                                      .blocked_ns = time->blocked_ns,
                                                      .unrecorded_ns = time->unrecorded_ns,
                                                      .ended_ns = time->ended_ns};
    }
}

/* One class: its waiting by rank times its blame by rank. `blamed` is scratch, by group. */
static void matrix_add(struct analysis *analysis, const struct path_class *class, const struct sparse *blame,
                       double *blamed)
{
    const struct wait_matrix *matrix = &analysis->matrix;
    for (uint32_t group = 0; group < matrix->n_groups; group++)
        blamed[group] = 0;
    for (size_t i = 0; i < blame->n; i++) {
        uint32_t rank = key_rank(blame->at[i].key);
        if (rank >= analysis->trace->n_ranks)
            continue;
        blamed[rank / matrix->group_size] += blame->at[i].ns;
        analysis->ranks[rank].caused_ns += blame->at[i].ns;
    }
    for (size_t i = 0; i<class->waits.n &&class->waiting_ns> 0; i++) {
        double *row = &matrix->ns[(size_t)(class->waits.at[i].key / matrix->group_size) * matrix->n_groups];
        for (uint32_t group = 0; group < matrix->n_groups; group++)
            row[group] += blamed[group] * class->waits.at[i].ns / class->waiting_ns;
    }
}

static void matrix_write(const struct measure_input *input, const struct measures *measures, struct analysis *analysis)
{
    struct wait_matrix *matrix = &analysis->matrix;
    struct arena scratch = {0};
    matrix->group_size = (input->n_ranks + MATRIX_GROUPS_MAX - 1) / MATRIX_GROUPS_MAX;
    matrix->n_groups = matrix->group_size ? (input->n_ranks + matrix->group_size - 1) / matrix->group_size : 0;
    matrix->ns = arena_array(&analysis->arena, double, (size_t)matrix->n_groups * matrix->n_groups + 1);
    double *blamed = arena_array(&scratch, double, matrix->n_groups + 1);
    for (size_t site = 0; site < input->classes->sites.n; site++)
        for (size_t i = 0; i < input->classes->sites.at[site].classes.n; i++)
            matrix_add(analysis, &input->classes->sites.at[site].classes.at[i], &measures->blames[site][i], blamed);
    arena_release(&scratch);
}

/* Durations by (rank; atom) as durations by (rank; step), packed. */
static struct sparse in_steps(struct pools *pools, const struct sparse *atoms)
{
    struct sparse steps = {0};
    for (size_t i = 0; i < atoms->n; i++) {
        struct term single;
        struct shares shares = pools_expand(pools, key_atom(atoms->at[i].key), &single);
        for (size_t j = 0; j < shares.n; j++)
            sparse_add(&steps, atom_key(key_rank(atoms->at[i].key), (uint32_t)shares.at[j].key),
                       atoms->at[i].ns * shares.at[j].ns);
    }
    sparse_pack(&steps);
    return steps;
}

static int by_falling_time(const void *a, const void *b)
{
    const struct critical_step *left = a, *right = b;
    if (left->on_path_ns != right->on_path_ns)
        return left->on_path_ns > right->on_path_ns ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

static void critical_write(const struct measure_input *input, const struct sparse *critical, struct analysis *analysis)
{
    struct pools *pools = input->classes->pools;
    struct sparse path = in_steps(pools, critical);
    struct map index = {0}; /* step -> 1 + index */
    VEC(struct critical_step) found = {0};
    for (size_t i = 0; i < path.n; i++) {
        uint32_t step = key_atom(path.at[i].key), rank = key_rank(path.at[i].key);
        uint64_t *at = map_put(&index, step, NULL);
        if (!*at || !found.at) {
            *vec_push(&found) = (struct critical_step){.step = step};
            *at = found.n;
        }
        struct critical_step *on_path = &found.at[*at - 1];
        on_path->on_path_ns += path.at[i].ns;
        on_path->n_ranks++;
        if (path.at[i].ns > on_path->rank_ns) {
            on_path->rank = rank;
            on_path->rank_ns = path.at[i].ns;
        }
    }
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        struct sparse time = in_steps(pools, &input->ranks[rank].atoms);
        for (size_t i = 0; i < time.n; i++) {
            const uint64_t *at = map_get(&index, key_atom(time.at[i].key));
            if (at && found.at)
                found.at[*at - 1].mean_ns += time.at[i].ns / input->n_ranks;
        }
        sparse_release(&time);
    }
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, by_falling_time);
    analysis->n_critical = (uint32_t)found.n;
    analysis->critical = arena_copy(&analysis->arena, found.at, found.n * sizeof *found.at);
    vec_release(&found);
    map_release(&index);
    sparse_release(&path);
}

void ranks_write(const struct measure_input *input, const struct measures *measures, const struct sparse *critical,
                 struct analysis *analysis)
{
    summaries_write(input, analysis);
    matrix_write(input, measures, analysis);
    critical_write(input, critical, analysis);
}
