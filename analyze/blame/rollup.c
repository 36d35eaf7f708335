/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/rollup.h"
#include "analyze/constants/constants.h"
#include "analyze/result/ratio.h"
#include "analyze/blame/classes.h"
#include "wrap/base/containers.h"
#include <math.h>

/* The tree in preorder: what is below a node stands behind it, up to its end. */
struct order {
    uint32_t *node, *at; /* by position: node; by node: position */
    uint32_t *end;       /* by position */
    double *below_ns;    /* by position: B */
};

/* Of one or several nodes together. */
struct outline {
    struct sparse shares; /* of the blame, by rank */
    struct sparse times;
    double blame_ns, n_samples;
};

static struct order order_make(struct rollup *rollup, struct arena *arena)
{
    uint32_t n = (uint32_t)rollup->nodes.n, n_placed = 0;
    struct order order = {.node = arena_array(arena, uint32_t, n + 1),
                          .at = arena_array(arena, uint32_t, n + 1),
                          .end = arena_array(arena, uint32_t, n + 1),
                          .below_ns = arena_array(arena, double, n + 1)};
    uint32_t *size = arena_array(arena, uint32_t, n + 1), *next = arena_array(arena, uint32_t, n + 1);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = rollup->nodes.at[i].parent;
        size[i]++;
        if (parent != ROLLUP_NONE)
            size[parent] += size[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = rollup->nodes.at[i].parent, *place = parent == ROLLUP_NONE ? &n_placed : &next[parent];
        order.at[i] = *place;
        order.node[*place] = i;
        order.end[*place] = *place + size[i];
        next[i] = *place + 1;
        *place += size[i];
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = rollup->nodes.at[i].parent;
        order.below_ns[order.at[i]] += sparse_sum(&rollup->nodes.at[i].blame);
        if (parent != ROLLUP_NONE)
            order.below_ns[order.at[parent]] += order.below_ns[order.at[i]];
    }
    return order;
}

static void outline_add(struct outline *outline, const struct rollup_node *node)
{
    sparse_add_all(&outline->shares, &node->blame, 1);
    sparse_add_all(&outline->times, &node->times, 1);
}

/* Samples on the processes that are blamed: how well the shares are known. */
static void outline_finish(struct outline *outline, double sample_ns)
{
    sparse_pack(&outline->shares);
    sparse_pack(&outline->times);
    outline->blame_ns = sparse_sum(&outline->shares);
    double time_ns = 0;
    for (size_t i = 0; i < outline->shares.n; i++) {
        outline->shares.at[i].ns /= outline->blame_ns;
        time_ns += sparse_get(&outline->times, outline->shares.at[i].key);
    }
    outline->n_samples = sample_ns > 0 ? fmax(time_ns / sample_ns, 1) : 0;
}

static void outline_release(struct outline *outline)
{
    sparse_release(&outline->shares);
    sparse_release(&outline->times);
}

/* How many times as long the late processes take as the others. Late to the degree that `shares` has it: who carries
 * all the blame is compared with the mean of the others. Half a sample more on both sides stands for a side that was
 * never seen there. */
static struct ratio excess_of(const struct sparse *times, const struct sparse *shares, uint32_t n_ranks,
                              double sample_ns)
{
    double half_ns = fmax(sample_ns, 1) / 2, n_others = fmax(n_ranks - 1.0, 1);
    double late_ns = half_ns, others_ns = half_ns / n_others, late_square = half_ns,
           others_square = half_ns / n_others / n_others;
    for (size_t i = 0; i < times->n; i++) {
        double late = sparse_get(shares, times->at[i].key), other = (1 - late) / n_others;
        late_ns += late * times->at[i].ns;
        others_ns += other * times->at[i].ns;
        late_square += late * late * times->at[i].ns;
        others_square += other * other * times->at[i].ns;
    }
    return ratio_of((struct measured){late_ns, sqrt(sample_ns * late_square), true},
                    (struct measured){others_ns, sqrt(sample_ns * others_square), true});
}

static bool are_of_the_same(const struct outline *part, const struct outline *whole)
{
    double allowance,
        distance = classes_distance(&part->shares, part->n_samples, &whole->shares, whole->n_samples, &allowance);
    return distance <= CLASSES_THRESHOLD + allowance;
}

