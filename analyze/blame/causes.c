/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/causes.h"
#include "analyze/blame/causes_write.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <string.h>

/* Of one class and place: what the two sides did there. */
struct both_sides {
    struct side late, others;
    double late_variance, others_variance; /* of their times, as far as costs are uncertain */
};

static enum cause_kind step_kind(const struct step_key *key)
{
    switch ((enum step_state)key->state) {
    case STEP_DESCHEDULED:
        return KIND_DESCHEDULED;
    case STEP_BLOCKED:
        return KIND_BLOCKED;
    case STEP_TRANSFER:
    case STEP_MPI:
        return KIND_TRANSFER;
    default:
        return KIND_MORE_TIME;
    }
}

static bool is_without_cpu(const struct causes *causes, uint32_t step)
{
    return steps_key(causes->steps, step)->state == STEP_DESCHEDULED;
}

static struct rollup_node *rollup_node(struct causes *causes, uint32_t node)
{
    if (node >= causes->rollup.nodes.n)
        vec_resize(&causes->rollup.nodes, (size_t)node + 1);
    return &causes->rollup.nodes.at[node];
}

static void node_add(struct causes *causes, uint64_t key, double ns, bool is_blame)
{
    struct placings placings = placing_of(&causes->placing, key_rank(key), key_atom(key));
    for (size_t i = 0; i < placings.n && !is_without_cpu(causes, key_atom(key)); i++) {
        const struct placed *placed = &placings.at[i];
        double share = is_blame ? placed->blame : placed->share;
        struct rollup_node *node = rollup_node(causes, placed->node);
        if (share > 0)
            sparse_add(is_blame ? &node->blame : &node->times, key_rank(key), ns * share);
    }
}

/* Which nodes lie in the code that names their cause. A cause may have more, beside it, of which its ranks run as much
 * as the others do or hardly any, the same code among it if it is entered on another way: what is said of times and
 * executions is said of the code that is named. Where others never come to any of it, it is said of all. */
static void causes_mark_inside(struct causes *causes)
{
    const struct rollup *rollup = &causes->rollup;
    vec_resize(&causes->is_inside, rollup->nodes.n);
    for (size_t i = 0; i < rollup->order.n; i++) {
        uint32_t node = rollup->order.at[i], cause = rollup->cause_of.at[node], parent = rollup->nodes.at[node].parent;
        if (cause == ROLLUP_NONE)
            continue;
        bool is_named = rollup->nodes.at[node].code == rollup->nodes.at[rollup->causes.at[cause].node].code &&
                        !rollup->may_be_even.at[node];
        bool is_below = parent != ROLLUP_NONE && rollup->cause_of.at[parent] == cause && causes->is_inside.at[parent];
        causes->is_inside.at[node] = is_named || is_below || rollup->causes.at[cause].has_others;
    }
}

/* What a node executes is inside all code around it: also in that which names another cause. */
static void causes_add_entered(struct causes *causes)
{
    const struct rollup *rollup = &causes->rollup;
    struct arena scratch = {0};
    uint32_t *seen = arena_array(&scratch, uint32_t, rollup->causes.n + 1); /* from this node, + 1 */
    for (uint32_t node = 0; node < rollup->nodes.n; node++) {
        uint32_t own = rollup->cause_of.at[node], around = rollup->nodes.at[node].parent;
        for (; around != ROLLUP_NONE && rollup->nodes.at[node].times.n; around = rollup->nodes.at[around].parent) {
            uint32_t cause = rollup->cause_of.at[around];
            if (cause == ROLLUP_NONE || cause == own || !causes->is_inside.at[around] || seen[cause] == node + 1)
                continue;
            seen[cause] = node + 1;
            sparse_add_all(&causes->sums.at[cause].entered, &rollup->nodes.at[node].times, 1);
        }
    }
    arena_release(&scratch);
}

static bool has_one_reason(void *context, uint32_t a, uint32_t b, const struct sparse *late)
{
    return ways_have_one_reason(context, a, b, late);
}

static const struct code_place *place_of_step(const struct causes *causes, uint32_t step)
{
    const struct step_key *key = steps_key(causes->steps, step);
    struct code *code = causes->input->sites->code;
    return code && key->what == WHAT_PLACE ? code_place(code, key->id) : NULL;
}

