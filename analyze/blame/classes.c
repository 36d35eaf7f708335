/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/classes.h"
#include "analyze/constants/constants.h"
#include "wrap/base/err.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 64 };

void classes_begin(struct classes *classes, const struct pools *pools, const struct cpu_use *cpu_use, uint32_t n_ranks)
{
    *classes = (struct classes){.pools = pools, .cpu_use = cpu_use, .n_ranks = n_ranks, .threshold = CLASSES_THRESHOLD};
}

static void class_release(struct path_class *class)
{
    for (uint32_t i = 0; i < class->n_late; i++)
        free(class->late[i].when.ns);
    free(class->late);
    free(class->when_parts.ns);
    free(class->n_parts.ns);
    free(class->code_parts.ns);
    sums_release(&class->terms_so_far);
    sums_release(&class->waits_so_far);
    sums_release(&class->lates_so_far);
    sparse_release(&class->shape);
    sparse_release(&class->counts);
}

void classes_release(struct classes *classes)
{
    for (size_t i = 0; i < classes->sites.n; i++) {
        struct site_classes *site = &classes->sites.at[i];
        for (size_t j = 0; j < site->classes.n; j++)
            class_release(site->classes.at[j]);
        vec_release(&site->classes);
        vec_free(site->rank_waiting_ns);
    }
    tally_release(&classes->tally);
    sparse_release(&classes->shape);
    vec_release(&classes->timed);
    vec_release(&classes->sites);
    arena_release(&classes->arena);
    intern_release(&classes->keys);
}

static struct site_classes *classes_site(struct classes *classes, uint32_t site, enum wait_kind kind)
{
    uint32_t key[2] = {site, kind};
    uint32_t id = intern_put(&classes->keys, key, sizeof key);
    if (id < classes->sites.n)
        return &classes->sites.at[id];
    struct site_classes *made = vec_push(&classes->sites);
    size_t cap = 0;
    made->site = site;
    made->kind = kind;
    vec_grow((void **)&made->rank_waiting_ns, &cap, classes->n_ranks + 1, sizeof *made->rank_waiting_ns);
    for (uint32_t rank = 0; rank < classes->n_ranks; rank++)
        made->rank_waiting_ns[rank] = 0;
    return made;
}

static inline void shape_add(struct classes *classes, const struct term *term, uint32_t side, double weight)
{
    uint32_t atom = key_atom(term->key);
    double ns = weight * term->ns;
    struct term single;
    if (!(atom & ATOM_IS_POOL)) { /* as most of them are: a step */
        tally_add(&classes->tally, 2 * atom + side, ns);
        return;
    }
    struct shares shares = atom_expand(classes->pools, atom, &single);
    for (size_t i = 0; i < shares.n; i++)
        tally_add(&classes->tally, 2 * (uint32_t)shares.at[i].key + side, ns * shares.at[i].ns);
}

/* The terms that are of the path, clocked ones last; their sum. */
static double shape_settle(struct classes *classes, struct sparse *shape)
{
    const struct steps *steps = classes->pools->sites->steps;
    size_t n_sampled = 0;
    double sum = 0;
    classes->timed.n = 0;
    for (size_t i = 0; i < shape->n; i++) {
        struct term term = shape->at[i];
        struct step_traits traits = steps_traits(steps, (uint32_t)term.key / 2);
        if (traits.is_timed)
            *vec_push(&classes->timed) = (struct term){.key = term.key | SHAPE_TIMED, .ns = term.ns};
        else if (traits.is_code)
            shape->at[n_sampled++] = term;
        sum += traits.is_timed || traits.is_code ? term.ns : 0;
    }
    shape->n = n_sampled;
    for (size_t i = 0; i < classes->timed.n; i++)
        *vec_push(shape) = classes->timed.at[i];
    shape->n_packed = shape->n;
    return sum;
}