static bool are_alike(const struct rollup *rollup, const struct outline *part, const struct outline *whole)
{
    if (!are_of_the_same(part, whole))
        return false;
    struct ratio one = excess_of(&part->times, &whole->shares, rollup->n_ranks, rollup->sample_ns);
    struct ratio all = excess_of(&whole->times, &whole->shares, rollup->n_ranks, rollup->sample_ns);
    return ratio_is_like(one, all, exp(SAME_FACTOR));
}

static struct outline outline_of_tree(const struct rollup *rollup, const struct order *order, uint32_t at)
{
    struct outline outline = {0};
    for (uint32_t i = at; i < order->end[at]; i++)
        outline_add(&outline, &rollup->nodes.at[order->node[i]]);
    outline_finish(&outline, rollup->sample_ns);
    return outline;
}

static struct outline outline_of_node(const struct rollup *rollup, const struct rollup_node *node)
{
    struct outline outline = {0};
    outline_add(&outline, node);
    outline_finish(&outline, rollup->sample_ns);
    return outline;
}

/* True when it executes itself what most of the blame is for, or those below that carry it are like all of it. */
static bool is_one_cause(const struct rollup *rollup, const struct order *order, uint32_t at)
{
    if (sparse_sum(&rollup->nodes.at[order->node[at]].blame) >= MOST_SHARE * order->below_ns[at])
        return true;
    struct outline whole = outline_of_tree(rollup, order, at);
    double alike_ns = 0;
    for (uint32_t i = at; i < order->end[at]; i++) {
        const struct rollup_node *node = &rollup->nodes.at[order->node[i]];
        if (!node->blame.n)
            continue;
        struct outline part = outline_of_node(rollup, node);
        alike_ns += are_alike(rollup, &part, &whole) ? part.blame_ns : 0;
        outline_release(&part);
    }
    outline_release(&whole);
    return alike_ns >= MOST_SHARE * order->below_ns[at];
}

static uint32_t name_narrowly(const struct rollup *rollup, const struct order *order, uint32_t chosen)
{
    uint32_t at = chosen;
    for (uint32_t child = at + 1, end = order->end[at]; child < end;) {
        bool has_most = order->below_ns[child] >= MOST_SHARE * order->below_ns[chosen];
        at = has_most && !rollup->nodes.at[order->node[child]].tells_nothing ? child : at;
        end = has_most ? order->end[child] : end;
        child = has_most ? child + 1 : order->end[child];
    }
    return at;
}

static void add_cause(struct rollup *rollup, const struct order *order, uint32_t at, uint32_t end, double blame_ns)
{
    uint32_t number = (uint32_t)rollup->causes.n;
    uint32_t named = end > at + 1 ? name_narrowly(rollup, order, at) : at;
    *vec_push(&rollup->causes) =
        (struct rollup_cause){.node = order->node[named], .chosen = order->node[at], .blame_ns = blame_ns};
    for (uint32_t i = at; i < end; i++)
        rollup->cause_of.at[order->node[i]] = number;
}

static void choose(struct rollup *rollup, const struct order *order)
{
    for (uint32_t at = 0; at < rollup->nodes.n;) {
        const struct rollup_node *node = &rollup->nodes.at[order->node[at]];
        if (!(order->below_ns[at] > 0)) {
            at = order->end[at];
        } else if (node->is_free && !node->tells_nothing && is_one_cause(rollup, order, at)) {
            add_cause(rollup, order, at, order->end[at], order->below_ns[at]);
            at = order->end[at];
        } else {
            if (node->blame.n)
                add_cause(rollup, order, at, at + 1, sparse_sum(&node->blame));
            at++;
        }
    }
}

/* Causes that join others. */
struct joining {
    struct outline *outlines; /* by cause */
    uint32_t *host;           /* by cause; ROLLUP_NONE */
    bool *may_be_even;        /* by cause that joined another */
    double least_ns;          /* below, a cause is a remainder */
};

static struct joining joining_make(const struct rollup *rollup, struct arena *arena)
{
    uint32_t n = (uint32_t)rollup->causes.n;
    struct joining joining = {.outlines = arena_array(arena, struct outline, n + 1),
                              .host = arena_array(arena, uint32_t, n + 1),
                              .may_be_even = arena_array(arena, bool, n + 1)};
    for (size_t i = 0; i < rollup->nodes.n; i++)
        if (rollup->cause_of.at[i] != ROLLUP_NONE)
            outline_add(&joining.outlines[rollup->cause_of.at[i]], &rollup->nodes.at[i]);
    for (uint32_t i = 0; i < n; i++) {
        outline_finish(&joining.outlines[i], rollup->sample_ns);
        joining.host[i] = ROLLUP_NONE;
        joining.least_ns += NEGLIGIBLE_SHARE * rollup->causes.at[i].blame_ns;
    }
    return joining;
}

