/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/thread_use.h"
#include "analyze/constants/constants.h"
#include "analyze/steps/cpu_use.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct thread_life *life_of(struct thread_use *use, uint32_t location)
{
    if (location >= use->lives.n)
        vec_resize(&use->lives, (size_t)location + 1);
    return &use->lives.at[location];
}

void thread_use_switch(struct thread_use *use, const struct event *event)
{
    struct thread_life *life = life_of(use, event->loc);
    if (event->kind == EV_ON && life->off_ns)
        life->lacked_ns += event->time_ns - life->off_ns;
    life->off_ns = event->kind == EV_OFF && (event->flags & WW_SW_PREEMPTED) ? event->time_ns : 0;
}

void thread_use_young(struct thread_use *use, const struct trace *trace, const struct event *event)
{
    for (uint32_t i = 0; i < event->n_bins; i++) {
        uint32_t point = event->bins[i].point;
        if (point < trace->n_points && trace->points[point].is_young_time)
            life_of(use, event->loc)->young_ns += (double)event->bins[i].value;
    }
}

void thread_use_take(struct thread_use *use, struct sites *sites, const struct lane *lane, const struct event *event)
{
    bool is_idle = sites_sample_is_idle(sites, event->frame);
    uint32_t step = is_idle ? TRACE_NONE : sites_sample_step(sites, event->frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    if (!key || key->what != WHAT_PLACE || !event->weight_ns)
        return;
    sparse_add(&use->sampled, key_pair(key->id, event->loc), (double)event->weight_ns);
    sparse_add(&use->n, key_pair(key->id, event->loc), 1);
    struct thread_life *life = life_of(use, event->loc);
    life->first_ns = life->first_ns ? life->first_ns : event->time_ns;
    life->last_ns = event->time_ns;
    life->calls_mpi |= !lane->is_worker;
}

void thread_use_pack(struct thread_use *use, struct packing *packing)
{
    pack_sparse(packing, &use->sampled);
    pack_sparse(packing, &use->n);
    pack_vec(packing, &use->lives);
}

void thread_use_unpack(struct thread_use *use, struct unpacking *unpacking)
{
    struct thread_use later = {0};
    unpack_sparse(unpacking, &use->sampled);
    unpack_sparse(unpacking, &use->n);
    unpack_vec(unpacking, &later.lives);
    if (later.lives.n > use->lives.n)
        vec_resize(&use->lives, later.lives.n);
    for (size_t i = 0; i < later.lives.n; i++) {
        struct thread_life *life = &use->lives.at[i];
        life->first_ns = life->first_ns ? life->first_ns : later.lives.at[i].first_ns;
        life->last_ns = later.lives.at[i].last_ns ? later.lives.at[i].last_ns : life->last_ns;
        life->calls_mpi |= later.lives.at[i].calls_mpi;
        life->lacked_ns += later.lives.at[i].lacked_ns;
        life->young_ns += later.lives.at[i].young_ns;
    }
    thread_use_release(&later);
}

void thread_use_complete(struct thread_use *use)
{
    sparse_pack(&use->sampled);
    sparse_pack(&use->n);
}

void thread_use_release(struct thread_use *use)
{
    sparse_release(&use->sampled);
    sparse_release(&use->n);
    vec_release(&use->lives);
}

/* Of one place, by rank. */
struct place_use {
    double all_ns, most_ns, n, lacked_ns;
    uint32_t n_callers;
};

/* Time on a CPU of all threads, by place and rank, and the places that workers run. */
struct teams {
    const struct trace *trace;
    const struct thread_use *use;
    uint32_t *n_here;  /* by rank: count_at_once */
    double *unseen_ns; /* by rank: young threads were on a CPU, and no sample tells where */
    struct place_use *of_place;
    struct sparse sampled;
    struct map is_shared;
    const struct crew *crews; /* by rank */
};

static uint64_t team_key(uint32_t place, uint32_t rank)
{
    return key_pair(place, rank);
}

static void teams_gather(struct teams *teams, struct sites *sites, const struct survey *survey)
{
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t step = entry->n_samples ? sites_sample_step(sites, entry->frame) : TRACE_NONE;
        const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
        if (!key || key->what != WHAT_PLACE)
            continue;
        sparse_add(&teams->sampled, team_key(key->id, entry->rank), (double)entry->sampled_ns);
        if (entry->is_workers)
            *map_put(&teams->is_shared, key->id, NULL) = 1;
    }
    sparse_pack(&teams->sampled);
}

static void find_unseen(const struct teams *teams)
{
    const struct thread_use *use = teams->use;
    for (uint32_t i = 0; i < use->lives.n; i++)
        teams->unseen_ns[teams->trace->locations[i].rank] += use->lives.at[i].young_ns;
    for (size_t i = 0; i < use->sampled.n; i++) {
        uint32_t location = (uint32_t)use->sampled.at[i].key;
        if (!use->lives.at[location].calls_mpi)
            teams->unseen_ns[teams->trace->locations[location].rank] -= use->sampled.at[i].ns;
    }
}

double threads_at_a_time(double sampled_ns, double computing_ns, uint32_t n_at_once)
{
    bool fits = computing_ns > 0 && sampled_ns <= MORE_THREADS * n_at_once * computing_ns;
    return fits ? fmin(sampled_ns / computing_ns, n_at_once) : 0;
}

