/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/blame.h"
#include <math.h>
#include <stdlib.h>

static const double ACCOUNTED = 0.95;

void blame_net(const struct path_class *class, struct sparse *net)
{
    for (size_t i = 0; i < class->terms.n; i++) {
        const struct term *term = &class->terms.at[i];
        sparse_add(net, key_atom(term->key), term->key & KEY_WAITING ? -term->ns : term->ns);
    }
    sparse_pack(net);
}

static void blame_late_totals(const struct path_class *class, struct sparse *late)
{
    for (size_t i = 0; i < class->terms.n; i++)
        if (!(class->terms.at[i].key & KEY_WAITING) && class->terms.at[i].ns > 0)
            sparse_add(late, key_atom(class->terms.at[i].key), class->terms.at[i].ns);
    sparse_pack(late);
}

/* Only a clock error leaves nothing positive to blame. */
static void blame_clock(const struct path_class *class, struct steps *steps, struct sparse *blame)
{
    uint32_t step = steps_put(steps, STEP_UNKNOWN, WHAT_CLOCK, 0, TRACE_NONE);
    sparse_add(blame, atom_key(0, step), class->waiting_ns);
}

/* Positive remainders, apart: who waits in a loop of MPI_Win_sync waits for somebody that is not known. */
struct longer {
    double known_ns, open_ns;
};

static struct longer longer_of(const struct sites *sites, const struct sparse *net, const struct sparse *late)
{
    struct longer longer = {0};
    for (size_t i = 0; i < net->n; i++)
        if (net->at[i].ns > 0 && sparse_get(late, net->at[i].key) > 0)
            *(sites_step_is_open(sites, (uint32_t)net->at[i].key) ? &longer.open_ns : &longer.known_ns) +=
                net->at[i].ns;
    return longer;
}

/* How much of a remainder is blamed. For what it is not known whom it waits for, that is what nothing else explains:
 * it may be the waiting process itself. */
static double part_blamed(const struct longer *longer, double waiting_ns, bool is_open)
{
    bool may_leave_over = longer->open_ns > 0;
    if (!is_open)
        return waiting_ns > longer->known_ns && may_leave_over ? 1 : waiting_ns / longer->known_ns;
    return waiting_ns > longer->known_ns ? (waiting_ns - longer->known_ns) / longer->open_ns : 0;
}

double blame_share(const struct path_class *class, const struct sites *sites, struct sparse *blame)
{
    struct sparse net = {0}, late = {0};
    blame_net(class, &net);
    blame_late_totals(class, &late);
    struct longer longer = longer_of(sites, &net, &late);
    bool is_explained = longer.known_ns + longer.open_ns > 0;
    for (size_t i = 0; i < class->terms.n && is_explained; i++) {
        const struct term *term = &class->terms.at[i];
        uint32_t step = key_atom(term->key);
        double remainder_ns = sparse_get(&net, step);
        if (!(term->key & KEY_WAITING) && term->ns > 0 && remainder_ns > 0)
            sparse_add(blame, term->key,
                       remainder_ns * part_blamed(&longer, class->waiting_ns, sites_step_is_open(sites, step)) *
                           (term->ns / sparse_get(&late, step)));
    }
    if (!is_explained)
        blame_clock(class, sites->steps, blame);
    sparse_pack(blame);
    sparse_release(&net);
    sparse_release(&late);
    if (!is_explained)
        return class->waiting_ns;
    return longer.known_ns + (class->waiting_ns > longer.known_ns ? longer.open_ns : 0);
}

static int remainder_compare(const void *a, const void *b)
{
    const struct term *left = a, *right = b;
    double difference = fabs(left->ns) - fabs(right->ns);
    if (difference != 0)
        return difference < 0 ? -1 : 1;
    return (left->key > right->key) - (left->key < right->key);
}

void blame_prune(const struct path_class *class, struct sparse *redundant)
{
    struct sparse net = {0};
    blame_net(class, &net);
    double left_ns = sparse_sum(&net);
    if (net.n)
        qsort(net.at, net.n, sizeof *net.at, remainder_compare);
    for (size_t i = 0; i < net.n && left_ns - net.at[i].ns >= ACCOUNTED * class->waiting_ns; i++) {
        left_ns -= net.at[i].ns;
        sparse_add(redundant, net.at[i].key, 1);
    }
    sparse_pack(redundant);
    sparse_release(&net);
}