/* `around`: TRACE_NONE = nothing is. Executions tell loops on the same lines apart, where they are counted. */
static bool tells_nothing(const struct causes *causes, uint32_t step, uint32_t around)
{
    const struct code_place *place = place_of_step(causes, step);
    const struct code_place *other = around == TRACE_NONE ? NULL : place_of_step(causes, around);
    if (!place || place->is_system)
        return place != NULL;
    if (!place->is_loop || !other || !other->is_loop)
        return false;
    bool is_counted = !isnan(costs_part_of_run(causes->input->costs, COSTS_ALL_RANKS, step));
    return !is_counted && place->file && other->file && !strcmp(place->file, other->file) &&
           place->line_first == other->line_first && place->line_last == other->line_last;
}

static void causes_roll_up(struct causes *causes)
{
    const struct classes *classes = causes->input->classes;
    const struct sparse *times = &causes->input->measures->times;
    for (size_t i = 0; i < times->n; i++)
        node_add(causes, times->at[i].key, times->at[i].ns, false);
    for (size_t site = 0; site < classes->sites.n; site++)
        for (size_t i = 0; i < classes->sites.at[site].classes.n; i++) {
            const struct sparse *blame = &causes->input->measures->blames[site][i];
            for (size_t j = 0; j < blame->n; j++)
                node_add(causes, blame->at[j].key, blame->at[j].ns, true);
        }
    const struct calltree *tree = &causes->placing.tree;
    vec_resize(&causes->rollup.nodes, tree->nodes.n);
    for (uint32_t i = 0; i < tree->nodes.n; i++) {
        struct rollup_node *node = &causes->rollup.nodes.at[i];
        node->parent = tree->nodes.at[i].parent == TRACE_NONE ? (uint32_t)ROLLUP_NONE : tree->nodes.at[i].parent;
        node->code = tree->nodes.at[i].step;
        node->call_line = calltree_call_line(tree, i);
        node->is_free = !tree->nodes.at[i].waits;
        node->tells_nothing = tells_nothing(
            causes, node->code, node->parent == ROLLUP_NONE ? TRACE_NONE : tree->nodes.at[node->parent].step);
    }
    causes->rollup.n_ranks = causes->input->analysis->trace->n_ranks;
    causes->rollup.sample_ns = survey_sample_ns(causes->input->survey);
    struct ways ways = {.tree = tree, .survey = causes->input->survey};
    causes->rollup.has_one_reason = causes->input->sites->code ? has_one_reason : NULL;
    causes->rollup.context = &ways;
    rollup_find(&causes->rollup);
    ways_release(&ways);
    vec_resize(&causes->sums, causes->rollup.causes.n);
    causes_mark_inside(causes);
    causes_add_entered(causes);
}

/* The cause that a node's own code belongs to; NULL. */
static struct cause_sums *sums_of(struct causes *causes, uint32_t node)
{
    uint32_t cause = node < causes->rollup.cause_of.n ? causes->rollup.cause_of.at[node] : (uint32_t)ROLLUP_NONE;
    return cause == ROLLUP_NONE ? NULL : &causes->sums.at[cause];
}

/* Likewise, where that lies in the code that names the cause. */
static struct cause_sums *sums_inside(struct causes *causes, uint32_t node)
{
    struct cause_sums *sums = sums_of(causes, node);
    return sums && causes->is_inside.at[node] ? sums : NULL;
}

/* Of one class. */
struct class_counts {
    const struct sparse *executions, *work;
};

static void sum_sides(const struct sparse *from, uint32_t place, double *late, double *others)
{
    for (size_t i = 0; i < from->n; i++)
        if ((uint32_t)from->at[i].key == place)
            *(from->at[i].key & KEY_WAITING ? others : late) += from->at[i].ns;
}

/* Of a class: over the run the time of a place may be off by as much as threads are too many, in one class by more. */
static double class_cost_error(const struct causes *causes, uint32_t rank, uint32_t place)
{
    return causes_threads_beyond(causes, rank, place) > 0 ? HUGE_VAL : costs_error(causes->input->costs, rank, place);
}

