/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/occurrences.h"
#include "analyze/waits/history.h"
#include <stdlib.h>

void occurrences_begin(struct occurrences *occurrences, struct classes *classes)
{
    *occurrences = (struct occurrences){.classes = classes};
}

static void release_list(struct occurrence *list)
{
    for (struct occurrence *occurrence = list, *next; occurrence; occurrence = next) {
        next = occurrence->next;
        sparse_release(&occurrence->late);
        sparse_release(&occurrence->late_counts);
        sparse_release(&occurrence->instance.heaviest);
        sparse_release(&occurrence->instance.counts);
        sparse_release(&occurrence->instance.terms);
        sparse_release(&occurrence->instance.waits);
        sparse_release(&occurrence->instance.lates);
        free(occurrence->instance.when_parts.ns);
        free(occurrence);
    }
}

void occurrences_release(struct occurrences *occurrences)
{
    release_list(occurrences->spare);
    sparse_release(&occurrences->path);
}

/* The process waited for is `direct`; TRACE_NONE on the waiting side. */
static inline uint64_t term_mark(uint64_t key, uint32_t direct)
{
    return direct == TRACE_NONE ? KEY_WAITING : key_rank(key) != direct ? KEY_LONG_TERM : 0;
}

/* The path from `common` to `node`. Most nodes are passed many times: each sums its terms up when it is. */
static struct path path_add(const struct pools *pools, struct chain_node *node, const struct chain_node *common,
                            uint32_t direct, struct sparse *terms, struct sparse *counts)
{
    struct path path = {0};
    for (; node != common; node = node->parent) {
        path.noise_ns2 += node->noise_ns2;
        path.longest_ns = node->longest_ns > path.longest_ns ? node->longest_ns : path.longest_ns;
        sparse_pack(&node->terms);
        sparse_pack(&node->counts);
        struct term *to = sparse_extend(terms, node->terms.n);
        for (size_t i = 0; i < node->terms.n; i++) {
            struct term term = node->terms.at[i];
            path.code_ns += atom_code(pools, key_atom(term.key)) * term.ns;
            to[i] = (struct term){term_mark(term.key, direct) | term.key, term.ns};
        }
        to = sparse_extend(counts, node->counts.n);
        for (size_t i = 0; i < node->counts.n; i++) {
            struct term term = node->counts.at[i];
            to[i] = (struct term){term_mark(term.key, direct) | term.key, term.ns};
        }
    }
    return path;
}

static void occurrence_settle_late(struct occurrence *occurrence)
{
    occurrence->instance.late_code_ns += occurrence->n_late * occurrence->late_path.code_ns;
    if (occurrence->n_late == 1 && !occurrence->instance.terms.n) { /* as in most messages */
        struct sparse empty = occurrence->instance.terms;
        occurrence->instance.terms = occurrence->late;
        occurrence->late = empty;
    }
    sparse_add_all(&occurrence->instance.terms, &occurrence->late, occurrence->n_late);
    sparse_add_all(&occurrence->instance.counts, &occurrence->late_counts, occurrence->n_late);
    occurrence->instance.noise_ns2 += occurrence->late_path.noise_ns2 * occurrence->n_late * occurrence->n_late;
    occurrence->n_late = 0;
    sparse_clear(&occurrence->late);
    sparse_clear(&occurrence->late_counts);
}

static void occurrence_add_waiting(struct occurrences *occurrences, struct occurrence *occurrence,
                                   struct chain_node *begin, const struct chain_node *common)
{
    struct instance *instance = &occurrence->instance;
    struct sparse *terms = &occurrences->path;
    sparse_clear(terms);
    struct path path = path_add(occurrences->classes->pools, begin, common, TRACE_NONE, terms, &instance->counts);
    instance->noise_ns2 += path.noise_ns2;
    instance->waiting_code_ns += path.code_ns;
    if (instance->n_waits && path.code_ns <= instance->heaviest_code_ns) {
        sparse_add_all(&instance->terms, terms, 1);
        return;
    }
    sparse_add_all(&instance->terms, &instance->heaviest, 1);
    struct sparse lighter = instance->heaviest;
    instance->heaviest = *terms;
    *terms = lighter;
    instance->heaviest_code_ns = path.code_ns;
}

static struct occurrence *occurrence_take_spare(struct occurrences *occurrences)
{
    struct occurrence *occurrence = occurrences->spare;
    if (occurrence)
        occurrences->spare = occurrence->next;
    else
        occurrence = memory_new(1, sizeof *occurrence);
    return occurrence;
}

