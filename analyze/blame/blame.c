/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/blame.h"
#include "analyze/constants/constants.h"
#include "analyze/result/names.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>

/* Of sums of durations, relative. */
static const double ROUNDING = 1e-9;

/* Of a class's terms: remainders by step, packed. */
static void blame_net(const struct sparse *terms, struct sparse *net)
{
    for (size_t i = 0; i < terms->n; i++) {
        const struct term *term = &terms->at[i];
        sparse_add(net, key_atom(term->key), term->key & KEY_WAITING ? -term->ns : term->ns);
    }
    sparse_pack(net);
}

enum { NETTED_WITHOUT_CPU = UINT32_MAX, NETTED_IN_TRANSFER = UINT32_MAX - 1 };

/* Stands for all steps that are netted together. The late side did more at one call, and the waiting side perhaps at
 * another: where two branches call a routine, each for its own processes, it is the same code. And a process that had
 * no CPU has lost its time to the machine, wherever it was: who lost as much elsewhere was held up as long. And a
 * message takes as long on both its ends, which are in different calls. 0 = the step by itself. */
static uint32_t netted_as(struct steps *steps, uint32_t step)
{
    const struct step_key *key = steps_key(steps, step);
    if (key->state == STEP_DESCHEDULED)
        return NETTED_WITHOUT_CPU;
    if (key->state == STEP_TRANSFER)
        return NETTED_IN_TRANSFER;
    return key->entry == TRACE_NONE ? 0 : steps_put(steps, key->state, key->what, key->id, key->caller) + 1;
}

/* Steps that are entered by the same call take place of each other: where both sides are as long below it, it is no
 * reason to wait, whichever loops it was. Lengths are measured; samples say which loops, and may be few. */
static uint32_t entered_by(struct steps *steps, uint32_t step)
{
    const struct step_key *key = steps_key(steps, step);
    return step_state_is_code((enum step_state)key->state) && key->entry != TRACE_NONE ? key->entry + 1 : 0;
}

/* Takes off each other what is longer and what is shorter of the same group, 0 being none. */
static void net_together(struct steps *steps, struct sparse *net, uint32_t (*group_of)(struct steps *, uint32_t))
{
    struct sparse more = {0}, less = {0};
    uint32_t *group = NULL; /* by term */
    size_t cap = 0;
    vec_grow((void **)&group, &cap, net->n + 1, sizeof *group);
    for (size_t i = 0; i < net->n; i++) {
        group[i] = group_of(steps, (uint32_t)net->at[i].key);
        if (group[i])
            sparse_add(net->at[i].ns > 0 ? &more : &less, group[i], fabs(net->at[i].ns));
    }
    sparse_pack(&more);
    sparse_pack(&less);
    for (size_t i = 0; i < net->n && less.n; i++) {
        bool is_more = net->at[i].ns > 0;
        if (group[i] && net->at[i].ns != 0)
            net->at[i].ns *= fmax(
                1 - sparse_get(is_more ? &less : &more, group[i]) / sparse_get(is_more ? &more : &less, group[i]), 0);
    }
    sparse_release(&more);
    sparse_release(&less);
    vec_free(group);
}

enum remainder_kind { REMAINDER_WORK, REMAINDER_WITHOUT_CPU, REMAINDER_OPEN, N_REMAINDER_KINDS };

/* A wait in a loop of MPI_Win_sync is for somebody who is not known. */
static enum remainder_kind remainder_kind(const struct sites *sites, uint32_t step)
{
    if (sites_step_is_open(sites, step))
        return REMAINDER_OPEN;
    return steps_key(sites->steps, step)->state == STEP_DESCHEDULED ? REMAINDER_WITHOUT_CPU : REMAINDER_WORK;
}

/* Positive remainders. */
struct longer {
    double ns[N_REMAINDER_KINDS];
};

static double longer_known_ns(const struct longer *longer)
{
    return longer->ns[REMAINDER_WORK] + longer->ns[REMAINDER_WITHOUT_CPU];
}

/* The blamed part of a remainder. Work of the late side while the waiting side worked elsewhere is no reason to wait,
 * so that work is blamed for what the machine did not do. For what it is not known whom it waits for, that is what
 * nothing else explains. It may be the waiting process itself. */