/* Shares by (side, step) of the time that the path took; empty when it took none. */
static struct sparse *instance_shape(struct classes *classes, const struct instance *instance)
{
    enum { LONGER, OTHERS };
    struct sparse *shape = &classes->shape;
    double n = instance->n_waits; /* also how often the late path was counted */
    bool late_is_longer = instance->late_code_ns / n >= instance->heaviest_code_ns;
    uint32_t late_side = late_is_longer ? LONGER : OTHERS, heaviest_side = late_is_longer ? OTHERS : LONGER;
    double each = 1 / n, of_late = late_is_longer ? each : each / n, of_heaviest = late_is_longer ? each : 1;
    for (size_t i = 0; i < instance->terms.n; i++) {
        const struct term *term = &instance->terms.at[i];
        bool is_waiting = term->key & KEY_WAITING;
        shape_add(classes, term, is_waiting ? OTHERS : late_side, is_waiting ? each : of_late);
    }
    for (size_t i = 0; i < instance->heaviest.n; i++)
        shape_add(classes, &instance->heaviest.at[i], heaviest_side, of_heaviest);
    sparse_clear(shape);
    tally_take(&classes->tally, shape);
    double sum = shape_settle(classes, shape);
    for (size_t i = 0; i < shape->n; i++)
        shape->at[i].ns /= sum;
    return shape;
}

double classes_distance(const struct sparse *shape, double n_samples, const struct sparse *other, double n_other,
                        double *allowance)
{
    double distance = 0, deviation = 0, variance = 0;
    double error = (n_samples > 0 ? 1 / n_samples : 0) + (n_other > 0 ? 1 / n_other : 0);
    for (size_t i = 0, j = 0; i < shape->n || j < other->n;) {
        uint64_t key = i == shape->n ? other->at[j].key : shape->at[i].key;
        if (j < other->n && other->at[j].key < key)
            key = other->at[j].key;
        double share = i < shape->n && shape->at[i].key == key ? shape->at[i++].ns : 0;
        double share_other = j < other->n && other->at[j].key == key ? other->at[j++].ns : 0;
        double mean = (share + share_other) / 2;
        double step_variance = key & SHAPE_TIMED ? 0 : mean * (1 - mean) * error;
        distance += fabs(share - share_other);
        deviation += sqrt(step_variance);
        variance += step_variance;
    }
    *allowance = sqrt(2 / M_PI) * deviation + SAME_DEVIATIONS * sqrt((1 - 2 / M_PI) * variance);
    return distance;
}

/* True when two shapes are at least so far apart, however much is allowed for: then roots need not be taken. The bound
 * of the allowance is that of n equal shares. */
static bool is_beyond(const struct sparse *shape, double n_samples, const struct sparse *other, double n_other,
                      double excess)
{
    double error = (n_samples > 0 ? 1 / n_samples : 0) + (n_other > 0 ? 1 / n_other : 0), distance = 0;
    double most =
        sqrt(2 / M_PI * error * (double)(shape->n + other->n)) + SAME_DEVIATIONS * sqrt((1 - 2 / M_PI) * error);
    for (size_t i = 0, j = 0; (i < shape->n || j < other->n) && distance <= excess + most;) {
        bool is_first = j == other->n || (i < shape->n && shape->at[i].key <= other->at[j].key);
        bool is_second = i == shape->n || (j < other->n && other->at[j].key <= shape->at[i].key);
        double share = is_first ? shape->at[i++].ns : 0, share_other = is_second ? other->at[j++].ns : 0;
        distance += fabs(share - share_other);
    }
    return distance > excess + most;
}

/* The nearest class within the threshold, or -1. */
static long class_find(const struct site_classes *site, bool is_rest, const struct sparse *shape, double n_samples,
                       double threshold)
{
    long best = -1;
    double best_excess = threshold;
    for (size_t i = 0; i < site->classes.n; i++) {
        double allowance;
        const struct path_class *class = site->classes.at[i];
        if (class->is_rest != is_rest || is_beyond(&class->shape, class->shape_samples, shape, n_samples, best_excess))
            continue;
        double distance = classes_distance(&class->shape, class->shape_samples, shape, n_samples, &allowance);
        if (distance - allowance < best_excess) {
            best_excess = distance - allowance;
            best = (long)i;
        }
    }
    return best;
}