/* Of what has `blame_ns` by `shares`, which sum to 1. */
static void outline_enlarge(struct outline *outline, const struct sparse *shares, double blame_ns,
                            const struct sparse *times, double sample_ns)
{
    for (size_t i = 0; i < outline->shares.n; i++)
        outline->shares.at[i].ns *= outline->blame_ns;
    sparse_add_all(&outline->shares, shares, blame_ns);
    sparse_add_all(&outline->times, times, 1);
    outline_finish(outline, sample_ns);
}

static void join(struct rollup *rollup, struct joining *joining, uint32_t cause, uint32_t host)
{
    const struct outline *from = &joining->outlines[cause];
    outline_enlarge(&joining->outlines[host], &from->shares, from->blame_ns, &from->times, rollup->sample_ns);
    joining->host[cause] = host;
    rollup->causes.at[host].blame_ns += rollup->causes.at[cause].blame_ns;
}

/* True when these processes take longer there by more than samples err. */
static bool is_known_late(const struct rollup *rollup, const struct outline *outline)
{
    return ratio_exceeds(excess_of(&outline->times, &outline->shares, rollup->n_ranks, rollup->sample_ns), 1);
}

/* True when late processes are surely not as late in the part as in the whole. A part in which they take less time than
 * the others belongs to the whole: that is what the others do instead. */
static bool may_be_even(const struct rollup *rollup, const struct outline *part, const struct outline *whole)
{
    struct ratio own = excess_of(&part->times, &whole->shares, rollup->n_ranks, rollup->sample_ns);
    struct ratio all = excess_of(&whole->times, &whole->shares, rollup->n_ranks, rollup->sample_ns);
    return own.high >= 1 && own.high < all.low;
}

/* So little is blamed on it, and so little is known of it, that it may be chance: nobody is known to take longer there,
 * and its blame is no more than what one process errs by in sampling, times all who wait for it. */
static bool is_chance(const struct rollup *rollup, const struct outline *outline)
{
    double mean_ns = sparse_sum(&outline->times) / rollup->n_ranks;
    double error_ns = (rollup->n_ranks - 1) * sqrt(2 * rollup->sample_ns * mean_ns);
    return outline->blame_ns <= SAME_DEVIATIONS * error_ns && !is_known_late(rollup, outline);
}

/* True when what is blamed on the part goes with the whole: they are alike, or the part is chance and the whole is not.
 */
static bool goes_with(const struct rollup *rollup, const struct outline *part, const struct outline *whole)
{
    bool may_be_alike = is_chance(rollup, part) && is_known_late(rollup, whole);
    return may_be_alike ? are_of_the_same(part, whole) : are_alike(rollup, part, whole);
}

/* The largest cause chosen within [at, end of at) that this one goes with and that is no remainder; ROLLUP_NONE. */
static uint32_t find_alike(const struct rollup *rollup, const struct order *order, const struct joining *joining,
                           uint32_t at, uint32_t cause)
{
    uint32_t best = ROLLUP_NONE;
    for (uint32_t i = 0; i < rollup->causes.n; i++) {
        const struct rollup_cause *other = &rollup->causes.at[i];
        uint32_t place = order->at[other->chosen];
        if (place < at || place >= order->end[at] || joining->host[i] != ROLLUP_NONE ||
            other->blame_ns < joining->least_ns ||
            (best != ROLLUP_NONE && other->blame_ns <= rollup->causes.at[best].blame_ns))
            continue;
        if (i != cause && goes_with(rollup, &joining->outlines[cause], &joining->outlines[i]))
            best = i;
    }
    return best;
}

static uint32_t host_of(const struct joining *joining, uint32_t cause)
{
    while (cause != ROLLUP_NONE && joining->host[cause] != ROLLUP_NONE)
        cause = joining->host[cause];
    return cause;
}

/* The node with this code from what names a cause outwards, up to what was chosen; ROLLUP_NONE. */
static uint32_t node_of_code(const struct rollup *rollup, const struct rollup_cause *cause, uint32_t code)
{
    uint32_t node = cause->node;
    while (node != cause->chosen && rollup->nodes.at[node].code != code)
        node = rollup->nodes.at[node].parent;
    return rollup->nodes.at[node].code == code ? node : ROLLUP_NONE;
}

