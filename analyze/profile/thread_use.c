/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/thread_use.h"
#include "analyze/blame/late.h"
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

static uint64_t lacked_since_sleep_ns(const struct thread_life *life)
{
    return life->ready_ns < life->used_ns ? life->ready_ns : life->used_ns;
}

uint64_t thread_life_lacked_ns(const struct thread_life *life)
{
    return life->lacked_ns + lacked_since_sleep_ns(life);
}

void thread_use_switch(struct thread_use *use, const struct event *event)
{
    struct thread_life *life = life_of(use, event->loc);
    bool is_off = event->kind == EV_OFF, is_ready = is_off && (event->flags & WW_SW_PREEMPTED);
    life->ready_ns += life->off_ns ? event->time_ns - life->off_ns : 0;
    life->used_ns += life->on_ns ? event->time_ns - life->on_ns : 0;
    life->off_ns = is_ready ? event->time_ns : 0;
    life->on_ns = !is_off && life->ready_ns ? event->time_ns : 0;
    if (is_off && !is_ready) {
        life->lacked_ns += lacked_since_sleep_ns(life);
        life->ready_ns = life->used_ns = 0;
    }
}

void thread_use_young(struct thread_use *use, const struct trace *trace, const struct event *event)
{
    for (uint32_t i = 0; i < event->n_bins; i++) {
        uint32_t point = event->bins[i].point;
        const struct trace_point *at = point < trace->n_points ? &trace->points[point] : NULL;
        double ns = (double)event->bins[i].value;
        if (!at || !(at->is_young_time || at->is_young_ready))
            continue;
        struct thread_life *life = life_of(use, event->loc);
        life->young_ns += at->is_young_time ? ns : 0;
        life->young_needed_ns += ns;
    }
}

