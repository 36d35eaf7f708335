/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/classes.h"
#include "wrap/base/err.h"
#include <math.h>
#include <stdlib.h>

enum { CLASSES_MAX = 64, TINY_NS = 20000 };
static const double THRESHOLD = 0.25, TINY_SHARE = 0.01, DEVIATIONS = 2;

void classes_begin(struct classes *classes, struct pools *pools, uint32_t n_ranks)
{
    *classes = (struct classes){.pools = pools, .n_ranks = n_ranks};
}

static void felt_site_release(struct felt_site *site)
{
    for (size_t i = 0; i < site->classes.n; i++) {
        sparse_release(&site->classes.at[i].shape);
        sparse_release(&site->classes.at[i].terms);
    }
    vec_release(&site->classes);
    vec_free(site->rank_waiting_ns);
}

void classes_release(struct classes *classes)
{
    for (size_t i = 0; i < classes->sites.n; i++)
        felt_site_release(&classes->sites.at[i]);
    while (classes->spare) {
        struct felt *felt = classes->spare;
        classes->spare = felt->next;
        sparse_release(&felt->late);
        sparse_release(&felt->instance.terms);
        free(felt);
    }
    tally_release(&classes->tally);
    sparse_release(&classes->shape);
    vec_release(&classes->sites);
    intern_release(&classes->keys);
}

static uint32_t classes_site(struct classes *classes, uint32_t site, enum wait_kind kind)
{
    uint32_t key[2] = {site, kind};
    uint32_t id = intern_put(&classes->keys, key, sizeof key);
    if (id < classes->sites.n)
        return id;
    struct felt_site *made = vec_push(&classes->sites);
    size_t cap = 0;
    made->site = site;
    made->kind = kind;
    vec_grow((void **)&made->rank_waiting_ns, &cap, classes->n_ranks + 1, sizeof *made->rank_waiting_ns);
    for (uint32_t rank = 0; rank < classes->n_ranks; rank++)
        made->rank_waiting_ns[rank] = 0;
    return id;
}

/* The path from `common` to `node`. The process waited for is `direct`; TRACE_NONE on the waiting side. */
static double path_add(const struct chain_node *node, const struct chain_node *common, uint32_t direct,
                       struct sparse *out)
{
    double noise_ns2 = 0;
    for (; node != common; node = node->parent) {
        noise_ns2 += node->noise_ns2;
        for (size_t i = 0; i < node->terms.n; i++) {
            uint64_t key = node->terms.at[i].key;
            uint64_t mark = direct == TRACE_NONE ? CLASS_WAITING : class_key_rank(key) != direct ? CLASS_LONG_TERM : 0;
            sparse_add(out, mark | key, node->terms.at[i].ns);
        }
    }
    return noise_ns2;
}

static void felt_settle_late(struct felt *felt)
{
    sparse_add_all(&felt->instance.terms, &felt->late, felt->n_late);
    felt->instance.noise_ns2 += felt->late_noise_ns2 * felt->n_late * felt->n_late;
    felt->n_late = 0;
    sparse_clear(&felt->late);
}

static void felt_add(struct felt *felt, const struct wait *wait)
{
    struct chain_node *late = wait->released_by->node;
    struct chain_node *common = chain_common(late, wait->begin);
    if (felt->n_late && (felt->late_order != late->order || felt->common_order != common->order))
        felt_settle_late(felt);
    if (!felt->n_late) {
        felt->late_order = late->order;
        felt->common_order = common->order;
        felt->late_noise_ns2 = path_add(late, common, wait->released_by->rank, &felt->late);
    }
    felt->n_late++;
    struct instance *instance = &felt->instance;
    instance->noise_ns2 += path_add(wait->begin, common, TRACE_NONE, &instance->terms);
    instance->waiting_ns += (double)wait->dur_ns;
    if (wait->begin_ns < instance->first_ns)
        instance->first_ns = wait->begin_ns;
}

static struct felt *felt_make(struct classes *classes, uint32_t felt_at)
{
    struct felt *felt = classes->spare;
    if (felt)
        classes->spare = felt->next;
    else if (!(felt = calloc(1, sizeof *felt)))
        err_out_of_memory(sizeof *felt);
    struct sparse terms = felt->instance.terms;
    sparse_clear(&terms);
    *felt = (struct felt){.late = felt->late, .instance = {.felt_at = felt_at, .first_ns = UINT64_MAX, .terms = terms}};
    return felt;
}

static struct felt *felt_find(struct classes *classes, struct felt **list, uint32_t felt_at)
{
    for (; *list; list = &(*list)->next)
        if ((*list)->instance.felt_at == felt_at)
            return *list;
    return *list = felt_make(classes, felt_at);
}