static uint32_t code_of_name(const struct rollup *rollup, const struct rollup_cause *cause)
{
    return rollup->nodes.at[cause->node].code;
}

/* Keeps who comes first. */
static void note_first(struct map *first, uint32_t code, uint32_t cause)
{
    bool is_new;
    uint64_t *slot = map_put(first, code, &is_new);
    if (is_new)
        *slot = cause;
}

/* Both are below one call in the source. A library has entered the code on two ways, as one that runs tasks. */
static bool are_below_one_call(const struct rollup *rollup, const struct rollup_cause *one,
                               const struct rollup_cause *other)
{
    const struct rollup_node *a = &rollup->nodes.at[one->chosen], *b = &rollup->nodes.at[other->chosen];
    return a->call_line && a->call_line == b->call_line && a->parent == b->parent;
}

/* The nearer to the largest cause, the better: of two that come before `cause`, which are numbers in `place`. */
static void prefer(const struct rollup *rollup, const struct joining *joining, const uint64_t *other, uint32_t cause,
                   const uint32_t *place, uint32_t *best)
{
    if (other && *other != cause && (*best == ROLLUP_NONE || place[*other] < place[*best]) &&
        (goes_with(rollup, &joining->outlines[cause], &joining->outlines[*other]) ||
         are_below_one_call(rollup, &rollup->causes.at[cause], &rollup->causes.at[*other])))
        *best = (uint32_t)*other;
}

/* The same code, entered on several ways, is one cause where it is like the largest, or where one call leads to both.
 * On one way a loop may have just as much of the blame as it takes to be named, on another what is around it is named.
 * Then that is named for both, unless the first way has nearly all. */