/* Empty, but for the room that its vectors had before. */
static struct occurrence *occurrence_make(struct occurrences *occurrences, const struct wait *wait)
{
    struct occurrence *occurrence = occurrence_take_spare(occurrences);
    struct instance *before = &occurrence->instance;
    struct sparse *vectors[] = {&before->terms, &before->heaviest, &before->counts, &before->waits, &before->lates};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sparse_clear(vectors[i]);
    before->when_parts.parts = 0;
    *occurrence = (struct occurrence){.late = occurrence->late,
                                      .late_counts = occurrence->late_counts,
                                      .instance = {.site = wait->site,
                                                   .kind = wait->kind,
                                                   .number = wait->number,
                                                   .round = wait->round,
                                                   .rank = wait->rank,
                                                   .did_ns = wait->did_ns,
                                                   .did_since_ns = wait->did_since_ns,
                                                   .first_ns = UINT64_MAX,
                                                   .terms = before->terms,
                                                   .heaviest = before->heaviest,
                                                   .counts = before->counts,
                                                   .waits = before->waits,
                                                   .lates = before->lates,
                                                   .when_parts = before->when_parts}};
    return occurrence;
}

static struct occurrence *occurrence_find(struct occurrences *occurrences, struct occurrence **list,
                                          const struct wait *wait)
{
    for (; *list; list = &(*list)->next)
        if ((*list)->instance.site == wait->site && (*list)->instance.kind == wait->kind)
            return *list;
    return *list = occurrence_make(occurrences, wait);
}

static void sink_close(void *context, struct occurrence **list)
{
    struct occurrences *occurrences = context;
    for (struct occurrence *occurrence = *list, *next; occurrence; occurrence = next) {
        next = occurrence->next;
        occurrence_settle_late(occurrence);
        classes_add(occurrences->classes, &occurrence->instance);
        occurrence->next = occurrences->spare;
        occurrences->spare = occurrence;
    }
    *list = NULL;
}

static void sink_add(void *context, struct occurrence **list, const struct wait *wait, struct chain_node *begin,
                     struct chain_node *late)
{
    struct occurrences *occurrences = context;
    struct occurrence *alone = NULL;
    struct occurrence *occurrence = occurrence_find(occurrences, list ? list : &alone, wait);
    const struct chain_node *common = chain_common(late, begin);
    struct instance *instance = &occurrence->instance;
    if (occurrence->n_late && (occurrence->late_order != late->order || occurrence->common_order != common->order))
        occurrence_settle_late(occurrence);
    if (!occurrence->n_late) {
        occurrence->late_order = late->order;
        occurrence->common_order = common->order;
        occurrence->late_path = path_add(occurrences->classes->pools, late, common, wait->late_rank, &occurrence->late,
                                         &occurrence->late_counts);
    }
    occurrence->n_late++;
    occurrence_add_waiting(occurrences, occurrence, begin, common);
    instance->n_waits++;
    instance->is_rest |= wait->is_rest;
    instance->waiting_ns += (double)wait->dur_ns;
    if ((double)occurrence->late_path.longest_ns >= MOST_SHARE * (double)wait->dur_ns)
        instance->in_one_go_ns += (double)wait->dur_ns;
    instance->inferred_ns += wait->is_inferred ? (double)wait->dur_ns : 0;
    instance->self_ns += wait->rank == wait->late_rank ? (double)wait->dur_ns : 0;
    instance->left_idle_ns += (double)wait->dur_ns * cpu_use_share(occurrences->classes->cpu_use, wait->begin_ns,
                                                                   wait->begin_ns + wait->dur_ns);
    sparse_add(&instance->waits, wait->rank, (double)wait->dur_ns);
    sparse_add(&instance->lates, wait->late_rank, (double)wait->dur_ns);
    when_parts_add_wait(&instance->when_parts, occurrences->classes->pools->sites->trace, wait);
    if ((double)wait->dur_ns > instance->longest_ns) {
        instance->longest_ns = (double)wait->dur_ns;
        instance->late_rank = wait->late_rank;
        instance->lead_ns = wait->begin_ns > common->time_ns ? wait->begin_ns - common->time_ns : 0;
        if (wait->since_ns && wait->since_ns < instance->lead_ns)
            instance->lead_ns = wait->since_ns;
    }
    if (wait->begin_ns < instance->first_ns)
        instance->first_ns = wait->begin_ns;
    sink_close(occurrences, &alone);
}

struct wait_sink occurrences_sink(struct occurrences *occurrences)
{
    return (struct wait_sink){.context = occurrences, .add = sink_add, .close = sink_close};
}