/* Of the time in a step's place, and of how often `place` was executed: the place itself, what calls it (then the time
 * is that of its calls) or what it calls. */
static double share_of_work(const struct causes *causes, const struct path_class *class,
                            const struct class_counts *counts, const struct step_key *of, uint32_t place)
{
    bool is_caller = place != of->id && place == of->caller;
    struct both_sides at = {0};
    /* How often the two sides ran a place, by work if that is known of both. */
    double late = 0, others = 0;
    sum_sides(counts->executions, place, &at.late.executions, &at.others.executions);
    sum_sides(counts->work, place, &late, &others);
    if (at.late.executions > 0 && at.others.executions > 0 && late > 0 && others > 0) {
        at.late.executions = late;
        at.others.executions = others;
    }
    /* The time that the computing steps of a place took on the two sides. */
    for (size_t i = 0; i < class->terms.n; i++) {
        const struct term *term = &class->terms.at[i];
        const struct step_key *key = steps_key(causes->steps, key_atom(term->key));
        if (key->state != STEP_COMPUTING || key->what != WHAT_PLACE || key->id != of->id ||
            (is_caller && key->caller != place))
            continue;
        bool is_late = !(term->key & KEY_WAITING);
        double error_ns = term->ns * class_cost_error(causes, key_rank(term->key), of->id);
        *(is_late ? &at.late.ns : &at.others.ns) += term->ns;
        *(is_late ? &at.late_variance : &at.others_variance) += error_ns * error_ns;
    }
    double late_error = at.late.ns > 0 ? sqrt(at.late_variance) / at.late.ns : 0,
           others_error = at.others.ns > 0 ? sqrt(at.others_variance) / at.others.ns : 0;
    return executions_share_of_work(at.late, at.others, hypot(late_error, others_error));
}

/* A step's blame: how much of it is more work, and what the rest is. */
struct split {
    double work_share;
    enum cause_kind rest;
};

static bool is_counted(const struct class_counts *counts, uint32_t place)
{
    double late = 0, others = 0;
    sum_sides(counts->executions, place, &late, &others);
    return late > 0 || others > 0;
}

/*
 * Executions tell more work from slower. Code that is not counted is charged to the place that calls it: what it takes
 * beyond the number of calls may be more work in each or slower, and so may be what runs in code made at run time. What
 * it calls back tells more than the number of calls.
 */
static struct split split_of(const struct causes *causes, const struct path_class *class,
                             const struct class_counts *counts, uint32_t step)
{
    const struct step_key *key = steps_key(causes->steps, step);
    struct split split = {.rest = step_kind(key)};
    if (key->what == WHAT_PLACE && sites_step_is_spinning(causes->input->sites, step))
        return split; /* however often it looks */
    if (key->state != STEP_COMPUTING || key->what != WHAT_PLACE || !counts->executions->n)
        return split;
    bool is_itself = is_counted(counts, key->id);
    uint32_t place = is_itself ? key->id : key->caller;
    if (place == TRACE_NONE)
        return split;
    bool is_library = is_itself && uncounted_is_library(&causes->uncounted, key->id);
    uint32_t called = is_library ? uncounted_calls_back(&causes->uncounted, key->id) : CODE_NONE;
    if (called != CODE_NONE && is_counted(counts, called))
        place = called;
    double work_share = share_of_work(causes, class, counts, key, place);
    if (work_share < 0)
        return split;
    split.work_share = work_share;
    if (is_itself && !is_library && !uncounted_is_generated(&causes->uncounted, key->id))
        split.rest = KIND_SLOWER;
    return split;
}

static void kinds_add(double kind_ns[KIND_N], struct split split, double ns)
{
    kind_ns[KIND_MORE_WORK] += split.work_share * ns;
    kind_ns[split.rest] += (1 - split.work_share) * ns;
}

static struct own *own_of(struct causes *causes, uint32_t node)
{
    if (node >= causes->own.n)
        vec_resize(&causes->own, (size_t)node + 1);
    return &causes->own.at[node];
}