static void join_ways(struct rollup *rollup, struct joining *joining, struct arena *arena)
{
    struct map named = {0}, around = {0}; /* code -> the largest cause that it names, that it is around or names */
    uint32_t n = (uint32_t)rollup->causes.n, *place = arena_array(arena, uint32_t, n + 1);
    double *blame_ns = arena_array(arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        blame_ns[i] = rollup->causes.at[i].blame_ns;
    const uint32_t *order = order_falling(arena, blame_ns, n);
    for (uint32_t k = 0; k < n; k++) {
        struct rollup_cause *cause = &rollup->causes.at[order[k]];
        uint32_t host = ROLLUP_NONE, code = code_of_name(rollup, cause);
        place[order[k]] = k;
        prefer(rollup, joining, map_get(&around, code), order[k], place, &host);
        for (uint32_t node = cause->node;; node = rollup->nodes.at[node].parent) {
            prefer(rollup, joining, map_get(&named, rollup->nodes.at[node].code), order[k], place, &host);
            if (node == cause->chosen)
                break;
        }
        if (host != ROLLUP_NONE) {
            struct rollup_cause *to = &rollup->causes.at[host];
            uint32_t wider = node_of_code(rollup, to, code);
            joining->may_be_even[order[k]] =
                may_be_even(rollup, &joining->outlines[order[k]], &joining->outlines[host]);
            join(rollup, joining, order[k], host);
            bool is_little = cause->blame_ns <= (1 - MOST_SHARE) * to->blame_ns;
            to->node = wider == ROLLUP_NONE || is_little ? to->node : wider;
            continue;
        }
        note_first(&named, code, order[k]);
        for (uint32_t node = cause->node;; node = rollup->nodes.at[node].parent) {
            note_first(&around, rollup->nodes.at[node].code, order[k]);
            if (node == cause->chosen)
                break;
        }
    }
    map_release(&named);
    map_release(&around);
}

/* True when no process has spent time in both that is worth a word. */
static bool are_of_different_processes(const struct sparse *one, const struct sparse *other)
{
    double both_ns = 0;
    for (size_t i = 0; i < one->n; i++)
        both_ns += fmin(one->at[i].ns, sparse_get(other, one->at[i].key));
    return both_ns <= (1 - NEARLY_ALL_SHARE) * fmin(sparse_sum(one), sparse_sum(other));
}

/* True when a node of no cause, or of this one, is what others execute instead of the code that names `host`. */
static bool is_compared(const struct rollup *rollup, const struct joining *joining, uint32_t host, uint32_t cause,
                        const struct sparse *times)
{
    const struct rollup_cause *theirs = cause == ROLLUP_NONE ? NULL : &rollup->causes.at[cause],
                              *mine = &rollup->causes.at[host];
    const struct rollup_node *nodes = rollup->nodes.at;
    if (theirs && (theirs->blame_ns > (1 - MOST_SHARE) * mine->blame_ns ||
                   (nodes[theirs->chosen].code != nodes[mine->chosen].code &&
                    nodes[theirs->node].code != nodes[mine->node].code)))
        return false;
    return are_of_different_processes(&joining->outlines[host].times, times);
}

/* Two branches may enter the code of a cause, each for its own processes. If hardly anything is blamed on what others
 * enter, that is what the cause is compared with, not their not coming to its own entry. */
static void join_entries_of_others(struct rollup *rollup, const struct order *order, struct joining *joining)
{
    for (uint32_t i = 0; i < rollup->causes.n; i++) {
        uint32_t code = rollup->nodes.at[rollup->causes.at[i].node].code;
        for (uint32_t at = 0; at < rollup->nodes.n && joining->host[i] == ROLLUP_NONE; at++) {
            uint32_t other = host_of(joining, rollup->cause_of.at[order->node[at]]);
            struct sparse times = {0};
            if (rollup->nodes.at[order->node[at]].code != code || other == i)
                continue;
            for (uint32_t k = at; k < order->end[at]; k++)
                sparse_add_all(&times, &rollup->nodes.at[order->node[k]].times, 1);
            sparse_pack(&times);
            if (times.n && is_compared(rollup, joining, i, other, &times)) {
                if (other != ROLLUP_NONE)
                    join(rollup, joining, other, i);
                for (uint32_t k = at; k < order->end[at]; k++) {
                    const struct rollup_node *below = &rollup->nodes.at[order->node[k]];
                    if (rollup->cause_of.at[order->node[k]] == ROLLUP_NONE) {
                        rollup->cause_of.at[order->node[k]] = i;
                        outline_enlarge(&joining->outlines[i], &below->blame, 0, &below->times, rollup->sample_ns);
                    }
                }
            }
            sparse_release(&times);
        }
    }
}

/* True when nobody else has spent time there. Then by how much longer these take says nothing. */
static bool is_theirs_alone(const struct outline *outline)
{
    double theirs_ns = 0;
    for (size_t i = 0; i < outline->shares.n; i++)
        theirs_ns += sparse_get(&outline->times, outline->shares.at[i].key);
    return theirs_ns >= (1 - NEGLIGIBLE_SHARE) * sparse_sum(&outline->times);
}

/* The largest first. A compiler may have made two copies of code that all execute, one for each way. */
static void join_of_one_reason(struct rollup *rollup, struct joining *joining, struct arena *arena)
{
    double *blame_ns = arena_array(arena, double, rollup->causes.n + 1);
    for (size_t i = 0; i < rollup->causes.n; i++)
        blame_ns[i] = joining->host[i] == ROLLUP_NONE ? rollup->causes.at[i].blame_ns : 0;
    const uint32_t *order = order_falling(arena, blame_ns, (uint32_t)rollup->causes.n);
    for (size_t i = 1; i < rollup->causes.n && rollup->has_one_reason && blame_ns[order[i]] >= joining->least_ns; i++)
        for (size_t k = 0; k < i && joining->host[order[i]] == ROLLUP_NONE; k++) {
            const struct outline *host = &joining->outlines[order[k]], *part = &joining->outlines[order[i]];
            struct rollup_cause *of = rollup->causes.at;
            if (joining->host[order[k]] != ROLLUP_NONE || !are_of_the_same(part, host) || !is_theirs_alone(part) ||
                !is_theirs_alone(host) ||
                !rollup->has_one_reason(rollup->context, of[order[i]].chosen, of[order[k]].chosen, &host->shares))
                continue;
            join(rollup, joining, order[i], order[k]);
            of[order[k]].has_others = true;
        }
}

/* A remainder, or what may be chance, joins what it goes with in the nearest free node around it. */
static void join_remainders(struct rollup *rollup, const struct order *order, struct joining *joining)
{
    for (uint32_t i = 0; i < rollup->causes.n; i++) {
        uint32_t host = ROLLUP_NONE, node = rollup->nodes.at[rollup->causes.at[i].chosen].parent;
        bool is_remainder =
            rollup->causes.at[i].blame_ns < joining->least_ns || is_chance(rollup, &joining->outlines[i]);
        if (joining->host[i] != ROLLUP_NONE || !is_remainder)
            continue;
        for (; host == ROLLUP_NONE && node != ROLLUP_NONE && rollup->nodes.at[node].is_free;
             node = rollup->nodes.at[node].parent)
            host = find_alike(rollup, order, joining, order->at[node], i);
        if (host == ROLLUP_NONE)
            continue;
        joining->may_be_even[i] = may_be_even(rollup, &joining->outlines[i], &joining->outlines[host]);
        join(rollup, joining, i, host);
    }
}

/* The largest first, so that those that are like each other all know the same one. */
static void find_like(struct rollup *rollup, const struct joining *joining, struct arena *arena)
{
    double *blame_ns = arena_array(arena, double, rollup->causes.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < rollup->causes.n; i++) {
        bool is_large = joining->host[i] == ROLLUP_NONE && rollup->causes.at[i].blame_ns >= joining->least_ns &&
                        is_known_late(rollup, &joining->outlines[i]);
        blame_ns[i] = is_large ? rollup->causes.at[i].blame_ns : 0;
        rollup->causes.at[i].like = ROLLUP_NONE;
        n += is_large;
    }
    const uint32_t *order = order_falling(arena, blame_ns, (uint32_t)rollup->causes.n);
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < i && rollup->causes.at[order[i]].like == ROLLUP_NONE; k++)
            if (rollup->causes.at[order[k]].like == ROLLUP_NONE &&
                are_alike(rollup, &joining->outlines[order[i]], &joining->outlines[order[k]]))
                rollup->causes.at[order[i]].like = order[k];
}

