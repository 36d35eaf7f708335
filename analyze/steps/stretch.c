/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/stretch.h"
#include <math.h>

void stretch_clear(struct stretch *stretch)
{
    for (int kind = 0; kind < OFF_N; kind++)
        stretch->off_ns[kind] = stretch->run_ns[kind] = stretch->kept_ns[kind] = 0;
    stretch->young_ns = stretch->young_ready_ns = stretch->taken_ns = 0;
    stretch->led_by = 0;
    sparse_clear(&stretch->paths);
    if (stretch_n_samples(stretch)) {
        stretch->n_on = stretch->n_blocked = stretch->n_sync = stretch->n_worker = stretch->n_idle = 0;
        stretch->n_beside = 0;
        stretch->team_idle_ns = stretch->by_workers_ns = 0;
        sparse_clear(&stretch->on);
        sparse_clear(&stretch->blocked);
        sparse_clear(&stretch->sync);
        sparse_clear(&stretch->worker);
        sparse_clear(&stretch->idle);
        sparse_clear(&stretch->beside);
        sparse_clear(&stretch->calling);
        stretch->sightings.n = 0;
    }
    if (stretch->sleeps.n)
        sleeps_clear(&stretch->sleeps);
    if (stretch->is_counted)
        sparse_clear(&stretch->counts);
    stretch->is_counted = stretch->is_count_whole = false;
    stretch->count_more_ns = 0;
}

void stretch_release(struct stretch *stretch)
{
    struct sparse *all[] = {&stretch->on,     &stretch->blocked, &stretch->sync,  &stretch->worker, &stretch->idle,
                            &stretch->beside, &stretch->calling, &stretch->paths, &stretch->counts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sparse_release(all[i]);
    vec_release(&stretch->sightings);
    sleeps_release(&stretch->sleeps);
}

uint64_t stretch_length(const struct stretch *stretch)
{
    return stretch->end_ns > stretch->begin_ns ? stretch->end_ns - stretch->begin_ns : 0;
}

struct others_did stretch_others(const struct stretch *stretch, enum off_kind kind, double off_ns)
{
    if (!stretch->off_ns[kind])
        return (struct others_did){0};
    double part = off_ns / (double)stretch->off_ns[kind], run_ns = floor(part * (double)stretch->run_ns[kind]);
    double lacked_ns = floor(run_ns * stretch->lacked);
    return (struct others_did){.ran_ns = run_ns - lacked_ns,
                               .lacked_ns = lacked_ns + floor(part * (double)stretch->kept_ns[kind])};
}

/* A main thread that sleeps while young threads compute, or would, is about what they do. Samples tell of some of them
 * all that they did. */
static void split_young(const struct stretch *stretch, double amounts[N_AMOUNTS])
{
    double unseen_ns = (double)stretch->young_ns - sparse_sum(&stretch->worker);
    double unseen = stretch->young_ns ? unseen_ns / (double)stretch->young_ns : !stretch->n_worker;
    double ready_ns = unseen * (double)stretch->young_ready_ns, all_ns = unseen_ns + ready_ns;
    if (!(unseen > 0) || !(all_ns > 0))
        return;
    double part = fmin(1, amounts[OFF_BLOCKED] / all_ns);
    amounts[stretch->n_worker ? BY_TEAM : ON_CPU] += part * unseen_ns;
    amounts[OFF_PREEMPTED] += part * ready_ns;
    amounts[OFF_BLOCKED] = fmax(0, amounts[OFF_BLOCKED] - part * all_ns);
}

void stretch_split(const struct stretch *stretch, double amounts[N_AMOUNTS])
{
    uint64_t left_ns = stretch_length(stretch);
    amounts[BY_TEAM] = amounts[BY_OTHERS] = amounts[OTHERS_LACK] = 0;
    for (int kind = 0; kind < OFF_N; kind++) {
        uint64_t off_ns = stretch->off_ns[kind] < left_ns ? stretch->off_ns[kind] : left_ns;
        amounts[kind] = (double)off_ns;
        left_ns -= off_ns;
    }
    amounts[ON_CPU] = (double)left_ns;
    for (int kind = 0; kind < OFF_N && stretch->is_alone; kind++) {
        struct others_did others = stretch_others(stretch, (enum off_kind)kind, amounts[kind]);
        amounts[kind] -= others.ran_ns + others.lacked_ns;
        amounts[BY_TEAM] += others.ran_ns;
        amounts[OFF_PREEMPTED] += others.lacked_ns;
    }
    split_young(stretch, amounts);
}

uint64_t stretch_on_until(const struct stretch *stretch, uint64_t now_ns)
{
    uint64_t off_ns = stretch->off_ns[OFF_PREEMPTED] + stretch->off_ns[OFF_BLOCKED];
    return now_ns > stretch->begin_ns + off_ns ? now_ns - stretch->begin_ns - off_ns : 0;
}

void stretch_take_back(struct stretch *stretch)
{
    uint64_t more_ns = stretch->taken_ns > stretch->young_ns ? stretch->taken_ns - stretch->young_ns : 0;
    uint64_t *run_ns = &stretch->run_ns[OFF_BLOCKED];
    *run_ns -= more_ns < *run_ns ? more_ns : *run_ns;
}

void stretch_sleeps_in(struct stretch *stretch, uint32_t slept_in, uint32_t waited_in, uint32_t n, double ns)
{
    sleeps_look(&stretch->sleeps, slept_in, false);
    sparse_add(&stretch->sync, waited_in, -ns);
    sparse_add(&stretch->blocked, slept_in, ns);
    stretch->n_sync -= n;
    stretch->n_blocked += n;
}