/* Time without a CPU is the machine's, wherever it was lost. */
static void causes_collect_class(struct causes *causes, uint32_t site, uint32_t at, uint32_t class)
{
    const struct measures *measures = causes->input->measures;
    const struct sparse *blame = &measures->blames[at][class];
    struct class_counts counts = {&measures->counted[at][class], &measures->worked[at][class]};
    const struct path_class *from = causes->input->classes->sites.at[at].classes.at[class];
    for (size_t i = 0; i < blame->n; i++) {
        uint64_t key = blame->at[i].key, where = key_pair(site, class);
        bool is_off = is_without_cpu(causes, key_atom(key));
        struct split split = split_of(causes, from, &counts, key_atom(key));
        struct placings placings = placing_of(&causes->placing, key_rank(key), key_atom(key));
        for (size_t j = 0; j < placings.n; j++) {
            uint32_t node = placings.at[j].node;
            double ns = blame->at[i].ns * placings.at[j].blame;
            struct cause_sums *sums = sums_of(causes, node);
            if (!(placings.at[j].blame > 0))
                continue;
            if (sums)
                sparse_add(&sums->held_up, where, ns);
            if (sums && is_off && causes->is_inside.at[node])
                sparse_add(&sums->lacking, key_rank(key), ns);
            sums = is_off ? NULL : sums;
            struct waiting *waiting = sums ? &sums->waiting : &causes->machine;
            waiting->ns += ns;
            waiting->direct_ns += key & KEY_LONG_TERM ? 0 : ns;
            sparse_add(&waiting->ranks, key_rank(key), ns);
            sparse_add(&waiting->classes, where, ns);
            sparse_add(&waiting->by_site, key_pair(site, key_rank(key)), ns);
            if (sums) {
                kinds_add(sums->kind_ns, split, ns);
                kinds_add(own_of(causes, node)->kind_ns, split, ns);
            } else {
                sparse_add(&causes->machine_steps, causes->placing.tree.nodes.at[node].step, ns);
            }
        }
    }
}

/* System calls and page faults are sampled as computing is. Of a sleep, switches tell the length. */
static void find_kernel_parts(struct causes *causes)
{
    const struct survey *survey = causes->input->survey;
    struct sparse sampled = {0}, kernel = {0};
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t step = entry->kernel_ns ? sites_sample_step(causes->input->sites, entry->frame) : TRACE_NONE;
        if (step == TRACE_NONE)
            continue;
        uint64_t key = key_pair(entry->rank, steps_in_state(causes->steps, step, STEP_BLOCKED));
        sparse_add(&kernel, key, (double)entry->kernel_ns);
        sparse_add(&sampled, key, (double)(entry->kernel_ns + entry->blocked_ns));
    }
    sparse_pack(&kernel);
    sparse_pack(&sampled);
    for (size_t i = 0; i < kernel.n; i++)
        sparse_add(&causes->kernel_part, kernel.at[i].key, kernel.at[i].ns / sparse_get(&sampled, kernel.at[i].key));
    sparse_pack(&causes->kernel_part);
    sparse_release(&kernel);
    sparse_release(&sampled);
}

/* How much of a step's time samples found on a CPU. */
static double sampled_part(const struct causes *causes, uint32_t rank, uint32_t step)
{
    enum step_state state = (enum step_state)steps_key(causes->steps, step)->state;
    return state == STEP_COMPUTING ? 1
           : state == STEP_BLOCKED ? sparse_get(&causes->kernel_part, key_pair(rank, step))
                                   : 0;
}

