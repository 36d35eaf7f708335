/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/explain.h"
#include "analyze/out/amount.h"
#include <string.h>

/* Of a cause's waiting: a second kind below this is not put into words. */
static const double WORTH_SAYING = 0.2;
/* Numbers of threads that are closer than this are the same. */
static const double WORTH_COUNTING = 1.3;
/* Times that differ by less are equally long. */
static const double LONGER = 1.05;

struct crowd {
    uint32_t *ranks, n;
    double mean_ns, computing_ns, mean_executions, mean_instructions, mean_bytes,
        mean_file_bytes; /* of one rank on average */
    double thread_ns;    /* time on a CPU of all threads */
};

static void crowd_add(struct crowd *crowd, const struct cause_rank *rank)
{
    crowd->ranks[crowd->n++] = rank->rank;
    crowd->mean_ns += rank->time_ns;
    crowd->computing_ns += rank->computing_ns;
    crowd->mean_executions += (double)rank->executions;
    crowd->mean_instructions += rank->instructions;
    crowd->mean_bytes += (double)rank->bytes;
    crowd->mean_file_bytes += (double)rank->file_bytes;
    crowd->thread_ns += rank->threads * rank->computing_ns;
}

static void crowd_average(struct crowd *crowd)
{
    crowd->mean_ns /= crowd->n ? crowd->n : 1;
    crowd->computing_ns /= crowd->n ? crowd->n : 1;
    crowd->mean_executions /= crowd->n ? crowd->n : 1;
    crowd->mean_instructions /= crowd->n ? crowd->n : 1;
    crowd->mean_bytes /= crowd->n ? crowd->n : 1;
    crowd->mean_file_bytes /= crowd->n ? crowd->n : 1;
    crowd->thread_ns /= crowd->n ? crowd->n : 1;
}

/* Where everybody is late at times, those with most of the blame are compared with the rest. */
static uint32_t n_late_of(const struct cause *cause)
{
    uint32_t n_late = 0;
    if (cause->n_others || cause->n_late < cause->n_ranks)
        return cause->n_late;
    while (n_late < cause->n_ranks && cause->ranks[n_late].blame_ns >= cause->ranks[0].blame_ns / 2)
        n_late++;
    return n_late;
}

/* Those who are to blame, and those who wait and carry little of it or nothing. */
static void crowds_make(struct arena *arena, const struct cause *cause, struct crowd *late, struct crowd *others)
{
    uint32_t n_late = n_late_of(cause);
    late->ranks = arena_array(arena, uint32_t, cause->n_ranks + 1);
    others->ranks = arena_array(arena, uint32_t, cause->n_ranks + cause->n_others + 1);
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        crowd_add(i < n_late ? late : others, &cause->ranks[i]);
    for (uint32_t i = 0; i < cause->n_others; i++)
        crowd_add(others, &cause->others[i]);
    crowd_average(late);
    crowd_average(others);
}

/* "rank 1 spends" but "ranks 1,2 spend". */
static const char *verb(const struct crowd *crowd, const char *one, const char *many)
{
    return crowd->n == 1 ? one : many;
}

static const char *explain_time(struct arena *arena, const struct crowd *late, const struct crowd *others)
{
    const char *who = amount_ranks(arena, late->ranks, late->n);
    if (!others->n)
        return arena_printf(arena, "%s %s %s in it, at times when others wait", who, verb(late, "spends", "spend"),
                            amount_duration(late->mean_ns).text);
    const char *whom = amount_ranks(arena, others->ranks, others->n);
    if (others->mean_ns < 0.01 * late->mean_ns)
        return arena_printf(arena, "%s %s %s in it, %s next to nothing", who, verb(late, "spends", "spend"),
                            amount_duration(late->mean_ns).text, whom);
    double ratio = late->mean_ns / others->mean_ns;
    if (ratio < LONGER)
        return arena_printf(arena, "%s %s no longer in it than %s in all, but before the others wait", who,
                            verb(late, "spends", "spend"), whom);
    return arena_printf(arena, "%s %s %.*f x as long in it as %s", who, verb(late, "spends", "spend"),
                        ratio < 10 ? 1 : 0, ratio, whom);
}

static const char *factor(struct arena *arena, double ratio)
{
    return arena_printf(arena, "%.*f x", ratio > 0.95 && ratio < 1.095 ? 2 : ratio < 9.95 ? 1 : 0, ratio);
}