/* Those that are left, numbered anew. A remainder may have joined what joined another before. */
static void renumber(struct rollup *rollup, const struct joining *joining, struct arena *arena)
{
    uint32_t n = (uint32_t)rollup->causes.n, n_left = 0;
    uint32_t *number = arena_array(arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (joining->host[i] == ROLLUP_NONE) {
            number[i] = n_left;
            rollup->causes.at[n_left++] = rollup->causes.at[i];
        }
    for (uint32_t i = 0; i < n_left; i++) {
        uint32_t *like = &rollup->causes.at[i].like;
        *like = *like == ROLLUP_NONE ? *like : number[*like];
    }
    for (size_t i = 0; i < rollup->cause_of.n; i++) {
        uint32_t own = rollup->cause_of.at[i], cause = host_of(joining, own);
        rollup->may_be_even.at[i] = own != ROLLUP_NONE && joining->may_be_even[own];
        rollup->cause_of.at[i] = cause == ROLLUP_NONE ? cause : number[cause];
    }
    rollup->causes.n = n_left;
}

void rollup_find(struct rollup *rollup)
{
    struct arena scratch = {0};
    for (size_t i = 0; i < rollup->nodes.n; i++) {
        sparse_pack(&rollup->nodes.at[i].blame);
        sparse_pack(&rollup->nodes.at[i].times);
    }
    struct order order = order_make(rollup, &scratch);
    vec_resize(&rollup->cause_of, rollup->nodes.n);
    vec_resize(&rollup->may_be_even, rollup->nodes.n);
    for (size_t i = 0; i < rollup->cause_of.n; i++)
        rollup->cause_of.at[i] = ROLLUP_NONE;
    vec_resize(&rollup->order, rollup->nodes.n);
    vec_resize(&rollup->position, rollup->nodes.n);
    vec_resize(&rollup->end, rollup->nodes.n);
    for (size_t i = 0; i < rollup->order.n; i++) {
        rollup->order.at[i] = order.node[i];
        rollup->position.at[i] = order.at[i];
        rollup->end.at[i] = order.end[order.at[i]];
    }
    choose(rollup, &order);
    struct joining joining = joining_make(rollup, &scratch);
    join_ways(rollup, &joining, &scratch);
    join_entries_of_others(rollup, &order, &joining);
    join_of_one_reason(rollup, &joining, &scratch);
    join_remainders(rollup, &order, &joining);
    find_like(rollup, &joining, &scratch);
    for (uint32_t i = 0; i < rollup->causes.n; i++)
        outline_release(&joining.outlines[i]);
    renumber(rollup, &joining, &scratch);
    arena_release(&scratch);
}

void rollup_release(struct rollup *rollup)
{
    for (size_t i = 0; i < rollup->nodes.n; i++) {
        sparse_release(&rollup->nodes.at[i].blame);
        sparse_release(&rollup->nodes.at[i].times);
    }
    vec_release(&rollup->nodes);
    vec_release(&rollup->causes);
    vec_release(&rollup->order);
    vec_release(&rollup->position);
    vec_release(&rollup->end);
    vec_release(&rollup->cause_of);
    vec_release(&rollup->may_be_even);
}