static void causes_collect_time(struct causes *causes, uint64_t key, double ns)
{
    const struct step_key *step = steps_key(causes->steps, key_atom(key));
    bool is_busy = step->state == STEP_COMPUTING, is_place = is_busy && step->what == WHAT_PLACE;
    uint64_t code = is_place ? atom_key(key_rank(key), step->id) : 0;
    struct placings placings = placing_of(&causes->placing, key_rank(key), key_atom(key));
    for (size_t i = 0; i < placings.n; i++) {
        struct cause_sums *sums = sums_of(causes, placings.at[i].node);
        double part_ns = ns * placings.at[i].share;
        if (!sums)
            continue;
        sparse_add(&sums->times, key_rank(key), part_ns);
        if (step->state == STEP_DESCHEDULED)
            sparse_add(&sums->lacks, key_rank(key), part_ns);
        if (step->state == STEP_DESCHEDULED || !causes->is_inside.at[placings.at[i].node])
            continue;
        sparse_add(&sums->inside, key_rank(key), part_ns);
        if (is_busy)
            sparse_add(&sums->busy, key_rank(key), part_ns);
        else
            sparse_add(&sums->in_kernel, key_rank(key), part_ns * sampled_part(causes, key_rank(key), key_atom(key)));
        if (is_place)
            sparse_add(&sums->by_code, code, part_ns);
    }
    if (is_place)
        sparse_add(&causes->busy_code, code, ns);
    if (step->state == STEP_BLOCKED)
        sparse_add(&causes->blocked, key_atom(key), ns);
}

/* Time of one process that samples share out among causes. */
struct sampled_time {
    double ns, n_samples;
    struct sparse by_cause;
};

static void sampled_time_add(struct causes *causes, struct sampled_time *time, uint32_t rank, uint32_t step, double ns)
{
    struct placings placings = placing_of(&causes->placing, rank, step);
    time->ns += ns;
    for (size_t i = 0; i < placings.n; i++) {
        const struct cause_sums *sums = sums_inside(causes, placings.at[i].node);
        if (sums)
            sparse_add(&time->by_cause, (uint64_t)(sums - causes->sums.at), ns * placings.at[i].share);
    }
}

/* What an atom adds to the time that its pool's samples share out, or to `own`: that of stretches with enough of their
 * own. */
static struct sampled_time sampled_time_of(struct causes *causes, uint64_t key, double ns, double sample_ns,
                                           struct sampled_time *own)
{
    const struct pools *pools = causes->input->classes->pools;
    struct term single;
    struct shares shares = atom_expand(pools, key_atom(key), &single);
    struct sampled_time pooled = {.n_samples = atom_samples(pools, key_atom(key), sample_ns)};
    for (size_t i = 0; i < shares.n; i++) {
        uint32_t step = (uint32_t)shares.at[i].key;
        const struct step_key *at = steps_key(causes->steps, step);
        if (pooled.n_samples > 0 && step_state_is_code((enum step_state)at->state))
            sampled_time_add(causes, &pooled, key_rank(key), step, ns * shares.at[i].ns);
        else if (!(key_atom(key) & ATOM_IS_POOL) && at->what == WHAT_PLACE)
            sampled_time_add(causes, own, key_rank(key), step,
                             ns * shares.at[i].ns * sampled_part(causes, key_rank(key), step));
    }
    sparse_pack(&pooled.by_cause);
    return pooled;
}

/* Of n samples those of a cause are binomial, and all that is known of its share: how far that is off in the mean is
 * told by Jeffreys' prior, so that what all of a few samples show is not certain, nor what none of them does. */
static void noise_add(struct causes *causes, uint32_t cause, uint32_t rank, const struct sampled_time *time, double n)
{
    double share = sparse_get(&time->by_cause, cause) / time->ns, expected = (share * n + 0.5) / (n + 1);
    double variance = expected * (1 - expected) / (n + 2) + pow(expected - share, 2);
    sparse_add(&causes->sums.at[cause].noise, rank, time->ns * time->ns * variance);
}

static uint32_t pool_of(uint64_t key)
{
    return (key_atom(key) & ~ATOM_IS_POOL) / N_AMOUNTS;
}

/* What stands for the two calls between which stretches lie, above a cause. 0: they are not pooled. */
static uint64_t calls_of(const struct causes *causes, uint64_t key)
{
    const struct causes_input *input = causes->input;
    const struct pools *pools = input->classes->pools;
    if (key_atom(key) & ATOM_IS_POOL)
        return key_pair(1 + pools_between(pools, pool_of(key)), 0);
    const struct step_key *step = steps_key(causes->steps, key_atom(key));
    if (step->what != WHAT_GAP || !step_state_is_code((enum step_state)step->state))
        return 0;
    const uint32_t *calls = sites_pair_at(input->sites, step->id);
    return key_pair(1 + pools_between_calls(pools, calls[0], calls[1]), 0);
}