static double part_blamed(const struct longer *longer, double waiting_ns, enum remainder_kind kind)
{
    double open_ns = longer->ns[REMAINDER_OPEN], known_ns = longer_known_ns(longer);
    if (kind == REMAINDER_OPEN)
        return waiting_ns > known_ns ? (waiting_ns - known_ns) / open_ns : 0;
    if (waiting_ns > known_ns)
        return open_ns > 0 ? 1 : waiting_ns / known_ns;
    double machine_ns = fmin(longer->ns[REMAINDER_WITHOUT_CPU], waiting_ns);
    return (kind == REMAINDER_WITHOUT_CPU ? machine_ns : waiting_ns - machine_ns) / longer->ns[kind];
}

/* The time of a process in a step on the late side; over the whole run, infinite if the books have none of it; and its
 * blame there. */
struct late_part {
    uint64_t key;
    double ns, of_run_ns, blamed_ns, anew_ns;
};

static int late_part_compare(const void *a, const void *b)
{
    const struct late_part *left = a, *right = b;
    uint32_t left_step = key_atom(left->key), right_step = key_atom(right->key);
    return order_of(left_step, right_step) ?: order_of(left->key, right->key);
}

/* Parts that may be blamed, by step. To be freed; how many goes to *n. */
static struct late_part *late_parts(const struct path_class *class, const struct sparse *net,
                                    const struct sparse *times, size_t *n)
{
    struct late_part *parts = NULL;
    size_t cap = 0;
    vec_grow((void **)&parts, &cap, class->terms.n + 1, sizeof *parts);
    *n = 0;
    for (size_t i = 0; i < class->terms.n; i++) {
        const struct term *term = &class->terms.at[i];
        if (term->key & KEY_WAITING || term->ns <= 0 || sparse_get(net, key_atom(term->key)) <= 0)
            continue;
        double of_run_ns = sparse_get(times, atom_key(key_rank(term->key), key_atom(term->key)));
        parts[(*n)++] =
            (struct late_part){.key = term->key, .ns = term->ns, .of_run_ns = of_run_ns > 0 ? of_run_ns : INFINITY};
    }
    qsort(parts, *n, sizeof *parts, late_part_compare);
    return parts;
}

/* Draws times over the run to their mean, each the more the less it is off by more than sampling errs. */
static void shrink_times(struct late_part *parts, size_t n, double sample_ns)
{
    double mean_ns = 0, n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (parts[i].of_run_ns < INFINITY) {
            mean_ns += parts[i].of_run_ns;
            n_known++;
        }
    mean_ns /= fmax(n_known, 1);
    for (size_t i = 0; i < n; i++) {
        double time_ns = parts[i].of_run_ns, off_ns = time_ns - mean_ns;
        double same_ns2 = SAME_DEVIATIONS * SAME_DEVIATIONS * sample_ns * fmin(time_ns + sample_ns, mean_ns);
        if (off_ns != 0 && off_ns < INFINITY)
            parts[i].of_run_ns = mean_ns + off_ns * fmax(1 - same_ns2 / (off_ns * off_ns), 0);
    }
}

/* The ordinary part of a step's time over the run, if what exceeds it on the late side is the remainder. It rises from
 * one turn to the next, as processes that spend no more are left out. Rounded down: somebody is above it. */
static double ordinary_time(const struct late_part *parts, size_t n, double remainder_ns)
{
    for (double ordinary_ns = 0, before_ns;;) {
        double ns = 0, slope = 0;
        for (size_t i = 0; i < n; i++)
            if (parts[i].of_run_ns > ordinary_ns) {
                ns += parts[i].ns;
                slope += parts[i].ns / parts[i].of_run_ns;
            }
        before_ns = ordinary_ns;
        ordinary_ns = slope > 0 ? (ns - remainder_ns) / slope : 0;
        if (ordinary_ns <= before_ns * (1 + ROUNDING))
            return before_ns * (1 - ROUNDING);
    }
}

/* A remainder falls to those who are in the step for longer than is ordinary. */
static void share_remainder(struct late_part *parts, size_t n, double remainder_ns, double blamed_ns)
{
    double ordinary_ns = ordinary_time(parts, n, remainder_ns), all_ns = 0;
    for (size_t i = 0; i < n; i++)
        all_ns += parts[i].ns * fmax(1 - ordinary_ns / parts[i].of_run_ns, 0);
    for (size_t i = 0; i < n; i++)
        parts[i].blamed_ns = blamed_ns * (parts[i].ns * fmax(1 - ordinary_ns / parts[i].of_run_ns, 0) / all_ns);
}

