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

/* The path from `common` to `node`, as steps. The process waited for is `direct`; TRACE_NONE on the waiting side. */
static double path_expand(struct pools *pools, const struct chain_node *node, const struct chain_node *common,
                          uint32_t direct, struct sparse *out)
{
    double noise_ns2 = 0;
    for (; node != common; node = node->parent) {
        noise_ns2 += node->noise_ns2;
        for (size_t i = 0; i < node->terms.n; i++) {
            uint32_t rank = (uint32_t)(node->terms.at[i].key >> 32);
            uint64_t mark = direct == TRACE_NONE ? CLASS_WAITING : rank != direct ? CLASS_LONG_TERM : 0;
            struct term single;
            struct shares shares = pools_expand(pools, (uint32_t)node->terms.at[i].key, &single);
            for (size_t j = 0; j < shares.n; j++)
                sparse_add(out, mark | class_key(rank, (uint32_t)shares.at[j].key),
                           node->terms.at[i].ns * shares.at[j].ns);
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

static void felt_add(struct classes *classes, struct felt *felt, const struct wait *wait)
{
    struct chain_node *late = wait->released_by->node;
    struct chain_node *common = chain_common(late, wait->begin);
    if (felt->n_late && (felt->late_order != late->order || felt->common_order != common->order))
        felt_settle_late(felt);
    if (!felt->n_late) {
        felt->late_order = late->order;
        felt->common_order = common->order;
        felt->late_noise_ns2 = path_expand(classes->pools, late, common, wait->released_by->rank, &felt->late);
        sparse_pack(&felt->late);
    }
    felt->n_late++;
    struct instance *instance = &felt->instance;
    instance->noise_ns2 += path_expand(classes->pools, wait->begin, common, TRACE_NONE, &instance->terms);
    instance->waiting_ns += (double)wait->dur_ns;
    if (wait->begin_ns < instance->first_ns)
        instance->first_ns = wait->begin_ns;
}

static struct felt *felt_find(struct felt **list, uint32_t felt_at)
{
    for (; *list; list = &(*list)->next)
        if ((*list)->instance.felt_at == felt_at)
            return *list;
    *list = calloc(1, sizeof **list);
    if (!*list)
        err_out_of_memory(sizeof **list);
    (*list)->instance = (struct instance){.felt_at = felt_at, .first_ns = UINT64_MAX};
    return *list;
}

void classes_add(struct classes *classes, struct felt **list, const struct wait *wait)
{
    struct felt *alone = NULL;
    uint32_t at = classes_site(classes, wait->site, wait->kind);
    struct felt_site *site = &classes->sites.at[at];
    site->waiting_ns += (double)wait->dur_ns;
    site->rank_waiting_ns[wait->rank] += (double)wait->dur_ns;
    classes->waiting_ns += (double)wait->dur_ns;
    felt_add(classes, felt_find(list ? list : &alone, at), wait);
    classes_close(classes, &alone);
}

/* Shares by (side, step) of the time that the program's code took; empty when it took none. */
static void instance_shape(struct classes *classes, const struct instance *instance, struct sparse *shape)
{
    const struct steps *steps = classes->pools->sites->steps;
    for (size_t i = 0; i < instance->terms.n; i++) {
        const struct term *term = &instance->terms.at[i];
        uint32_t step = class_key_step(term->key);
        if (step_state_is_code(steps_key(steps, step)->state))
            sparse_add(shape, (term->key & CLASS_WAITING) | step, term->ns);
    }
    sparse_pack(shape);
    double sum = sparse_sum(shape);
    for (size_t i = 0; i < shape->n; i++)
        shape->at[i].ns /= sum;
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
    struct sparse shape = {0};
    sparse_pack(&instance->terms);
    instance_shape(classes, instance, &shape);
    double n_samples = instance_samples(instance);
    bool is_tiny = instance->waiting_ns < TINY_NS || instance->waiting_ns < TINY_SHARE * site->largest_ns;
    long found = class_find(site, &shape, n_samples, is_tiny || site->classes.n >= CLASSES_MAX);
    if (found < 0) {
        found = (long)site->classes.n;
        *vec_push(&site->classes) =
            (struct path_class){.first_ns = instance->first_ns, .shape = shape, .shape_samples = n_samples};
    } else {
        sparse_release(&shape);
    }
    struct path_class *class = &site->classes.at[found];
    class->n_instances++;
    class->waiting_ns += instance->waiting_ns;
    sparse_absorb(&class->terms, &instance->terms);
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
        sparse_release(&felt->late);
        sparse_release(&felt->instance.terms);
        free(felt);
    }
}