/* By all samples of each process: stretches that have enough of their own give no atom by which calls are known. */
static void add_sampled_between_calls(struct causes *causes, struct sparse *between)
{
    const struct pools *pools = causes->input->classes->pools;
    for (uint32_t pool = 0; pool < pools->n; pool++) {
        uint32_t rank;
        if (!pools_is_of_process(pools, pool, &rank))
            continue;
        struct sampled_time seen = {0};
        for (size_t i = 0; i < pools->at[pool].on.n; i++)
            sampled_time_add(causes, &seen, rank, (uint32_t)pools->at[pool].on.at[i].key, 1);
        for (size_t i = 0; i < seen.by_cause.n; i++)
            sparse_add(between, key_pair(1 + pools_between(pools, pool), (uint32_t)seen.by_cause.at[i].key), 1);
        sparse_release(&seen.by_cause);
    }
}

/* Which causes any process was seen in, by calls_of and cause; to be released. */
static struct sparse causes_between_calls(struct causes *causes)
{
    struct sparse between = {0};
    struct sampled_time own = {0};
    add_sampled_between_calls(causes, &between);
    for (uint32_t rank = 0; rank < causes->input->analysis->trace->n_ranks; rank++) {
        const struct sparse *atoms = &causes->input->ranks[rank].atoms;
        for (size_t i = 0; i < atoms->n; i++) {
            struct sampled_time pooled =
                sampled_time_of(causes, atom_key(rank, key_atom(atoms->at[i].key)), 1, 1, &own);
            for (size_t j = 0; j < pooled.by_cause.n; j++)
                sparse_add(&between, calls_of(causes, atoms->at[i].key) | pooled.by_cause.at[j].key, 1);
            sparse_release(&pooled.by_cause);
        }
    }
    sparse_release(&own.by_cause);
    sparse_pack(&between);
    return between;
}

/* `between`: causes_between_calls. What others were seen in between the same two calls, and this process was not, it
 * may have been in as well: for all of the time, where it was seen in nothing. */
static void rank_add_noise(struct causes *causes, const struct sparse *between, uint32_t rank, double sample_ns)
{
    const struct sparse *atoms = &causes->input->ranks[rank].atoms;
    struct sampled_time own = {0};
    for (size_t i = 0; i < atoms->n; i++) {
        uint64_t key = atom_key(rank, key_atom(atoms->at[i].key)), calls = calls_of(causes, key);
        struct sampled_time pooled = sampled_time_of(causes, key, atoms->at[i].ns, sample_ns, &own);
        bool is_seen = key_atom(key) & ATOM_IS_POOL;
        uint32_t of_process;
        bool is_borrowed = is_seen && !pools_is_of_process(causes->input->classes->pools, pool_of(key), &of_process);
        for (size_t j = 0; j < pooled.by_cause.n && is_borrowed; j++)
            sparse_add(&causes->sums.at[pooled.by_cause.at[j].key].borrowed, rank, pooled.by_cause.at[j].ns);
        size_t first = calls && (pooled.ns > 0 || !is_seen) ? sparse_find(between, calls) : between->n;
        for (size_t j = first; j < between->n && key_high(between->at[j].key) == key_high(calls); j++) {
            uint32_t cause = key_low(between->at[j].key);
            if (is_seen)
                noise_add(causes, cause, rank, &pooled, pooled.n_samples);
            else
                sparse_add(&causes->sums.at[cause].unseen, rank, atoms->at[i].ns);
        }
        sparse_release(&pooled.by_cause);
    }
    sparse_pack(&own.by_cause);
    for (size_t i = 0; i < own.by_cause.n; i++)
        noise_add(causes, (uint32_t)own.by_cause.at[i].key, rank, &own, own.ns / sample_ns);
    sparse_release(&own.by_cause);
}

/* How far sampling may have times of causes off. Lengths of stretches are measured, and samples share them out: those
 * of a pool, or, as far as stretches have enough of their own, those of all such stretches of the process. */