static void when_parts_add(struct when_parts *when, uint32_t part, double ns)
{
    uint32_t bit = 1u << part, n = (uint32_t)__builtin_popcount(when->parts);
    uint32_t at = (uint32_t)__builtin_popcount(when->parts & (bit - 1));
    if (!(when->parts & bit)) {
        if (!when->ns || n == when->cap) {
            when->cap = n ? 2 * n : 1;
            if (!(when->ns = realloc(when->ns, when->cap * sizeof *when->ns)))
                err_out_of_memory(when->cap * sizeof *when->ns);
        }
        memmove(when->ns + at + 1, when->ns + at, (n - at) * sizeof *when->ns);
        when->ns[at] = 0;
        when->parts |= bit;
    }
    when->ns[at] += ns;
}

void when_parts_add_wait(struct when_parts *when, const struct trace *trace, const struct wait *wait)
{
    uint64_t part_ns = (trace->end_ns > trace->start_ns ? trace->end_ns - trace->start_ns : 0) / WHEN_PARTS + 1;
    uint64_t at_ns = wait->begin_ns > trace->start_ns ? wait->begin_ns - trace->start_ns : 0, left_ns = wait->dur_ns;
    uint64_t part = at_ns / part_ns;
    for (; part < WHEN_PARTS - 1 && at_ns + left_ns > (part + 1) * part_ns; part++) {
        uint64_t here_ns = (part + 1) * part_ns - at_ns;
        when_parts_add(when, (uint32_t)part, (double)here_ns);
        left_ns -= here_ns;
        at_ns += here_ns;
    }
    when_parts_add(when, part < WHEN_PARTS ? (uint32_t)part : WHEN_PARTS - 1, (double)left_ns);
}

double when_parts_get(const struct when_parts *when, uint32_t part)
{
    uint32_t bit = 1u << part;
    return when->parts & bit ? when->ns[__builtin_popcount(when->parts & (bit - 1))] : 0;
}

double when_parts_sum(const struct when_parts *when)
{
    double sum = 0;
    for (int i = 0; i < __builtin_popcount(when->parts); i++)
        sum += when->ns[i];
    return sum;
}

static struct late_rank *class_late(struct path_class *class, uint32_t rank)
{
    for (uint32_t i = 0; i < class->n_late; i++)
        if (class->late[i].rank == rank)
            return &class->late[i];
    struct late_rank *least;
    if (class->n_late < WHEN_RANKS) {
        if (!(class->late = realloc(class->late, (class->n_late + 1) * sizeof *class->late)))
            err_out_of_memory(sizeof *class->late);
        least = &class->late[class->n_late++];
        *least = (struct late_rank){.rank = rank};
        return least;
    }
    least = &class->late[0];
    for (uint32_t i = 1; i < WHEN_RANKS; i++)
        least = when_parts_sum(&class->late[i].when) < when_parts_sum(&least->when) ? &class->late[i] : least;
    least->rank = rank;
    least->when.parts = 0;
    return least;
}

/* Counts what is frequent in one pass: what finds no room takes one away from all (Misra and Gries 1982). */
static void gaps_add(struct gap *gaps, uint32_t length)
{
    struct gap *room = NULL;
    for (int i = 0; i < GAPS_KEPT; i++) {
        if (gaps[i].n && gaps[i].length == length) {
            gaps[i].n++;
            return;
        }
        room = gaps[i].n ? room : &gaps[i];
    }
    if (room)
        *room = (struct gap){length, 1};
    for (int i = 0; i < GAPS_KEPT && !room; i++)
        gaps[i].n--;
}