static size_t parts_of_step(const struct late_part *parts, size_t n)
{
    size_t end = 1;
    while (end < n && key_atom(parts[end].key) == key_atom(parts[0].key))
        end++;
    return end;
}

/* The blame of each process for its own doing before it was waited for, by rank. */
static void direct_sums(const struct late_part *parts, size_t n, struct sparse *sums)
{
    sparse_clear(sums);
    for (size_t i = 0; i < n; i++)
        if (!(parts[i].key & KEY_LONG_TERM))
            sparse_add(sums, key_rank(parts[i].key), parts[i].blamed_ns);
    sparse_pack(sums);
}

/* One step's blame shared out anew: each part times its process's factor, and what that leaves over to all, as far as
 * nobody is blamed for more than it was in the step. */
static void share_anew(struct late_part *parts, size_t n, const struct sparse *factors)
{
    double before_ns = 0, kept_ns = 0, after_ns = 0, cut_ns = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_direct = !(parts[i].key & KEY_LONG_TERM);
        parts[i].anew_ns = parts[i].blamed_ns * (is_direct ? sparse_get(factors, key_rank(parts[i].key)) : 1);
        before_ns += parts[i].blamed_ns;
        kept_ns += parts[i].anew_ns;
    }
    if (!(kept_ns > 0))
        return;
    for (size_t i = 0; i < n; i++) {
        double most_ns = fmax(parts[i].ns, parts[i].blamed_ns);
        parts[i].anew_ns = fmin(parts[i].anew_ns * (before_ns / kept_ns), most_ns);
        after_ns += parts[i].anew_ns;
        cut_ns += fmax(parts[i].blamed_ns - parts[i].anew_ns, 0);
    }
    double back = cut_ns > 0 ? fmax(before_ns - after_ns, 0) / cut_ns : 0;
    for (size_t i = 0; i < n; i++)
        parts[i].blamed_ns = parts[i].anew_ns + back * fmax(parts[i].blamed_ns - parts[i].anew_ns, 0);
}

/* Nobody is to blame directly for more than others waited for it. Paths are added up over instances in which now one
 * process was late and now another: the long path of one that was late by little outweighs the short path of one that
 * was late by much. Excess goes to those who are blamed for the same step, in turns until it fits. */
static void bound_by_waits(const struct path_class *class, struct late_part *parts, size_t n)
{
    enum { TURNS_MAX = 32 };
    struct sparse sums = {0};
    for (int turn = 0; turn < TURNS_MAX && class->lates.n; turn++) {
        double most_ns = 0;
        direct_sums(parts, n, &sums);
        for (size_t i = 0; i < sums.n; i++) {
            double waited_ns = sparse_get(&class->lates, sums.at[i].key), is_ns = sums.at[i].ns;
            most_ns = fmax(most_ns, is_ns - waited_ns);
            sums.at[i].ns = fmin(waited_ns / is_ns, 1); /* now a factor */
        }
        if (most_ns <= ROUNDING * class->waiting_ns)
            break;
        for (size_t i = 0, n_step; i < n; i += n_step) {
            n_step = parts_of_step(parts + i, n - i);
            share_anew(parts + i, n_step, &sums);
        }
    }
    sparse_release(&sums);
}

double blame_share(const struct path_class *class, const struct sites *sites, const struct sparse *times,
                   double sample_ns, struct sparse *blame)
{
    struct sparse net = {0};
    struct longer longer = {0};
    size_t n;
    blame_net(&class->terms, &net);
    net_together(sites->steps, &net, entered_by);
    net_together(sites->steps, &net, netted_as);
    struct late_part *parts = late_parts(class, &net, times, &n);
    for (size_t i = 0; i < n; i += parts_of_step(parts + i, n - i)) {
        uint32_t step = key_atom(parts[i].key);
        longer.ns[remainder_kind(sites, step)] += sparse_get(&net, step);
    }
    for (size_t i = 0, n_step; i < n; i += n_step) {
        uint32_t step = key_atom(parts[i].key);
        double remainder_ns = sparse_get(&net, step);
        n_step = parts_of_step(parts + i, n - i);
        if (steps_key(sites->steps, step)->state == STEP_COMPUTING) /* times off the CPU are not sampled */
            shrink_times(parts + i, n_step, sample_ns);
        share_remainder(parts + i, n_step, remainder_ns,
                        remainder_ns * part_blamed(&longer, class->waiting_ns, remainder_kind(sites, step)));
    }
    if (!(longer.ns[REMAINDER_OPEN] > 0))
        bound_by_waits(class, parts, n);
    for (size_t i = 0; i < n; i++)
        sparse_add(blame, parts[i].key, parts[i].blamed_ns);
    if (!n) {
        /* Only a clock error leaves nothing positive to blame. */
        uint32_t step = steps_put(sites->steps, STEP_UNKNOWN, WHAT_CLOCK, 0, TRACE_NONE);
        sparse_add(blame, atom_key(0, step), class->waiting_ns);
    }
    sparse_pack(blame);
    sparse_release(&net);
    vec_free(parts);
    if (!n)
        return class->waiting_ns;
    double known_ns = longer_known_ns(&longer);
    return known_ns + (class->waiting_ns > known_ns ? longer.ns[REMAINDER_OPEN] : 0);
}