struct life_end {
    uint32_t rank;
    int step; /* a life begins or ends */
    uint64_t time_ns;
};

static int life_end_compare(const void *a, const void *b)
{
    const struct life_end *left = a, *right = b;
    return order_of(left->rank, right->rank) ?: order_of(left->time_ns, right->time_ns) ?: right->step - left->step;
}

/* Sets the most threads of each rank that lived at once, of those that were seen in the place. */
static void count_at_once(const struct teams *teams, uint32_t place, uint32_t *n_by_rank)
{
    const struct thread_use *use = teams->use;
    VEC(struct life_end) ends = {0};
    memset(n_by_rank, 0, (teams->trace->n_ranks + 1) * sizeof *n_by_rank);
    for (size_t i = 0; i < use->n.n; i++) {
        uint32_t location = (uint32_t)use->n.at[i].key, rank = teams->trace->locations[location].rank;
        if (key_high(use->n.at[i].key) != place)
            continue;
        *vec_push(&ends) = (struct life_end){rank, 1, use->lives.at[location].first_ns};
        *vec_push(&ends) = (struct life_end){rank, -1, use->lives.at[location].last_ns};
    }
    vec_sort(&ends, life_end_compare);
    for (size_t i = 0, n = 0; i < ends.n; i++) {
        n += (size_t)ends.at[i].step;
        if (n > n_by_rank[ends.at[i].rank])
            n_by_rank[ends.at[i].rank] = (uint32_t)n;
    }
    vec_release(&ends);
}

static void use_of_place(const struct teams *teams, uint32_t place, struct place_use *by_rank)
{
    const struct thread_use *use = teams->use;
    memset(by_rank, 0, (teams->trace->n_ranks + 1) * sizeof *by_rank);
    for (size_t i = 0; i < use->sampled.n; i++) {
        uint64_t key = use->sampled.at[i].key;
        if (key_high(key) != place)
            continue;
        struct place_use *at = &by_rank[teams->trace->locations[(uint32_t)key].rank];
        at->all_ns += use->sampled.at[i].ns;
        at->most_ns = fmax(at->most_ns, use->sampled.at[i].ns);
        at->n += sparse_get(&use->n, key);
        at->n_callers += use->lives.at[(uint32_t)key].calls_mpi;
        at->lacked_ns += (double)use->lives.at[(uint32_t)key].lacked_ns;
    }
}

/* The part that one thread has is known as well as its samples among all of them tell. */
static void share_among_threads(const struct teams *teams, struct cause_rank *rank)
{
    const struct place_use *use = &teams->of_place[rank->rank];
    if (!(use->all_ns > 0))
        return;
    rank->n_threads = teams->n_here[rank->rank];
    rank->n_callers = use->n_callers;
    rank->n_at_once = teams->crews[rank->rank].n_at_once;
    rank->threads_lacked_ns = use->lacked_ns;
    rank->most_share = use->most_ns / use->all_ns;
    /* As if there had been one more sample of each kind: few that agree are no proof. */
    double part = (rank->most_share * use->n + 1) / (use->n + 2);
    rank->most_error = sqrt(part * (1 - part) / (use->n + 2));
}

/* Samples of a place are those of all its calls, and times those of the cause: together they say how many threads ran
 * it only where the cause has all calls. */
static void count_threads(const struct teams *teams, uint32_t place, bool is_elsewhere, struct cause_rank *ranks,
                          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct cause_rank *rank = &ranks[i];
        const struct place_use *use = &teams->of_place[rank->rank];
        double sampled_ns = sparse_get(&teams->sampled, team_key(place, rank->rank));
        share_among_threads(teams, rank);
        rank->unseen_ns += fmax(0, teams->unseen_ns[rank->rank]);
        if (is_elsewhere || !(use->all_ns > 0))
            continue;
        uint32_t n_most = rank->n_threads < rank->n_at_once ? rank->n_threads : rank->n_at_once;
        rank->threads = threads_at_a_time(sampled_ns, rank->computing_ns, n_most);
        rank->ran_ahead = !(rank->threads > 0);
        rank->worked_ns = use->all_ns;
        rank->worked_error_ns = use->all_ns / sqrt(use->n);
    }
}

void thread_use_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey,
                              const struct thread_use *use)
{
    const struct trace *trace = analysis->trace;
    struct arena arena = {0};
    struct teams teams = {.trace = trace, .use = use, .crews = crews_of(trace, &arena)};
    teams.n_here = arena_array(&arena, uint32_t, trace->n_ranks + 1);
    teams.of_place = arena_array(&arena, struct place_use, trace->n_ranks + 1);
    teams.unseen_ns = arena_array(&arena, double, trace->n_ranks + 1);
    teams_gather(&teams, sites, survey);
    find_unseen(&teams);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place;
        if (place == CODE_NONE || !map_get(&teams.is_shared, place))
            continue;
        count_at_once(&teams, place, teams.n_here);
        use_of_place(&teams, place, teams.of_place);
        count_threads(&teams, place, cause->is_elsewhere, cause->ranks, cause->n_ranks);
        count_threads(&teams, place, cause->is_elsewhere, cause->others, cause->n_others);
    }
    sparse_release(&teams.sampled);
    map_release(&teams.is_shared);
    arena_release(&arena);
}