/* Returns the gap. */
static double pace_add(struct pace *pace, uint32_t number)
{
    double gap = (double)number - (double)pace->last;
    pace->gaps_square += gap * gap;
    pace->last = number;
    if (gap > 0)
        gaps_add(pace->gaps, (uint32_t)gap);
    return gap;
}

/* From the instance before, which was apart in time, and at another call. */
static void when_add_gap(struct path_class *class, const struct instance *instance)
{
    double gap = pace_add(&class->calls, instance->number);
    if (gap > 0 && instance->rank == class->rank) {
        class->gaps_ns += instance->did_ns - class->did_ns;
        class->even_gaps_ns += gap * instance->did_since_ns;
    }
    class->n_left += pace_add(&class->rounds, instance->round) > 0;
}

static void when_add_together(struct path_class *class, const struct instance *instance)
{
    struct together *latest = &class->latest;
    uint64_t begin_ns = instance->first_ns, end_ns = begin_ns + (uint64_t)instance->longest_ns;
    if (begin_ns >= latest->end_ns || end_ns <= latest->begin_ns) {
        bool is_first = !class->n_apart, is_another = is_first || instance->number != class->calls.last;
        if (is_first) {
            class->calls.first = class->calls.last = instance->number;
            class->rounds.first = class->rounds.last = instance->round;
        } else if (is_another)
            when_add_gap(class, instance);
        if (is_first) {
            class->first_rank = instance->rank;
            class->first_did_ns = instance->did_ns;
            class->first_did_since_ns = instance->did_since_ns;
        }
        class->rank = instance->rank;
        class->did_ns = instance->did_ns;
        class->n_apart += is_another;
        *latest = (struct together){.begin_ns = begin_ns, .end_ns = end_ns};
    }
    latest->waiting_ns += instance->waiting_ns;
    latest->in_one_go_ns += instance->in_one_go_ns;
    latest->n_waits += instance->n_waits;
    if (latest->waiting_ns > class->longest.waiting_ns)
        class->longest = *latest;
}

static void when_add(struct path_class *class, const struct instance *instance)
{
    struct when *when = &class->when;
    bool is_first = !class->n_instances;
    uint64_t time_ns = instance->first_ns;
    double ns = instance->waiting_ns;
    when->first_ns = is_first || time_ns < when->first_ns ? time_ns : when->first_ns;
    when->last_ns = is_first || time_ns > when->last_ns ? time_ns : when->last_ns;
    when->smallest_ns = is_first ? ns : fmin(when->smallest_ns, ns);
    when->largest_ns = fmax(when->largest_ns, ns);
    when->deviation_ns += ns * ns;
    when_add_together(class, instance);
    class->lead_ns += ns * (double)instance->lead_ns;
    double code_ns = instance->late_code_ns - instance->waiting_code_ns; /* the two paths differ by the wait */
    double code_share = ns > 0 ? fmin(fmax(code_ns, 0), ns) / ns : 0;
    struct late_rank *late = class_late(class, instance->late_rank);
    for (uint32_t left = instance->when_parts.parts; left; left &= left - 1) {
        uint32_t part = (uint32_t)__builtin_ctz(left);
        double part_ns = when_parts_get(&instance->when_parts, part);
        when_parts_add(&class->when_parts, part, part_ns);
        when_parts_add(&class->n_parts, part, ns > 0 ? part_ns / ns : 0);
        if (code_share > 0)
            when_parts_add(&class->code_parts, part, code_share * part_ns);
        when_parts_add(&late->when, part, part_ns);
    }
}