static bool is_alike(double ratio)
{
    return ratio > 0.87 && ratio < 1.15;
}

/* Next to what is too short to be sampled anything takes thousands of times as long: how many says nothing. */
static const char *cost_factor(struct arena *arena, double ratio)
{
    enum { KNOWN = 1000 };
    return ratio < KNOWN ? factor(arena, ratio) : arena_printf(arena, "over %d x", KNOWN);
}

/* What one execution takes there, compared with the others: instructions first, since they are work, then the rest.
 * Ranks may be slower at times when others wait, and not in all. */
static const char *explain_each(struct arena *arena, const struct cause *cause, double instructions, double cost)
{
    bool says_slower = cause->kind_ns[KIND_SLOWER] >= WORTH_SAYING * cause->waiting_ns;
    const char *in_all = says_slower && cost < 1 && !is_alike(cost) ? " in all, slower when others wait" : "";
    if (!is_alike(instructions)) {
        double rest = cost / instructions;
        const char *dearer =
            is_alike(rest) ? "" : arena_printf(arena, ", each at %s the cost", cost_factor(arena, rest));
        return arena_printf(arena, "each time with %s the instructions%s%s", factor(arena, instructions), dearer,
                            in_all);
    }
    if (is_alike(cost) && !(says_slower && cost > 1.02))
        return says_slower ? "at the same cost each time in all" : "at the same cost each time";
    return arena_printf(arena, "each time at %s the cost%s", cost_factor(arena, cost), in_all);
}

static double ratio_of(double late, double others)
{
    return late > 0 && others > 0 ? late / others : 1;
}

/* Ranks that run it as often over the whole run may still do so at other times. */
static const char *explain_times(struct arena *arena, const struct cause *cause, double more, double instructions)
{
    bool is_late = is_alike(instructions) && cause->kind_ns[KIND_MORE_WORK] >= WORTH_SAYING * cause->waiting_ns;
    if (more > 0.98 && more < 1.02)
        return is_late ? "as often in all as" : "as often as";
    return arena_printf(arena, "%s as often as", factor(arena, more));
}

/* From executions: how many more, and what each costs. NULL when the two sides cannot be compared. */
static const char *explain_work(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                const struct crowd *others)
{
    if (!(late->mean_executions > 0) || !others->n)
        return NULL;
    const char *who = amount_ranks(arena, late->ranks, late->n), *whom = amount_ranks(arena, others->ranks, others->n);
    if (others->mean_executions < 0.001 * late->mean_executions)
        return arena_printf(arena, "only %s %s it, %.0f times", who, verb(late, "runs", "run"), late->mean_executions);
    double more = late->mean_executions / others->mean_executions;
    double instructions = ratio_of(late->mean_instructions, others->mean_instructions * more);
    double cost = ratio_of(late->computing_ns, others->computing_ns * more);
    if (more * instructions < 0.98 && late->computing_ns < LONGER * others->computing_ns)
        return arena_printf(arena, "%s %s it %s %s in all, but before the others wait", who, verb(late, "runs", "run"),
                            explain_times(arena, cause, more, instructions), whom);
    return arena_printf(arena, "%s %s it %s %s, %s", who, verb(late, "runs", "run"),
                        explain_times(arena, cause, more, instructions), whom,
                        explain_each(arena, cause, instructions, cost));
}

/* Computing: from executions where they are known, else from time. */
static const char *explain_computing(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                     const struct crowd *others)
{
    const char *work = explain_work(arena, cause, late, others);
    return work ? work : explain_time(arena, late, others);
}

static const char *explain_descheduled(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                       const struct crowd *others)
{
    const char *was = verb(late, "was", "were");
    double computing_ns = cause->kind_ns[KIND_MORE_WORK] + cause->kind_ns[KIND_SLOWER] + cause->kind_ns[KIND_MORE_TIME];
    if (computing_ns < WORTH_SAYING * cause->waiting_ns)
        return arena_printf(arena, "%s %s off the CPU there, although runnable",
                            amount_ranks(arena, late->ranks, late->n), was);
    return arena_printf(arena, "%s, and %s off the CPU there, although runnable",
                        explain_computing(arena, cause, late, others), was);
}