static int remainder_compare(const void *a, const void *b)
{
    const struct term *left = a, *right = b;
    double difference = fabs(left->ns) - fabs(right->ns);
    return order_of(difference, 0) ?: order_of(left->key, right->key);
}

void blame_prune(const struct sparse *terms, struct sparse *kept)
{
    struct sparse net = {0};
    double longer_ns = 0, left_out_ns[2] = {0};
    blame_net(terms, &net);
    for (size_t i = 0; i < net.n; i++)
        longer_ns += fmax(net.at[i].ns, 0);
    vec_sort(&net, remainder_compare);
    for (size_t i = 0; i < net.n; i++) {
        double *side_ns = &left_out_ns[net.at[i].ns < 0];
        *side_ns += fabs(net.at[i].ns);
        if (*side_ns > (1 - NEARLY_ALL_SHARE) * longer_ns)
            sparse_add(kept, net.at[i].key, 1);
    }
    sparse_pack(kept);
    sparse_release(&net);
}

struct site_order {
    double waiting_ns;
    uint32_t at;
};

static int site_order_compare(const void *a, const void *b)
{
    const struct site_order *left = a, *right = b;
    return order_of(right->waiting_ns, left->waiting_ns) ?: order_of(left->at, right->at);
}

/* Time of every rank in every step: atoms of the run, expanded. */
static void times_make(const struct measure_input *input, struct sparse *times)
{
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        const struct sparse *atoms = &input->ranks[rank].atoms;
        for (size_t i = 0; i < atoms->n; i++) {
            struct term single;
            struct shares shares = atom_expand(input->classes->pools, key_atom(atoms->at[i].key), &single);
            for (size_t j = 0; j < shares.n; j++)
                sparse_add(times, atom_key(rank, (uint32_t)shares.at[j].key), atoms->at[i].ns * shares.at[j].ns);
        }
    }
    sparse_pack(times);
}

/* An empty vector for every class, by site. */
static struct sparse **vectors_make(const struct classes *classes, struct arena *arena)
{
    struct sparse **vectors = arena_array(arena, struct sparse *, classes->sites.n + 1);
    for (size_t site = 0; site < classes->sites.n; site++)
        vectors[site] = arena_array(arena, struct sparse, classes->sites.at[site].classes.n + 1);
    return vectors;
}