/* The mean of its instances' shapes, by their samples. */
static void class_learn(struct path_class *class, const struct sparse *shape, double n_samples)
{
    double all = class->shape_samples + n_samples;
    bool is_exact = class->n_instances && class->shape_samples == 0;
    if (is_exact || class->shape_samples >= SHAPE_SAMPLES)
        return;
    for (size_t i = 0; i < class->shape.n; i++)
        class->shape.at[i].ns *= n_samples > 0 ? class->shape_samples / all : 0;
    sparse_add_all(&class->shape, shape, n_samples > 0 ? n_samples / all : 1);
    sparse_pack(&class->shape);
    class->shape_samples = n_samples > 0 ? all : 0;
}

/* The class that an instance joins, one of such waiting, or that it founds, with its shape learnt. The rest of a wait
 * is explained against the rank that its begin is blamed on: in one class they would cancel. */
static struct path_class *class_for(struct classes *classes, struct site_classes *site, bool is_rest,
                                    const struct sparse *shape, double n_samples, double waiting_ns)
{
    int *tiny = &site->tiny[is_rest];
    const struct trace *trace = classes->pools->sites->trace;
    bool is_tiny = waiting_ns < (double)trace->clocks.error_ns || waiting_ns < NEGLIGIBLE_SHARE * site->largest_ns;
    bool is_full = site->classes.n >= CLASSES_MAX;
    long found = class_find(site, is_rest, shape, n_samples, is_full ? INFINITY : classes->threshold);
    if (found < 0 && is_tiny && *tiny)
        found = *tiny - 1;
    if (found < 0) {
        found = (long)site->classes.n;
        *vec_push(&site->classes) = arena_new(&classes->arena, struct path_class);
        *tiny = is_tiny ? (int)found + 1 : *tiny;
    } else if (found == *tiny - 1 && !is_tiny)
        *tiny = 0;
    struct path_class *class = site->classes.at[found];
    class->is_rest = is_rest;
    if ((!is_full && !is_tiny) || !class->n_instances)
        class_learn(class, shape, n_samples);
    return class;
}

void classes_add(struct classes *classes, const struct instance *instance)
{
    struct site_classes *site = classes_site(classes, instance->site, instance->kind);
    struct sparse *shape = instance_shape(classes, instance);
    for (size_t i = 0; i < instance->waits.n; i++)
        site->rank_waiting_ns[instance->waits.at[i].key] += instance->waits.at[i].ns;
    site->waiting_ns += instance->waiting_ns;
    classes->waiting_ns += instance->waiting_ns;
    /* The worth of the path in samples; 0 = exact. */
    double n_samples = 0;
    if (instance->noise_ns2 > 0) {
        double code_ns = instance->late_code_ns + instance->waiting_code_ns;
        n_samples = code_ns * code_ns / instance->noise_ns2;
    }
    struct path_class *class = class_for(classes, site, instance->is_rest, shape, n_samples, instance->waiting_ns);
    when_add(class, instance);
    class->n_instances++;
    class->waiting_ns += instance->waiting_ns;
    class->inferred_ns += instance->inferred_ns;
    class->self_ns += instance->self_ns;
    class->left_idle_ns += instance->left_idle_ns;
    sums_add_all(&class->terms_so_far, &instance->terms);
    sums_add_all(&class->terms_so_far, &instance->heaviest);
    sparse_add_all(&class->counts, &instance->counts, 1);
    sums_add_all(&class->waits_so_far, &instance->waits);
    sums_add_all(&class->lates_so_far, &instance->lates);
    site->n_instances++;
    site->n_calls += !instance->is_rest;
    if (instance->waiting_ns > site->largest_ns)
        site->largest_ns = instance->waiting_ns;
}

/* Sections of a run. */

static void when_parts_join(struct when_parts *when, const struct when_parts *later)
{
    for (uint32_t left = later->parts; left; left &= left - 1) {
        uint32_t part = (uint32_t)__builtin_ctz(left);
        when_parts_add(when, part, when_parts_get(later, part));
    }
}

static void sums_join(struct sums *sums, struct sums *later)
{
    struct sparse terms = {0};
    sums_take(later, &terms);
    sums_add_all(sums, &terms);
    sparse_release(&terms);
}