static const char *explain_kind(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                const struct crowd *others)
{
    switch (cause->kind) {
    case KIND_MORE_WORK:
    case KIND_SLOWER:
        return explain_computing(arena, cause, late, others);
    case KIND_DESCHEDULED:
        return explain_descheduled(arena, cause, late, others);
    case KIND_BLOCKED:
        return arena_printf(arena, "%s; most of the difference in system calls", explain_time(arena, late, others));
    case KIND_TRANSFER:
        return arena_printf(arena, "%s; in MPI itself, not waiting", explain_time(arena, late, others));
    default:
        return explain_time(arena, late, others);
    }
}

/* "1.2 GB", "1.2 GB each", "nothing" */
static const char *bytes_each(struct arena *arena, const struct crowd *crowd, double bytes)
{
    return bytes > 0 ? arena_printf(arena, "%s%s", amount_bytes(bytes).text, crowd->n > 1 ? " each" : "") : "nothing";
}

/* "ranks 1,2 VERB 1.2 GB each OBJECT there, rank 0 nothing" */
static const char *explain_amounts(struct arena *arena, const struct crowd *late, double late_bytes,
                                   const struct crowd *others, double others_bytes, const char *verb_and_object[2])
{
    const char *compared = "";
    if (others->n)
        compared = arena_printf(arena, ", %s %s", amount_ranks(arena, others->ranks, others->n),
                                bytes_each(arena, others, others_bytes));
    return arena_printf(arena, "%s %s %s%s there%s", amount_ranks(arena, late->ranks, late->n), verb_and_object[0],
                        bytes_each(arena, late, late_bytes), verb_and_object[1], compared);
}

/* What the two sides allocate there; NULL where they do not. */
static const char *explain_space(struct arena *arena, const struct crowd *late, const struct crowd *others)
{
    const char *words[2] = {verb(late, "allocates", "allocate"), ""};
    if (!(late->mean_bytes > 0 || others->mean_bytes > 0))
        return NULL;
    return explain_amounts(arena, late, late->mean_bytes, others, others->mean_bytes, words);
}

/* How many threads share it at a time, where the two sides differ in that; NULL where it is not known of both. */
static const char *explain_threads(struct arena *arena, const struct crowd *late, const struct crowd *others)
{
    if (!(late->thread_ns > 0 && others->thread_ns > 0))
        return NULL;
    double n_late = late->thread_ns / late->computing_ns, n_others = others->thread_ns / others->computing_ns;
    bool is_shared = n_late > WORTH_COUNTING || n_others > WORTH_COUNTING;
    if (!is_shared || (n_late > n_others / WORTH_COUNTING && n_late < n_others * WORTH_COUNTING))
        return NULL;
    return arena_printf(arena, "%.1f threads share it at a time there, %.1f on %s", n_late, n_others,
                        amount_ranks(arena, others->ranks, others->n));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Its files, and how much of them the two sides read and write there. */
static const char *explain_files(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                 const struct crowd *others)
{
    const char *files = base_name(cause->files[0].name);
    if (cause->n_files > 1)
        files = arena_printf(arena, "%s and %u more file%s", files, cause->n_files - 1, cause->n_files > 2 ? "s" : "");
    const char *words[2] = {verb(late, "moves", "move"), arena_printf(arena, " of %s", files)};
    if (late->mean_file_bytes > 0 || others->mean_file_bytes > 0)
        return explain_amounts(arena, late, late->mean_file_bytes, others, others->mean_file_bytes, words);
    return arena_printf(arena, "it works on %s", files);
}

const char *explain_cause(struct arena *arena, const struct cause *cause)
{
    struct crowd late = {0}, others = {0};
    crowds_make(arena, cause, &late, &others);
    const char *clauses[] = {
        explain_kind(arena, cause, &late, &others),
        cause->is_spinning ? "it waits for shared memory to change: who changes it is not recorded" : NULL,
        explain_space(arena, &late, &others),
        explain_threads(arena, &late, &others),
        cause->library ? arena_printf(arena, "most of it inside %s, which is not counted", base_name(cause->library))
                       : NULL,
        cause->n_files ? explain_files(arena, cause, &late, &others) : NULL,
    };
    const char *text = clauses[0];
    for (size_t i = 1; i < sizeof clauses / sizeof *clauses; i++)
        if (clauses[i])
            text = arena_printf(arena, "%s; %s", text, clauses[i]);
    return text;
}
