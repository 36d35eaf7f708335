/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/explain.h"
#include "analyze/pass/names.h"

struct crowd {
    uint32_t *ranks, n;
    double mean_ns;
};

static struct crowd crowd_make(struct arena *arena, const struct cause_rank *ranks, uint32_t n)
{
    struct crowd crowd = {.ranks = arena_array(arena, uint32_t, n + 1)};
    for (uint32_t i = 0; i < n; i++) {
        crowd.ranks[crowd.n++] = ranks[i].rank;
        crowd.mean_ns += ranks[i].time_ns;
    }
    crowd.mean_ns /= crowd.n ? crowd.n : 1;
    return crowd;
}

/* "rank 1 spends" but "ranks 1,2 spend". */
static const char *verb(const struct crowd *crowd, const char *one, const char *many)
{
    return crowd->n == 1 ? one : many;
}

static const char *explain_time(struct arena *arena, const struct crowd *late, const struct crowd *others)
{
    const char *who = names_ranks(arena, late->ranks, late->n);
    if (!others->n)
        return arena_printf(arena, "%s %s %s in it, at times when others wait", who, verb(late, "spends", "spend"),
                            names_duration(arena, late->mean_ns));
    const char *whom = names_ranks(arena, others->ranks, others->n);
    if (others->mean_ns < 0.01 * late->mean_ns)
        return arena_printf(arena, "%s %s %s in it, %s next to nothing", who, verb(late, "spends", "spend"),
                            names_duration(arena, late->mean_ns), whom);
    double ratio = late->mean_ns / others->mean_ns;
    if (ratio < 1.05)
        return arena_printf(arena, "%s %s no longer in it than %s in all, but before the others wait", who,
                            verb(late, "spends", "spend"), whom);
    return arena_printf(arena, "%s %s %.*f x as long in it as %s", who, verb(late, "spends", "spend"),
                        ratio < 10 ? 1 : 0, ratio, whom);
}

void explain_cause(struct arena *arena, struct cause *cause)
{
    struct crowd late = crowd_make(arena, cause->ranks, cause->n_late);
    struct crowd others = crowd_make(arena, cause->others, cause->n_others);
    const char *who = names_ranks(arena, late.ranks, late.n);
    const char *time = explain_time(arena, &late, &others);
    switch (cause->kind) {
    case KIND_DESCHEDULED:
        time = arena_printf(arena, "%s %s off the CPU there, although runnable", who, verb(&late, "was", "were"));
        break;
    case KIND_BLOCKED:
        time = arena_printf(arena, "%s; most of the difference in system calls", time);
        break;
    case KIND_TRANSFER:
        time = arena_printf(arena, "%s; communication, not waiting", time);
        break;
    default:
        break;
    }
    cause->explanation = time;
}