void measures_make(const struct measure_input *input, struct measures *measures)
{
    *measures = (struct measures){.classes = input->classes};
    struct site_order *order = arena_array(&measures->arena, struct site_order, input->classes->sites.n + 1);
    uint32_t *sorted = arena_array(&measures->arena, uint32_t, input->classes->sites.n + 1);
    for (uint32_t i = 0; i < input->classes->sites.n; i++)
        order[i] = (struct site_order){.waiting_ns = input->classes->sites.at[i].waiting_ns, .at = i};
    qsort(order, input->classes->sites.n, sizeof *order, site_order_compare);
    for (uint32_t i = 0; i < input->classes->sites.n; i++)
        sorted[i] = order[i].at;
    measures->site_order = sorted;
    times_make(input, &measures->times);
    measures->blames = vectors_make(input->classes, &measures->arena);
    measures->counted = vectors_make(input->classes, &measures->arena);
    measures->worked = vectors_make(input->classes, &measures->arena);
    for (size_t site = 0; site < input->classes->sites.n; site++) {
        struct site_classes *at = &input->classes->sites.at[site];
        for (size_t i = 0; i < at->classes.n; i++) {
            struct path_class *class = at->classes.at[i];
            class->longer_ns =
                blame_share(class, input->sites, &measures->times, input->sample_ns, &measures->blames[site][i]);
            executions_solve(input->executions, &class->counts, &measures->counted[site][i]);
            costs_place_work(input->costs, true, &class->counts, &measures->counted[site][i],
                             &measures->worked[site][i]);
            sparse_settle(&measures->blames[site][i], input->kept);
            sparse_settle(&measures->counted[site][i], input->kept);
            sparse_settle(&measures->worked[site][i], &measures->arena);
        }
    }
    /* The bins of the whole run, packed. */
    struct sparse bins = {0};
    for (uint32_t rank = 0; rank < input->n_ranks; rank++)
        sparse_add_all(&bins, &input->ranks[rank].counts, 1);
    sparse_pack(&bins);
    measures->bins = bins;
    executions_solve(input->executions, &measures->bins, &measures->ran);
    costs_place_work(input->costs, true, &measures->bins, &measures->ran, &measures->work_done);
    costs_place_work(input->costs, false, &measures->bins, &measures->ran, &measures->work_counted);
}

void measures_release(struct measures *measures)
{
    sparse_release(&measures->times);
    sparse_release(&measures->bins);
    sparse_release(&measures->ran);
    sparse_release(&measures->work_done);
    sparse_release(&measures->work_counted);
    arena_release(&measures->arena);
}

struct sparse measures_blame(const struct measures *measures, struct steps *steps)
{
    struct sparse blame = {0};
    for (size_t site = 0; site < measures->classes->sites.n; site++)
        for (size_t i = 0; i < measures->classes->sites.at[site].classes.n; i++)
            for (size_t j = 0; j < measures->blames[site][i].n; j++) {
                const struct term *term = &measures->blames[site][i].at[j];
                uint32_t step = key_atom(term->key), base = steps_base(steps, step);
                if (steps_key(steps, step)->state == STEP_DESCHEDULED)
                    base = steps_in_state(steps, base, STEP_DESCHEDULED);
                sparse_add(&blame, atom_key(key_rank(term->key), base), term->ns);
            }
    sparse_pack(&blame);
    return blame;
}

static int class_step_compare(const void *a, const void *b)
{
    const struct class_step *left = a, *right = b;
    double difference = fabs(left->dur_ns) - fabs(right->dur_ns);
    int order = order_of(0, difference) ?: order_of(left->step, right->step);
    return order ?: order_of(left->rank, right->rank) ?: order_of(left->is_long_term, right->is_long_term);
}

/* By what is told of them. Those of one side of one rank are one then. Executions are of the place: all have them. */
static int class_step_compare_told(const void *a, const void *b)
{
    const struct class_step *left = a, *right = b;
    int order = order_of(left->step, right->step) ?: order_of(left->rank, right->rank);
    return order ?: order_of(left->is_long_term, right->is_long_term) ?: (left->dur_ns < 0) - (right->dur_ns < 0);
}

static uint32_t class_steps_merge(struct class_step *steps, uint32_t n)
{
    uint32_t n_merged = 0;
    qsort(steps, n, sizeof *steps, class_step_compare_told);
    for (uint32_t i = 0; i < n; i++) {
        struct class_step *last = n_merged ? &steps[n_merged - 1] : NULL;
        if (!last || class_step_compare_told(last, &steps[i]) != 0) {
            steps[n_merged++] = steps[i];
            continue;
        }
        last->dur_ns += steps[i].dur_ns;
        last->blame_ns += steps[i].blame_ns;
        last->is_redundant &= steps[i].is_redundant;
    }
    return n_merged;
}

/* Sums from which the steps of a class are made. Its vectors are in the result's arena. */
struct class_source {
    struct sparse terms, blame, counted; /* classes.h, blame.h */
};

/* Executions are known of places; time off the CPU there or inside MPI has none of its own. */
static double term_executions(const struct analysis *analysis, const struct sparse *counted, uint64_t key)
{
    const struct step *step = &analysis->steps[key_atom(key)];
    if (step->place == CODE_NONE || step->state != STEP_COMPUTING)
        return 0;
    return sparse_get(counted, (key & ~(uint64_t)UINT32_MAX) | step->place);
}