static void causes_add_noise(struct causes *causes)
{
    const struct survey *survey = causes->input->survey;
    double usual_ns = survey_sample_ns(survey);
    if (!(usual_ns > 0))
        return;
    struct sparse between = causes_between_calls(causes);
    for (uint32_t rank = 0; rank < causes->input->analysis->trace->n_ranks; rank++) {
        double sample_ns = survey_rank_sample_ns(survey, rank);
        rank_add_noise(causes, &between, rank, sample_ns > 0 ? sample_ns : usual_ns);
    }
    for (size_t i = 0; i < causes->sums.n; i++) {
        sparse_pack(&causes->sums.at[i].noise);
        sparse_pack(&causes->sums.at[i].unseen);
        sparse_pack(&causes->sums.at[i].borrowed);
    }
    sparse_release(&between);
}

/* `asleep_ns`: of the critical path, by rank. Where threads that call MPI run beside one that sleeps until they are
 * through, the path goes on in them, which no chain tells: any cause may lie there, with no more than all are in it. */
static void causes_add_unknown_path(struct causes *causes, const struct sparse *asleep_ns)
{
    for (size_t i = 0; i < asleep_ns->n; i++) {
        const struct rank_time *time = &causes->input->ranks[asleep_ns->at[i].key];
        double unknown_ns = fmin(asleep_ns->at[i].ns, fmin(time->asleep_ns, time->beside_ns));
        for (size_t k = 0; k < causes->sums.n; k++)
            causes->sums.at[k].critical_ns += fmin(unknown_ns, sparse_sum(&causes->sums.at[k].inside));
    }
}

static void causes_add_critical(struct causes *causes)
{
    const struct sparse *critical = causes->input->critical;
    struct sparse asleep_ns = {0};
    for (size_t i = 0; i < critical->n; i++) {
        uint32_t rank = key_rank(critical->at[i].key);
        struct term single;
        struct shares shares = atom_expand(causes->input->classes->pools, key_atom(critical->at[i].key), &single);
        for (size_t j = 0; j < shares.n; j++) {
            uint32_t step = (uint32_t)shares.at[j].key;
            double step_ns = critical->at[i].ns * shares.at[j].ns;
            struct placings placings = placing_of(&causes->placing, rank, step);
            if (is_without_cpu(causes, step))
                causes->path_off_cpu_ns += step_ns;
            if (steps_key(causes->steps, step)->state == STEP_BLOCKED)
                sparse_add(&asleep_ns, rank, step_ns);
            for (size_t k = 0; k < placings.n; k++) {
                struct cause_sums *sums = sums_inside(causes, placings.at[k].node);
                if (sums)
                    sums->critical_ns += step_ns * placings.at[k].share;
                if (sums && is_without_cpu(causes, step))
                    sums->critical_off_ns += step_ns * placings.at[k].share;
                if (!is_without_cpu(causes, step))
                    own_of(causes, placings.at[k].node)->on_path_ns += step_ns * placings.at[k].share;
            }
        }
    }
    sparse_pack(&asleep_ns);
    causes_add_unknown_path(causes, &asleep_ns);
    sparse_release(&asleep_ns);
}

/* Time by (rank, atom), all of it under one lock. */
static void causes_add_under_lock(struct causes *causes, uint32_t lock, const struct sparse *atoms)
{
    for (size_t j = 0; j < atoms->n; j++) {
        uint32_t rank = key_rank(atoms->at[j].key);
        struct term single;
        struct shares shares = atom_expand(causes->input->classes->pools, key_atom(atoms->at[j].key), &single);
        for (size_t k = 0; k < shares.n; k++) {
            struct placings placings = placing_of(&causes->placing, rank, (uint32_t)shares.at[k].key);
            for (size_t m = 0; m < placings.n; m++) {
                struct cause_sums *sums = sums_of(causes, placings.at[m].node);
                if (sums)
                    sparse_add(&sums->serial, key_pair(lock, rank),
                               atoms->at[j].ns * shares.at[k].ns * placings.at[m].share);
            }
        }
    }
}

/* Time that is no shorter when it is shared out: under locks that let in one process at a time, and that of a thread
 * which serves. Its naps between two looks are as long on any rank. */