/* So many numbers came before the later ones. Returns the gap between the two. */
static double pace_join(struct pace *pace, const struct pace *later, uint32_t before)
{
    double gap = pace_add(pace, before + later->first);
    pace->last = before + later->last;
    pace->gaps_square += later->gaps_square;
    for (int i = 0; i < GAPS_KEPT; i++)
        for (uint32_t n = 0; n < later->gaps[i].n; n++)
            gaps_add(pace->gaps, later->gaps[i].length);
    return gap;
}

static void pace_move(struct pace *pace, uint32_t before)
{
    pace->first += before;
    pace->last += before;
}

/* Its first instance comes after all others, and is apart from them. */
static void when_join_apart(struct path_class *class, const struct path_class *later, struct done_before first,
                            struct done_before last)
{
    double gap = pace_join(&class->calls, &later->calls, first.n_calls);
    if (gap > 0 && later->first_rank == class->rank) {
        class->gaps_ns += first.did_ns + later->first_did_ns - class->did_ns;
        class->even_gaps_ns += gap * later->first_did_since_ns;
    }
    class->n_left += later->n_left + (pace_join(&class->rounds, &later->rounds, first.n_rounds) > 0);
    class->gaps_ns += later->gaps_ns;
    class->even_gaps_ns += later->even_gaps_ns;
    class->n_apart += later->n_apart;
    class->rank = later->rank;
    class->did_ns = last.did_ns + later->did_ns;
    class->latest = later->latest;
    if (later->longest.waiting_ns > class->longest.waiting_ns)
        class->longest = later->longest;
}

static void when_join(struct path_class *class, const struct path_class *later)
{
    struct when *when = &class->when;
    when->last_ns = later->when.last_ns > when->last_ns ? later->when.last_ns : when->last_ns;
    when->smallest_ns = fmin(when->smallest_ns, later->when.smallest_ns);
    when->largest_ns = fmax(when->largest_ns, later->when.largest_ns);
    when->deviation_ns += later->when.deviation_ns;
    when_parts_join(&class->when_parts, &later->when_parts);
    when_parts_join(&class->code_parts, &later->code_parts);
    when_parts_join(&class->n_parts, &later->n_parts);
    for (uint32_t i = 0; i < later->n_late; i++)
        when_parts_join(&class_late(class, later->late[i].rank)->when, &later->late[i].when);
}

static void class_join(struct path_class *class, struct path_class *later)
{
    when_join(class, later);
    class->n_instances += later->n_instances;
    class->waiting_ns += later->waiting_ns;
    class->lead_ns += later->lead_ns;
    class->inferred_ns += later->inferred_ns;
    class->self_ns += later->self_ns;
    class->left_idle_ns += later->left_idle_ns;
    sums_join(&class->terms_so_far, &later->terms_so_far);
    sums_join(&class->waits_so_far, &later->waits_so_far);
    sums_join(&class->lates_so_far, &later->lates_so_far);
    sparse_add_all(&class->counts, &later->counts, 1);
}

/* A class that is founded takes the later one over, but for the shape that it has learnt. */
static void class_take(struct path_class *class, struct path_class *later, struct done_before first,
                       struct done_before last)
{
    struct sparse shape = class->shape;
    double shape_samples = class->shape_samples;
    class->shape = later->shape;
    class_release(class);
    *class = *later;
    class->shape = shape;
    class->shape_samples = shape_samples;
    pace_move(&class->calls, first.n_calls);
    pace_move(&class->rounds, first.n_rounds);
    class->first_did_ns += first.did_ns;
    class->did_ns += last.did_ns;
    *later = (struct path_class){0};
}