void thread_use_take(struct thread_use *use, struct sites *sites, const struct lane *lane, const struct event *event)
{
    bool is_idle = sites_sample_is_idle(sites, event->frame);
    uint32_t step = is_idle ? TRACE_NONE : sites_sample_step(sites, event->frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    if (!key || key->what != WHAT_PLACE || !event->weight_ns)
        return;
    sparse_add(&use->sampled, key_pair(event->frame, event->loc), (double)event->weight_ns);
    sparse_add(&use->n, key_pair(event->frame, event->loc), 1);
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
        life->lacked_ns = thread_life_lacked_ns(life) + later.lives.at[i].lacked_ns;
        life->ready_ns = later.lives.at[i].ready_ns;
        life->used_ns = later.lives.at[i].used_ns;
        life->young_ns += later.lives.at[i].young_ns;
        life->young_needed_ns += later.lives.at[i].young_needed_ns;
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

/* Of one thread, with one call stack. */
struct worked {
    uint32_t place, frame, location;
    bool is_young;
    double ns, n; /* of samples, and how many */
};

/* Of the threads of one process that were too young to be watched: on a CPU, and of that as sampled; ready without
 * one. */
struct young {
    double used_ns, sampled_ns, n, ready_ns;
};

/* Of one thread, in a cause's place, and by the ways that are the cause's. */
struct doer {
    uint32_t location;
    bool is_young;
    double place_ns, place_n, own_ns, own_n;
};

/* Of one cause, by rank. */
struct cause_use {
    double own_ns;                /* of all its threads, by the cause's ways */
    double watched_ns, watched_n; /* of that, but for young ones, */
    double young_n;               /* and of these */
    double doers_ns;              /* in the place, those that came by these */
    bool is_place; /* these do hardly anything else there: the threads that come by other ways share it with them */
    double all_ns, most_ns, n, lacked_ns; /* of all that share it; none is lacked by young ones, */
    double sharing_young_n;               /* of which so many samples are there */
    uint32_t n_callers;
};

struct teams {
    const struct analysis *analysis;
    const struct thread_use *use;
    VEC(struct worked) worked;   /* by place, then location */
    struct map is_shared;        /* places that workers run */
    const struct crew *crews;    /* by rank */
    uint32_t *n_sharing, *n_own; /* likewise: count_at_once */
    struct young *young;         /* likewise */
    struct cause_use *by_rank;   /* of the cause that is looked at, */
    VEC(struct doer) doers;      /* and of the threads that were seen in its place, by location */
};

static uint32_t rank_of(const struct teams *teams, const struct doer *doer)
{
    return teams->analysis->trace->locations[doer->location].rank;
}

static int worked_compare(const void *a, const void *b)
{
    const struct worked *left = a, *right = b;
    return order_of(left->place, right->place) ?: order_of(left->location, right->location)
                                                ?: order_of(left->frame, right->frame);
}

static uint32_t place_of(struct sites *sites, uint32_t frame)
{
    uint32_t step = sites_sample_step(sites, frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    return key && key->what == WHAT_PLACE ? key->id : CODE_NONE;
}

static void teams_gather(struct teams *teams, struct sites *sites, const struct survey *survey)
{
    const struct thread_use *use = teams->use;
    for (size_t i = 0; i < use->sampled.n; i++) {
        uint32_t frame = key_high(use->sampled.at[i].key), location = (uint32_t)use->sampled.at[i].key;
        *vec_push(&teams->worked) = (struct worked){.place = place_of(sites, frame),
                                                    .frame = frame,
                                                    .location = location,
                                                    .ns = use->sampled.at[i].ns,
                                                    .n = sparse_get(&use->n, use->sampled.at[i].key)};
    }
    vec_sort(&teams->worked, worked_compare);
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t place = entry->n_samples && entry->is_workers ? place_of(sites, entry->frame) : CODE_NONE;
        if (place != CODE_NONE)
            *map_put(&teams->is_shared, place, NULL) = 1;
    }
}

void thread_use_add_young(const struct thread_use *use, const struct trace *trace, double *by_rank)
{
    for (uint32_t i = 0; i < use->lives.n; i++)
        by_rank[trace->locations[i].rank] += use->lives.at[i].young_needed_ns;
}

/* The time of young threads on a CPU is known exactly, and samples of some of them tell where. */
static void weigh_young(struct teams *teams, struct arena *arena)
{
    const struct thread_use *use = teams->use;
    const struct trace_location *locations = teams->analysis->trace->locations;
    double *sampled_ns = arena_array(arena, double, use->lives.n + 1);
    for (size_t i = 0; i < teams->worked.n; i++)
        sampled_ns[teams->worked.at[i].location] += teams->worked.at[i].ns;
    for (uint32_t i = 0; i < use->lives.n; i++) {
        const struct thread_life *life = &use->lives.at[i];
        teams->young[locations[i].rank].used_ns += life->young_ns;
        teams->young[locations[i].rank].ready_ns += life->young_needed_ns - life->young_ns;
    }
    for (size_t i = 0; i < teams->worked.n; i++) {
        struct worked *worked = &teams->worked.at[i];
        struct young *young = &teams->young[locations[worked->location].rank];
        worked->is_young = !use->lives.at[worked->location].calls_mpi && sampled_ns[worked->location] < WW_YOUNG_NS;
        young->sampled_ns += worked->is_young ? worked->ns : 0;
        young->n += worked->is_young ? worked->n : 0;
    }
    for (size_t i = 0; i < teams->worked.n; i++) {
        struct worked *worked = &teams->worked.at[i];
        const struct young *young = &teams->young[locations[worked->location].rank];
        worked->ns *= worked->is_young ? fmax(1, young->used_ns / young->sampled_ns) : 1;
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

/* Where a cause's code is entered on other ways too, samples tell by their stacks which are its own. */
static void find_doers(struct teams *teams, const struct cause *cause, uint32_t place)
{
    const struct worked *at = teams->worked.at;
    size_t i = 0;
    bisect(i, teams->worked.n, at[i].place < place);
    teams->doers.n = 0;
    for (; i < teams->worked.n && at[i].place == place; i++) {
        bool is_own = !cause->is_elsewhere || teams->analysis->cause_of_frame[at[i].frame] == cause->found_as + 1;
        if (!teams->doers.n || teams->doers.at[teams->doers.n - 1].location != at[i].location)
            *vec_push(&teams->doers) = (struct doer){.location = at[i].location, .is_young = at[i].is_young};
        struct doer *doer = &teams->doers.at[teams->doers.n - 1];
        doer->place_ns += at[i].ns;
        doer->place_n += at[i].n;
        doer->own_ns += is_own ? at[i].ns : 0;
        doer->own_n += is_own ? at[i].n : 0;
    }
}

static void sum_by_rank(const struct teams *teams)
{
    memset(teams->by_rank, 0, (teams->analysis->trace->n_ranks + 1) * sizeof *teams->by_rank);
    for (size_t i = 0; i < teams->doers.n; i++) {
        const struct doer *doer = &teams->doers.at[i];
        struct cause_use *at = &teams->by_rank[rank_of(teams, doer)];
        at->own_ns += doer->own_ns;
        at->watched_ns += doer->is_young ? 0 : doer->own_ns;
        at->watched_n += doer->is_young ? 0 : doer->own_n;
        at->young_n += doer->is_young ? doer->own_n : 0;
        at->doers_ns += doer->own_ns > 0 ? doer->place_ns : 0;
        at->is_place = at->own_ns >= MOST_SHARE * at->doers_ns;
    }
    for (size_t i = 0; i < teams->doers.n; i++) {
        const struct doer *doer = &teams->doers.at[i];
        const struct thread_life *life = &teams->use->lives.at[doer->location];
        struct cause_use *at = &teams->by_rank[rank_of(teams, doer)];
        double ns = at->is_place ? doer->place_ns : doer->own_ns;
        at->all_ns += ns;
        at->most_ns = fmax(at->most_ns, ns);
        at->n += at->is_place ? doer->place_n : doer->own_n;
        at->n_callers += ns > 0 && life->calls_mpi;
        at->lacked_ns += ns > 0 && !doer->is_young ? (double)thread_life_lacked_ns(life) : 0;
        at->sharing_young_n += !doer->is_young ? 0 : at->is_place ? doer->place_n : doer->own_n;
    }
}

/* Sets the most threads of each rank that lived at once: of those that share it, or of those that came by the cause's
 * ways. */
static void count_at_once(const struct teams *teams, bool is_own, uint32_t *n_by_rank)
{
    VEC(struct life_end) ends = {0};
    memset(n_by_rank, 0, (teams->analysis->trace->n_ranks + 1) * sizeof *n_by_rank);
    for (size_t i = 0; i < teams->doers.n; i++) {
        const struct doer *doer = &teams->doers.at[i];
        const struct thread_life *life = &teams->use->lives.at[doer->location];
        uint32_t rank = rank_of(teams, doer);
        if ((is_own || !teams->by_rank[rank].is_place) && !(doer->own_ns > 0))
            continue;
        *vec_push(&ends) = (struct life_end){rank, 1, life->first_ns};
        *vec_push(&ends) = (struct life_end){rank, -1, life->last_ns};
    }
    vec_sort(&ends, life_end_compare);
    for (size_t i = 0, n = 0; i < ends.n; i++) {
        uint32_t *most = &n_by_rank[ends.at[i].rank];
        n += (size_t)ends.at[i].step;
        *most = n > *most ? (uint32_t)n : *most;
    }
    vec_release(&ends);
}

/* Of `k` samples among `n`. As if there had been one more of each kind: few that agree are no proof. */
static double likely_share(double k, double n)
{
    return (k + 1) / (n + 2);
}

static double share_error(double k, double n)
{
    double share = likely_share(k, n);
    return sqrt(share * (1 - share) / (n + 2));
}

/* The part that one thread has is known as well as its samples among all of them tell. */
static void share_among_threads(const struct teams *teams, struct cause_rank *rank)
{
    const struct cause_use *use = &teams->by_rank[rank->rank];
    const struct young *young = &teams->young[rank->rank];
    if (!(use->all_ns > 0))
        return;
    rank->n_threads = teams->n_sharing[rank->rank];
    rank->n_callers = use->n_callers;
    rank->n_at_once = teams->crews[rank->rank].n_at_once;
    rank->threads_lacked_ns = use->lacked_ns;
    if (use->sharing_young_n > 0)
        rank->threads_lacked_ns += young->ready_ns * use->sharing_young_n / young->n;
    rank->most_share = use->most_ns / use->all_ns;
    rank->most_error = share_error(rank->most_share * use->n, use->n);
}

/* Time that young threads may have spent here beside what is taken for theirs; `n` of their samples are here. */
static double unseen_ns(const struct young *young, double n)
{
    double most_share = likely_share(n, young->n) + SAME_DEVIATIONS * share_error(n, young->n);
    return young->used_ns * (fmin(1, most_share) - (young->n > 0 ? n / young->n : 0));
}

static void count_threads(const struct teams *teams, struct cause_rank *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct cause_rank *rank = &ranks[i];
        const struct cause_use *use = &teams->by_rank[rank->rank];
        share_among_threads(teams, rank);
        rank->unseen_ns += unseen_ns(&teams->young[rank->rank], use->young_n);
        if (!(use->own_ns > 0))
            continue;
        uint32_t n_own = teams->n_own[rank->rank], n_most = n_own < rank->n_at_once ? n_own : rank->n_at_once;
        rank->threads = threads_at_a_time(use->own_ns, rank->computing_ns, n_most);
        rank->time_is_not_theirs = rank->threads < 1 / MORE_THREADS;
        rank->worked_ns = use->own_ns;
        rank->worked_error_ns = use->watched_ns / sqrt(fmax(1, use->watched_n));
    }
}

void thread_use_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey,
                              const struct thread_use *use)
{
    uint32_t n_ranks = analysis->trace->n_ranks;
    struct arena arena = {0};
    struct teams teams = {.analysis = analysis, .use = use, .crews = crews_of(analysis->trace, &arena)};
    teams.n_sharing = arena_array(&arena, uint32_t, n_ranks + 1);
    teams.n_own = arena_array(&arena, uint32_t, n_ranks + 1);
    teams.by_rank = arena_array(&arena, struct cause_use, n_ranks + 1);
    teams.young = arena_array(&arena, struct young, n_ranks + 1);
    teams_gather(&teams, sites, survey);
    weigh_young(&teams, &arena);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place;
        if (place == CODE_NONE || !map_get(&teams.is_shared, place))
            continue;
        find_doers(&teams, cause, place);
        sum_by_rank(&teams);
        count_at_once(&teams, false, teams.n_sharing);
        count_at_once(&teams, true, teams.n_own);
        count_threads(&teams, cause->ranks, cause->n_ranks);
        count_threads(&teams, cause->others, cause->n_others);
        late_leave_out_less(cause);
    }
    vec_release(&teams.worked);
    vec_release(&teams.doers);
    map_release(&teams.is_shared);
    arena_release(&arena);
}