static void causes_add_serial(struct causes *causes)
{
    const struct causes_input *input = causes->input;
    const struct locks *locks = input->locks;
    for (uint32_t i = 0; i < locks->works.n; i++)
        if (locks_are_serial(locks, &locks->works.at[i]))
            causes_add_under_lock(causes, i, &locks->works.at[i].atoms);
    for (uint32_t rank = 0; rank < input->analysis->trace->n_ranks; rank++)
        causes_add_under_lock(causes, (uint32_t)locks->works.n + rank, &input->ranks[rank].served);
}

static void waiting_release(struct waiting *waiting)
{
    sparse_release(&waiting->ranks);
    sparse_release(&waiting->classes);
    sparse_release(&waiting->by_site);
}

static void causes_release(struct causes *causes)
{
    for (size_t i = 0; i < causes->sums.n; i++) {
        struct cause_sums *sums = &causes->sums.at[i];
        waiting_release(&sums->waiting);
        sparse_release(&sums->times);
        sparse_release(&sums->lacks);
        sparse_release(&sums->lacking);
        sparse_release(&sums->held_up);
        sparse_release(&sums->serial);
        sparse_release(&sums->inside);
        sparse_release(&sums->entered);
        sparse_release(&sums->busy);
        sparse_release(&sums->in_kernel);
        sparse_release(&sums->noise);
        sparse_release(&sums->unseen);
        sparse_release(&sums->borrowed);
        sparse_release(&sums->by_code);
    }
    vec_release(&causes->sums);
    vec_release(&causes->is_inside);
    vec_release(&causes->own);
    waiting_release(&causes->machine);
    sparse_release(&causes->machine_steps);
    sparse_release(&causes->busy_code);
    sparse_release(&causes->blocked);
    uncounted_release(&causes->uncounted);
    sparse_release(&causes->kernel_part);
    arena_release(&causes->arena);
    rollup_release(&causes->rollup);
    placing_release(&causes->placing);
}

void causes_find(const struct causes_input *input)
{
    struct causes causes = {.input = input, .steps = input->sites->steps};
    placing_begin(&causes.placing, input->sites, input->survey);
    causes_roll_up(&causes);
    causes.crews = crews_of(input->analysis->trace, &causes.arena);
    find_kernel_parts(&causes);
    const struct sparse *times = &input->measures->times;
    for (size_t i = 0; i < times->n; i++)
        causes_collect_time(&causes, times->at[i].key, times->at[i].ns);
    sparse_pack(&causes.busy_code);
    sparse_pack(&causes.blocked);
    uncounted_find(&causes.uncounted, input->sites, input->survey);
    const struct classes *classes = causes.input->classes;
    for (uint32_t site = 0; site < causes.input->analysis->n_sites; site++) {
        uint32_t at = causes.input->measures->site_order[site];
        for (uint32_t i = 0; i < classes->sites.at[at].classes.n; i++)
            causes_collect_class(&causes, site, at, i);
    }
    causes_add_noise(&causes);
    causes_add_critical(&causes);
    causes_add_serial(&causes);
    causes_write(&causes);
    if (input->acting) {
        /* Whose time is whose: as causes_collect_time shares it out. The times are packed, so that keys rise. */
        const struct analysis *analysis = causes.input->analysis;
        struct arena scratch = {0};
        uint32_t *number = arena_array(&scratch, uint32_t, analysis->n_causes + 1);
        for (uint32_t i = 0; i < analysis->n_causes; i++)
            number[analysis->causes[i].found_as] = i;
        for (size_t i = 0; i < times->n; i++) {
            uint64_t key = times->at[i].key;
            struct placings placings = placing_of(&causes.placing, key_rank(key), key_atom(key));
            for (size_t j = 0; j < placings.n && !is_without_cpu(&causes, key_atom(key)); j++) {
                const struct cause_sums *sums = sums_of(&causes, placings.at[j].node);
                if (sums)
                    *vec_push(&input->acting->parts) =
                        (struct cause_time){key, number[sums - causes.sums.at], (float)placings.at[j].share};
            }
        }
        arena_release(&scratch);
    }
    causes_release(&causes);
}