static void site_join(struct classes *classes, struct site_classes *later, done_before_of *before, const void *context)
{
    struct site_classes *site = classes_site(classes, later->site, later->kind);
    site->largest_ns = fmax(site->largest_ns, later->largest_ns);
    for (uint32_t rank = 0; rank < classes->n_ranks; rank++)
        site->rank_waiting_ns[rank] += later->rank_waiting_ns[rank];
    for (size_t i = 0; i < later->classes.n; i++) {
        struct path_class *from = later->classes.at[i];
        struct done_before first = before(context, from->first_rank, site->site);
        struct done_before last = before(context, from->rank, site->site);
        struct path_class *class =
            class_for(classes, site, from->is_rest, &from->shape, from->shape_samples, from->when.largest_ns);
        if (class->n_instances) {
            when_join_apart(class, from, first, last);
            class_join(class, from);
        } else
            class_take(class, from, first, last);
    }
    site->waiting_ns += later->waiting_ns;
    site->n_instances += later->n_instances;
    site->n_calls += later->n_calls;
}

void classes_join(struct classes *classes, struct classes *later, done_before_of *before, const void *context)
{
    for (size_t i = 0; i < later->sites.n; i++)
        site_join(classes, &later->sites.at[i], before, context);
    classes->waiting_ns += later->waiting_ns;
}

static void when_parts_pack(const struct when_parts *when, struct packing *packing)
{
    pack_bytes(packing, when->ns, (size_t)__builtin_popcount(when->parts) * sizeof *when->ns);
}

/* Of the parts that it says. */
static void when_parts_unpack(struct when_parts *when, struct unpacking *unpacking)
{
    struct when_parts read = {0};
    for (uint32_t left = when->parts; left; left &= left - 1) {
        double ns;
        unpack_value(unpacking, &ns);
        when_parts_add(&read, (uint32_t)__builtin_ctz(left), ns);
    }
    *when = read;
}

static void sums_pack(struct sums *sums, struct packing *packing)
{
    struct sparse terms = {0};
    sums_take(sums, &terms);
    pack_sparse(packing, &terms);
    sparse_release(&terms);
}

/* `numbers`: NULL = its keys are no atoms. */
static void sums_unpack(struct sums *sums, struct unpacking *unpacking, const struct numbers *numbers)
{
    struct sparse terms = {0};
    unpack_sparse(unpacking, &terms);
    if (numbers)
        atoms_translate(numbers, &terms);
    *sums = (struct sums){0};
    sums_add_all(sums, &terms);
    sparse_release(&terms);
}

static void class_pack(struct path_class *class, struct packing *packing)
{
    pack_value(packing, *class);
    when_parts_pack(&class->when_parts, packing);
    when_parts_pack(&class->code_parts, packing);
    when_parts_pack(&class->n_parts, packing);
    for (uint32_t i = 0; i < class->n_late; i++) {
        pack_value(packing, class->late[i]);
        when_parts_pack(&class->late[i].when, packing);
    }
    pack_sparse(packing, &class->shape);
    sums_pack(&class->terms_so_far, packing);
    sums_pack(&class->waits_so_far, packing);
    sums_pack(&class->lates_so_far, packing);
    pack_sparse(packing, &class->counts);
}

static void shape_unpack(struct sparse *shape, struct unpacking *unpacking, const struct numbers *numbers)
{
    *shape = (struct sparse){0};
    unpack_sparse(unpacking, shape);
    for (size_t i = 0; i < shape->n; i++) {
        uint64_t key = shape->at[i].key, step = numbers_step(numbers, (uint32_t)(key & UINT32_MAX) / 2);
        shape->at[i].key = (key & SHAPE_TIMED) | 2 * step | (key & 1);
    }
    sparse_pack(shape);
}