void classes_add(struct classes *classes, struct felt **list, const struct wait *wait)
{
    struct felt *alone = NULL;
    uint32_t at = classes_site(classes, wait->site, wait->kind);
    struct felt_site *site = &classes->sites.at[at];
    site->waiting_ns += (double)wait->dur_ns;
    site->rank_waiting_ns[wait->rank] += (double)wait->dur_ns;
    classes->waiting_ns += (double)wait->dur_ns;
    felt_add(felt_find(classes, list ? list : &alone, at), wait);
    classes_close(classes, &alone);
}

static void term_expand(struct classes *classes, const struct term *term)
{
    const struct steps *steps = classes->pools->sites->steps;
    uint32_t side = term->key & CLASS_WAITING ? 1 : 0;
    struct term single;
    struct shares shares = pools_expand(classes->pools, class_key_step(term->key), &single);
    for (size_t i = 0; i < shares.n; i++) {
        uint32_t step = (uint32_t)shares.at[i].key;
        if (step_state_is_code((enum step_state)steps_key(steps, step)->state))
            tally_add(&classes->tally, 2 * step + side, term->ns * shares.at[i].ns);
    }
}

/* Shares by (side, step) of the time that the program's code took; empty when it took none. */
static struct sparse *instance_shape(struct classes *classes, const struct instance *instance)
{
    struct sparse *shape = &classes->shape;
    sparse_clear(shape);
    for (size_t i = 0; i < instance->terms.n; i++)
        term_expand(classes, &instance->terms.at[i]);
    tally_take(&classes->tally, shape);
    double sum = sparse_sum(shape);
    for (size_t i = 0; i < shape->n; i++)
        shape->at[i].ns /= sum;
    return shape;
}

/* How many samples the path is worth; 0 = exact. */
static double instance_samples(const struct instance *instance)
{
    double length_ns = sparse_sum(&instance->terms);
    return instance->noise_ns2 > 0 ? length_ns * length_ns / instance->noise_ns2 : 0;
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
        double mean = (share + share_other) / 2, step_variance = mean * (1 - mean) * error;
        distance += fabs(share - share_other);
        deviation += sqrt(step_variance);
        variance += step_variance;
    }
    *allowance = sqrt(2 / M_PI) * deviation + DEVIATIONS * sqrt((1 - 2 / M_PI) * variance);
    return distance;
}

/* The class the instance belongs to, or -1. `must_join`: the nearest, however far. */
static long class_find(const struct felt_site *site, const struct sparse *shape, double n_samples, bool must_join)
{
    long best = -1;
    double best_excess = must_join ? INFINITY : THRESHOLD;
    for (size_t i = 0; i < site->classes.n; i++) {
        double allowance;
        const struct path_class *class = &site->classes.at[i];
        double distance = classes_distance(&class->shape, class->shape_samples, shape, n_samples, &allowance);
        if (distance - allowance < best_excess) {
            best_excess = distance - allowance;
            best = (long)i;
        }
    }
    return best;
}

static void instance_classify(struct classes *classes, struct instance *instance)
{
    struct felt_site *site = &classes->sites.at[instance->felt_at];
    struct sparse *shape = instance_shape(classes, instance);
    double n_samples = instance_samples(instance);
    bool is_tiny = instance->waiting_ns < TINY_NS || instance->waiting_ns < TINY_SHARE * site->largest_ns;
    long found = class_find(site, shape, n_samples, is_tiny || site->classes.n >= CLASSES_MAX);
    if (found < 0) {
        found = (long)site->classes.n;
        *vec_push(&site->classes) =
            (struct path_class){.first_ns = instance->first_ns, .shape = *shape, .shape_samples = n_samples};
        *shape = (struct sparse){0};
    }
    struct path_class *class = &site->classes.at[found];
    class->n_instances++;
    class->waiting_ns += instance->waiting_ns;
    sparse_add_all(&class->terms, &instance->terms, 1);
    site->n_instances++;
    if (instance->waiting_ns > site->largest_ns)
        site->largest_ns = instance->waiting_ns;
}

void classes_close(struct classes *classes, struct felt **list)
{
    while (*list) {
        struct felt *felt = *list;
        *list = felt->next;
        felt_settle_late(felt);
        instance_classify(classes, &felt->instance);
        felt->next = classes->spare;
        classes->spare = felt;
    }
}

static void class_expand(struct classes *classes, struct path_class *class)
{
    struct sparse steps = {0};
    for (size_t i = 0; i < class->terms.n; i++) {
        const struct term *term = &class->terms.at[i];
        struct term single;
        struct shares shares = pools_expand(classes->pools, class_key_step(term->key), &single);
        for (size_t j = 0; j < shares.n; j++)
            sparse_add(&steps, (term->key & ~(uint64_t)UINT32_MAX) | shares.at[j].key, term->ns * shares.at[j].ns);
    }
    sparse_pack(&steps);
    sparse_release(&class->terms);
    class->terms = steps;
}

void classes_expand(struct classes *classes)
{
    for (size_t site = 0; site < classes->sites.n; site++)
        for (size_t i = 0; i < classes->sites.at[site].classes.n; i++)
            class_expand(classes, &classes->sites.at[site].classes.at[i]);
}