/* Whether a part of what a process did on the late side is blamed for no more than is left of it beside the other side.
 */
static bool is_blame_within(const struct class_source *source, uint64_t key, double left)
{
    return sparse_get(&source->terms, key) * left >= sparse_get(&source->blame, key) * (1 - ROUNDING);
}

/* A process on both sides (late in one instance, waiting in the next) has the difference of durations and executions,
 * unless it is blamed for more. Then the two sides are steps of their own, since what they do on the one is no excuse
 * for the other. */
static struct class_step class_step_make(const struct analysis *analysis, const struct class_source *source,
                                         const struct term *term)
{
    uint64_t bare = term->key & ~(KEY_WAITING | KEY_LONG_TERM);
    double late_ns = sparse_get(&source->terms, bare) + sparse_get(&source->terms, bare | KEY_LONG_TERM);
    double waiting_ns = sparse_get(&source->terms, bare | KEY_WAITING);
    double left = late_ns > 0 ? 1 - waiting_ns / late_ns : 0;
    bool is_waiting = term->key & KEY_WAITING;
    bool is_netted =
        late_ns > 0 && is_blame_within(source, bare, left) && is_blame_within(source, bare | KEY_LONG_TERM, left);
    /* Its own doing and what came through others have their parts of the other side. */
    double sign = is_waiting ? -1 : 1, part = is_waiting || !is_netted ? 0 : term->ns / late_ns;
    double executions = sign * term_executions(analysis, &source->counted, term->key) -
                        part * term_executions(analysis, &source->counted, bare | KEY_WAITING);
    bool is_told = !is_waiting || !is_netted;
    return (struct class_step){.step = analysis->steps[key_atom(term->key)].told_as,
                               .rank = key_rank(term->key),
                               .dur_ns = is_told ? sign * term->ns - part * waiting_ns : 0,
                               .blame_ns = is_waiting ? 0 : sparse_get(&source->blame, term->key),
                               .executions = is_told ? (int64_t)llround(executions) : 0,
                               .is_long_term = term->key & KEY_LONG_TERM};
}

static struct class_steps class_steps(const struct analysis *analysis, const struct wait_class *class,
                                      struct arena *arena)
{
    const struct class_source *source = class->source;
    struct class_steps steps = {.at = arena_array(arena, struct class_step, source->terms.n + 1)};
    struct sparse kept = {0};
    blame_prune(&source->terms, &kept);
    for (size_t i = 0; i < source->terms.n; i++) {
        struct class_step step = class_step_make(analysis, source, &source->terms.at[i]);
        step.is_redundant = sparse_get(&kept, key_atom(source->terms.at[i].key)) == 0;
        if (step.dur_ns != 0 || step.blame_ns != 0)
            steps.at[steps.n++] = step;
    }
    steps.n = class_steps_merge(steps.at, steps.n);
    vec_sort(&steps, class_step_compare);
    sparse_release(&kept);
    return steps;
}

static double pace_mean(const struct pace *pace, double n_gaps)
{
    return ((double)pace->last - (double)pace->first) / n_gaps;
}

/* Most gaps have the same length, or so many times that, where an instance is missing now and then, as it was one of
 * another class (more often, and it is no pace); or all are about as long. Out of turn may be a tenth of the instances,
 * as when the machine holds up a rank, and each of them leaves two gaps of other lengths. */
static uint32_t pace_every(const struct pace *pace, double n_gaps)
{
    double mean = pace_mean(pace, n_gaps), variance = pace->gaps_square / n_gaps - mean * mean;
    for (int i = 0; i < GAPS_KEPT; i++) {
        uint32_t n_multiples = 0, length = pace->gaps[i].length;
        for (int k = 0; k < GAPS_KEPT && length; k++)
            n_multiples += pace->gaps[k].length % length == 0 ? pace->gaps[k].n : 0;
        bool is_most = 2 * pace->gaps[i].n > n_gaps && n_multiples >= (1 - 2 * (1 - MOST_SHARE)) * n_gaps;
        if (length > 1 && is_most && length * (n_gaps + 1) >= MOST_SHARE * mean * n_gaps)
            return length;
    }
    return mean >= EVERY_LEAST && variance <= EVERY_SCATTER * EVERY_SCATTER * mean * mean ? (uint32_t)lround(mean) : 0;
}