static void class_unpack(struct path_class *class, struct unpacking *unpacking, const struct numbers *numbers)
{
    unpack_value(unpacking, class);
    when_parts_unpack(&class->when_parts, unpacking);
    when_parts_unpack(&class->code_parts, unpacking);
    when_parts_unpack(&class->n_parts, unpacking);
    class->late = memory_new(class->n_late + 1u, sizeof *class->late);
    for (uint32_t i = 0; i < class->n_late; i++) {
        unpack_value(unpacking, &class->late[i]);
        when_parts_unpack(&class->late[i].when, unpacking);
    }
    shape_unpack(&class->shape, unpacking, numbers);
    sums_unpack(&class->terms_so_far, unpacking, numbers);
    sums_unpack(&class->waits_so_far, unpacking, NULL);
    sums_unpack(&class->lates_so_far, unpacking, NULL);
    class->counts = (struct sparse){0};
    unpack_sparse(unpacking, &class->counts);
}

void classes_pack(struct classes *classes, struct packing *packing)
{
    pack_value(packing, classes->waiting_ns);
    pack_value(packing, classes->sites.n);
    for (size_t i = 0; i < classes->sites.n; i++) {
        struct site_classes *site = &classes->sites.at[i];
        pack_value(packing, *site);
        pack_bytes(packing, site->rank_waiting_ns, classes->n_ranks * sizeof *site->rank_waiting_ns);
        for (size_t k = 0; k < site->classes.n; k++)
            class_pack(site->classes.at[k], packing);
    }
}

void classes_unpack(struct classes *classes, struct unpacking *unpacking, const struct numbers *numbers)
{
    size_t n_sites;
    unpack_value(unpacking, &classes->waiting_ns);
    unpack_value(unpacking, &n_sites);
    for (size_t i = 0; i < n_sites; i++) {
        struct site_classes read;
        unpack_value(unpacking, &read);
        struct site_classes *site = classes_site(classes, read.site, read.kind);
        unpack_bytes(unpacking, site->rank_waiting_ns, classes->n_ranks * sizeof *site->rank_waiting_ns);
        site->n_instances = read.n_instances;
        site->n_calls = read.n_calls;
        memcpy(site->tiny, read.tiny, sizeof site->tiny);
        site->waiting_ns = read.waiting_ns;
        site->largest_ns = read.largest_ns;
        for (size_t k = 0; k < read.classes.n; k++) {
            *vec_push(&site->classes) = arena_new(&classes->arena, struct path_class);
            class_unpack(site->classes.at[k], unpacking, numbers);
        }
    }
}

void classes_know(struct classes *classes, struct pools *pools)
{
    for (size_t i = 0; i < classes->sites.n; i++)
        for (size_t k = 0; k < classes->sites.at[i].classes.n; k++) {
            struct path_class *class = classes->sites.at[i].classes.at[k];
            struct sparse terms = {0};
            sums_take(&class->terms_so_far, &terms);
            atoms_know(pools, &terms);
            sums_add_all(&class->terms_so_far, &terms);
            sparse_release(&terms);
        }
}

static void class_expand(struct classes *classes, struct path_class *class, struct arena *arena)
{
    struct sparse atoms = {0};
    sums_take(&class->terms_so_far, &atoms);
    for (size_t i = 0; i < atoms.n; i++) {
        const struct term *term = &atoms.at[i];
        struct term single;
        struct shares shares = atom_expand(classes->pools, key_atom(term->key), &single);
        for (size_t j = 0; j < shares.n; j++)
            sparse_add(&class->terms, (term->key & ~(uint64_t)UINT32_MAX) | shares.at[j].key,
                       term->ns * shares.at[j].ns);
    }
    sparse_release(&atoms);
    sparse_settle(&class->terms, arena);
    sums_take(&class->waits_so_far, &class->waits);
    sparse_settle(&class->waits, &classes->arena);
    sums_take(&class->lates_so_far, &class->lates);
    sparse_settle(&class->lates, &classes->arena);
}

void classes_expand(struct classes *classes, struct arena *arena)
{
    for (size_t site = 0; site < classes->sites.n; site++)
        for (size_t i = 0; i < classes->sites.at[site].classes.n; i++)
            class_expand(classes, classes->sites.at[site].classes.at[i], arena);
}