/* Each n-th call there. If the loop around the call, as one over neighbours, is left from one instance to the next,
 * several calls are one step. Then rounds of that loop count. It may be left and entered again without a call in
 * between. So nothing is said where the calls of a gap come one right after another, by what was done outside MPI:
 * inside, it may be long in each of them. */
static uint32_t class_every(const struct path_class *class)
{
    if (class->n_apart < EVERY_INSTANCES)
        return 0;
    double n_gaps = (double)(class->n_apart - 1);
    if (2 * class->n_left > n_gaps)
        return pace_every(&class->rounds, n_gaps);
    bool is_last_short = class->even_gaps_ns < TOGETHER_LEAST * class->gaps_ns;
    bool is_last_long = class->even_gaps_ns > TOGETHER_MOST * pace_mean(&class->calls, n_gaps) * class->gaps_ns;
    return is_last_short || is_last_long ? 0 : pace_every(&class->calls, n_gaps);
}

/* The distance that a path of one would have had from the other, and how far it might have been. */
static void site_write_distances(const struct classes *classes, const struct site_classes *site, struct wait_site *out)
{
    if (out->waiting_ns < NEXT_TO_NOTHING * classes->waiting_ns)
        return;
    for (uint32_t i = 0; i < out->n_classes; i++)
        for (uint32_t k = 0; k < out->n_classes; k++) {
            const struct path_class *one = site->classes.at[i], *other = site->classes.at[k];
            double allowance, distance;
            if (i == k)
                continue;
            distance =
                classes_distance(&one->shape, one->shape_samples, &other->shape, other->shape_samples, &allowance);
            if (out->classes[i].nearest && distance >= out->classes[i].distance)
                continue;
            out->classes[i].nearest = k + 1;
            out->classes[i].distance = distance;
            out->classes[i].distance_allowed = classes->threshold + allowance;
        }
}

static void class_write(const struct path_class *class, struct wait_class *out)
{
    double mean_ns = class->waiting_ns / (double)class->n_instances;
    out->n_instances = class->n_instances;
    out->waiting_ns = class->waiting_ns;
    out->when = class->when;
    out->when.every = class_every(class);
    out->when.deviation_ns = sqrt(fmax(class->when.deviation_ns / (double)class->n_instances - mean_ns * mean_ns, 0));
}

static void site_write(const struct measure_input *input, struct analysis *analysis, const struct measures *measures,
                       uint32_t index)
{
    uint32_t at = measures->site_order[index];
    struct site_classes *site = &input->classes->sites.at[at];
    struct wait_site *out = &analysis->sites[index];
    out->kind = site->kind;
    out->waiting_ns = site->waiting_ns;
    out->n_instances = site->n_instances;
    out->n_calls = site->n_calls;
    out->rank_waiting_ns =
        arena_copy(&analysis->arena, site->rank_waiting_ns, analysis->trace->n_ranks * sizeof(double));
    out->n_classes = (uint32_t)site->classes.n;
    out->classes = arena_array(&analysis->arena, struct wait_class, site->classes.n + 1);
    struct class_source *sources = arena_array(&analysis->arena, struct class_source, site->classes.n + 1);
    for (uint32_t i = 0; i < site->classes.n; i++) {
        out->classes[i].number = i + 1;
        class_write(site->classes.at[i], &out->classes[i]);
        out->classes[i].source = &sources[i];
        sources[i] =
            (struct class_source){site->classes.at[i]->terms, measures->blames[at][i], measures->counted[at][i]};
    }
    site_write_distances(input->classes, site, out);
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++)
        analysis->rank_waiting_ns[rank] += site->rank_waiting_ns[rank];
}

void sites_write(const struct measure_input *input, const struct measures *measures, struct analysis *analysis)
{
    analysis->waiting_ns = input->classes->waiting_ns;
    analysis->class_steps = class_steps;
    analysis->rank_waiting_ns = arena_array(&analysis->arena, double, analysis->trace->n_ranks + 1);
    analysis->n_sites = (uint32_t)input->classes->sites.n;
    analysis->sites = arena_array(&analysis->arena, struct wait_site, analysis->n_sites + 1);
    uint32_t *of = arena_array(&analysis->arena, uint32_t, analysis->n_sites + 1);
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        site_write(input, analysis, measures, i);
        of[i] = input->classes->sites.at[measures->site_order[i]].site;
    }
    names_sites(input->sites, analysis, of);
}
