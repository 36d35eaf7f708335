/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/causes_write.h"
#include "analyze/blame/cause_gain.h"
#include "analyze/blame/cause_parts.h"
#include "analyze/constants/constants.h"
#include "analyze/blame/late.h"
#include "analyze/blame/partitions.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int cause_site_compare(const void *a, const void *b)
{
    const struct cause_site *left = a, *right = b;
    return order_of(right->waiting_ns, left->waiting_ns) ?: order_of(left->site, right->site);
}

static int cause_compare(const void *a, const void *b)
{
    const struct cause *left = a, *right = b;
    return order_of(right->waiting_ns, left->waiting_ns) ?: order_of(left->step, right->step);
}

static int machine_place_compare(const void *a, const void *b)
{
    const struct machine_place *left = a, *right = b;
    return order_of(right->waiting_ns, left->waiting_ns) ?: order_of(left->step, right->step);
}

/* Late ranks of which it is told when they were late. */
enum { WHEN_RANKS_OF_CAUSE = 8 };

/* Time of what is below a node, by rank. */
static void add_times_below(const struct rollup *rollup, uint32_t node, struct sparse *out)
{
    for (uint32_t at = rollup->position.at[node]; at < rollup->end.at[node]; at++)
        sparse_add_all(out, &rollup->nodes.at[rollup->order.at[at]].times, 1);
}

/* The code that names a cause may be entered on other ways too, which are no part of it: then its executions are not
 * the cause's. */
static bool has_all_executions(const struct writer *writer)
{
    const struct rollup *rollup = &writer->causes->rollup;
    struct sparse mine = {0}, all = {0};
    uint32_t code = rollup->nodes.at[rollup->causes.at[writer->number].node].code;
    for (uint32_t node = 0; node < rollup->nodes.n; node++) {
        if (rollup->nodes.at[node].code != code)
            continue;
        add_times_below(rollup, node, &all);
        if (rollup->cause_of.at[node] == writer->number && writer->causes->is_inside.at[node])
            add_times_below(rollup, node, &mine);
    }
    sparse_pack(&mine);
    bool has_all = sparse_sum(&mine) >= NEARLY_ALL_SHARE * sparse_sum(&all);
    sparse_release(&mine);
    sparse_release(&all);
    return has_all;
}

/* The work (`of_all`: by rank and place) of the code that names a cause, and below it. Of code that others have a part
 * of, as much as of its time. */
static double cause_work(const struct causes *causes, const struct cause_sums *sums, const struct sparse *of_all,
                         uint32_t rank)
{
    double work = 0;
    const struct sparse *by_code = &sums->by_code;
    for (size_t i = sparse_find(by_code, atom_key(rank, 0)); i < by_code->n && key_rank(by_code->at[i].key) == rank;
         i++) {
        double all_ns = sparse_get(&causes->busy_code, by_code->at[i].key);
        if (all_ns > 0)
            work += sparse_get(of_all, by_code->at[i].key) * (by_code->at[i].ns / all_ns);
    }
    return work;
}

/* The relative error of what the code that names a cause, and below it, takes: that of the places in which a rank is,
 * as far as it is known. */
static double cause_cost_error(const struct causes *causes, const struct cause_sums *sums, uint32_t rank)
{
    double known_ns = 0, variance_ns2 = 0;
    const struct sparse *by_code = &sums->by_code;
    for (size_t i = sparse_find(by_code, atom_key(rank, 0)); i < by_code->n && key_rank(by_code->at[i].key) == rank;
         i++) {
        double error = causes_cost_error(causes, rank, key_atom(by_code->at[i].key));
        known_ns += error > 0 ? by_code->at[i].ns : 0;
        variance_ns2 += pow(error * by_code->at[i].ns, 2);
    }
    return known_ns > 0 ? sqrt(variance_ns2) / known_ns : 0;
}

/* Standard error of a rank's time. Of code that is counted, samples tell what it takes in the kernel. */
static double cause_time_error(const struct causes *causes, const struct cause_sums *sums, uint32_t rank,
                               bool is_counted)
{
    double sample_ns = survey_rank_sample_ns(causes->input->survey, rank);
    return sqrt(is_counted ? sparse_get(&sums->in_kernel, rank) * sample_ns : sparse_get(&sums->noise, rank));
}

static struct cause_rank cause_rank_of(const struct writer *writer, const struct cause *cause, uint32_t rank)
{
    const struct causes *causes = writer->causes;
    const struct cause_sums *sums = writer->sums;
    const struct step_key *key = steps_key(causes->steps, cause->step);
    bool is_place = key->what == WHAT_PLACE;
    const struct sparse *ran = &causes->input->measures->ran;
    double executions = writer->has_executions ? sparse_get(ran, atom_key(rank, key->id)) : 0;
    bool calls_back = executions > 0 && writer->called_back != CODE_NONE;
    return (struct cause_rank){.rank = rank,
                               .blame_ns = sparse_get(&sums->waiting.ranks, rank),
                               .time_ns = sparse_get(&sums->inside, rank),
                               .computing_ns = sparse_get(&sums->busy, rank),
                               .entered_ns = sparse_get(&sums->entered, rank),
                               .error_ns = cause_time_error(causes, sums, rank, executions > 0),
                               .unseen_ns = executions > 0 ? 0 : sparse_get(&sums->unseen, rank),
                               .borrowed_ns = executions > 0 ? 0 : sparse_get(&sums->borrowed, rank),
                               .executions = (uint64_t)executions,
                               .called_back =
                                   calls_back ? (uint64_t)sparse_get(ran, atom_key(rank, writer->called_back)) : 0,
                               .instructions = cause_work(causes, sums, &causes->input->measures->work_done, rank),
                               .cost_error = is_place ? cause_cost_error(causes, sums, rank) : 0};
}

/* Ranks that wait at the cause's sites and are not to blame themselves. */
static void cause_add_others(struct writer *writer, struct cause *cause)
{
    struct analysis *analysis = writer->causes->input->analysis;
    cause->others = arena_array(&analysis->arena, struct cause_rank, analysis->trace->n_ranks + 1);
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
        double waiting_ns = 0;
        for (uint32_t i = 0; i < cause->n_sites; i++)
            waiting_ns += analysis->sites[cause->sites[i].site].rank_waiting_ns[rank];
        if (waiting_ns > 0 && sparse_get(&writer->sums->waiting.ranks, rank) <= 0)
            cause->others[cause->n_others++] = cause_rank_of(writer, cause, rank);
    }
}

static int term_by_falling_ns(const void *a, const void *b)
{
    const struct term *left = a, *right = b;
    return order_of(right->ns, left->ns) ?: order_of(left->key, right->key);
}

/* By falling waiting_ns; returns how many. Of a site's classes the fewest that have nearly all of it. */
static uint32_t waiting_sites(struct analysis *analysis, struct waiting *waiting, struct cause_site **sites)
{
    struct arena scratch = {0};
    sparse_pack(&waiting->classes);
    size_t n = waiting->classes.n;
    uint32_t n_sites = 0, *numbers = arena_array(&analysis->arena, uint32_t, n + 1);
    struct term *terms = arena_array(&scratch, struct term, n + 1);
    for (size_t i = 0; i < n; i++) {
        n_sites += !i || key_high(waiting->classes.at[i].key) != key_high(waiting->classes.at[i - 1].key);
        terms[i] = waiting->classes.at[i];
    }
    *sites = arena_array(&analysis->arena, struct cause_site, n_sites + 1);
    n_sites = 0;
    for (size_t i = 0, end; i < n; i = end) {
        struct cause_site *out = &(*sites)[n_sites++];
        *out = (struct cause_site){.site = key_high(terms[i].key), .classes = &numbers[i]};
        for (end = i; end < n && key_high(terms[end].key) == out->site; end++)
            out->waiting_ns += terms[end].ns;
        qsort(&terms[i], end - i, sizeof *terms, term_by_falling_ns);
        double so_far_ns = 0;
        for (size_t k = i; k < end && (k == i || so_far_ns < NEARLY_ALL_SHARE * out->waiting_ns); k++) {
            const struct wait_class *class = &analysis->sites[out->site].classes[key_low(terms[k].key)];
            so_far_ns += terms[k].ns;
            out->n_calls += class->n_instances;
            out->classes[out->n_classes++] = class->number;
        }
        if (out->n_calls > analysis->sites[out->site].n_calls)
            out->n_calls = analysis->sites[out->site].n_calls;
        qsort(out->classes, out->n_classes, sizeof *out->classes, key_order_u32);
    }
    qsort(*sites, n_sites, sizeof **sites, cause_site_compare);
    arena_release(&scratch);
    return n_sites;
}

/* One rank may be late where it meets the others in one call, and another one in another call. */
static void cause_add_late_of_sites(struct writer *writer, struct cause *cause)
{
    struct arena *arena = &writer->causes->input->analysis->arena;
    const struct sparse *by_site = &writer->sums->waiting.by_site;
    for (uint32_t i = 0; i < cause->n_sites; i++) {
        struct cause_site *at = &cause->sites[i];
        size_t begin = sparse_find(by_site, key_pair(at->site, 0)), end = begin;
        while (end < by_site->n && key_high(by_site->at[end].key) == at->site)
            end++;
        struct term *terms = arena_copy(&writer->scratch, by_site->at + begin, (end - begin) * sizeof *terms);
        qsort(terms, end - begin, sizeof *terms, term_by_falling_ns);
        double so_far_ns = 0;
        uint32_t n = 0;
        while (n < end - begin && so_far_ns < MOST_SHARE * at->waiting_ns)
            so_far_ns += terms[n++].ns;
        if (n >= cause->n_late)
            continue;
        at->late = arena_array(arena, uint32_t, n);
        for (; at->n_late < n; at->n_late++)
            at->late[at->n_late] = key_low(terms[at->n_late].key);
    }
}

static bool is_late(const struct cause *cause, uint32_t rank)
{
    for (uint32_t i = 0; i < cause->n_late; i++)
        if (cause->ranks[i].rank == rank)
            return true;
    return false;
}

/* Of a site, those who wait there for the cause, and not much shorter than who waits longest. Late ranks also wait at
 * times, for each other: they are named where only they wait. */
static void cause_add_waiting(struct writer *writer, const struct cause *cause, struct cause_site *at)
{
    const struct sparse *classes = &writer->sums->waiting.classes;
    struct sparse waits = {0};
    double most_ns = 0;
    for (size_t i = sparse_find(classes, key_pair(at->site, 0));
         i < classes->n && key_high(classes->at[i].key) == at->site; i++) {
        const struct path_class *class = causes_class(writer->causes->input, classes->at[i].key);
        sparse_add_all(&waits, &class->waits, class->waiting_ns > 0 ? classes->at[i].ns / class->waiting_ns : 0);
    }
    sparse_pack(&waits);
    for (size_t i = 0; i < waits.n; i++)
        most_ns = fmax(most_ns, waits.at[i].ns);
    at->waiting = arena_array(&writer->causes->input->analysis->arena, uint32_t, waits.n + 1);
    for (int with_late = 0; with_late < 2 && !at->n_waiting; with_late++)
        for (size_t i = 0; i < waits.n; i++)
            if (waits.at[i].ns >= WORTH_NAMING * most_ns && (with_late || !is_late(cause, (uint32_t)waits.at[i].key)))
                at->waiting[at->n_waiting++] = (uint32_t)waits.at[i].key;
    sparse_release(&waits);
}

/* Of one of the ranks that carry the blame: when it was late. */
static void cause_add_when(struct cause *cause, const struct late_rank *late, double share)
{
    uint32_t at = 0, named = 0;
    while (named < cause->n_late && cause->ranks[named].rank != late->rank)
        named++;
    if (named == cause->n_late)
        return;
    while (at < cause->n_when_ranks && cause->when_ranks[at].rank != late->rank)
        at++;
    if (at == WHEN_RANKS_OF_CAUSE)
        return;
    struct when_rank *out = &cause->when_ranks[at];
    cause->n_when_ranks += at == cause->n_when_ranks;
    out->rank = late->rank;
    for (uint32_t part = 0; part < WHEN_PARTS; part++)
        out->ns[part] += (float)(share * when_parts_get(&late->when, part));
}

/* Ranks may wait at one call for the sender of a message now and for the receiver of another one then. */
static bool is_at_first_call(const struct analysis *analysis, const struct cause *cause, uint32_t site)
{
    return analysis->sites[cause->sites[site].site].frame == analysis->sites[cause->sites[0].site].frame;
}

/* Regularly, if most of what is felt at its first call comes with one class; and most of the times: where ranks wait at
 * that call for two reasons by turns, as for a message and then for all to have come, each class has every second.
 * Many short waits that have next to nothing of it do not count: nor are they calls at which it is waited for. */
static void cause_set_every(const struct writer *writer, struct cause *cause)
{
    const struct analysis *analysis = writer->causes->input->analysis;
    const struct sparse *classes = &writer->sums->waiting.classes;
    double n_calls = 0, waiting_ns = 0;
    for (uint32_t i = 0; i < cause->n_sites; i++)
        if (is_at_first_call(analysis, cause, i)) {
            n_calls += (double)cause->sites[i].n_calls;
            waiting_ns += cause->sites[i].waiting_ns;
        }
    for (size_t i = 0; i < classes->n && cause->n_sites; i++) {
        uint32_t site = key_high(classes->at[i].key), class = key_low(classes->at[i].key);
        const struct wait_class *found = &analysis->sites[site].classes[class];
        bool is_most = classes->at[i].ns >= REGULAR_SHARE * cause->sites[0].waiting_ns &&
                       (double)found->n_instances >= REGULAR_SHARE * n_calls;
        if (site != cause->sites[0].site || (!is_most && classes->at[i].ns < MOST_SHARE * waiting_ns))
            continue;
        cause->every = found->when.every;
        if (cause->every > 1)
            cause->sites[0].n_calls = found->n_instances;
    }
}

/* Those in which it has a part that is worth a word. */
static void cause_count_when(const struct writer *writer, struct cause *cause)
{
    const struct causes_input *input = writer->causes->input;
    for (uint32_t i = 0; i < cause->n_sites; i++) {
        const struct cause_site *at = &cause->sites[i];
        const struct site_classes *site = &input->classes->sites.at[input->measures->site_order[at->site]];
        for (uint32_t k = 0; k < at->n_classes && is_at_first_call(input->analysis, cause, i); k++)
            for (uint32_t part = 0; part < WHEN_PARTS; part++)
                cause->when_n[part] += when_parts_get(&site->classes.at[at->classes[k] - 1]->n_parts, part);
    }
}

/* Terms of the class that has most of it. */
static struct sparse terms_of(const struct causes *causes, const struct cause_sums *sums)
{
    const struct sparse *classes = &sums->waiting.classes;
    const struct term *most = NULL;
    for (size_t i = 0; i < classes->n; i++)
        most = most && most->ns >= classes->at[i].ns ? most : &classes->at[i];
    return most ? causes_class(causes->input, most->key)->terms : (struct sparse){0};
}

/* How long they were in the cause's own code, per time of the late side. */
static double meanwhile_of(const struct causes *causes, const struct cause_sums *sums, const struct sparse *terms)
{
    double late_ns = 0, waiting_ns = 0;
    for (size_t i = 0; i < terms->n; i++) {
        uint64_t key = terms->at[i].key;
        const struct step_key *step = steps_key(causes->steps, key_atom(key));
        if (step->what != WHAT_PLACE || step->state != STEP_COMPUTING ||
            !(sparse_get(&sums->by_code, atom_key(key_rank(key), step->id)) > 0))
            continue;
        *(key & KEY_WAITING ? &waiting_ns : &late_ns) += terms->at[i].ns;
    }
    return late_ns > 0 ? waiting_ns / late_ns : 0;
}

/* The code in which they were longer than the late side by most, and by how much per time that the late side was
 * longer in other code. Time without a CPU is in no code. */
static void cause_set_instead(const struct causes *causes, const struct sparse *terms, struct cause *cause)
{
    struct sparse net = {0};
    double longer_ns = 0, less_ns = 0;
    for (size_t i = 0; i < terms->n; i++) {
        uint32_t step = key_atom(terms->at[i].key);
        if (steps_key(causes->steps, step)->state != STEP_DESCHEDULED)
            sparse_add(&net, steps_base(causes->steps, step),
                       terms->at[i].key & KEY_WAITING ? -terms->at[i].ns : terms->at[i].ns);
    }
    sparse_pack(&net);
    for (size_t i = 0; i < net.n; i++) {
        longer_ns += net.at[i].ns > 0 ? net.at[i].ns : 0;
        if (net.at[i].ns < less_ns) {
            less_ns = net.at[i].ns;
            cause->instead = (uint32_t)net.at[i].key;
        }
    }
    cause->instead_share = longer_ns > 0 ? -less_ns / longer_ns : 0;
    sparse_release(&net);
}

/* What those who wait for it did before they waited, as the class tells that has most of it. */
static void cause_set_other_side(const struct causes *causes, const struct cause_sums *sums, struct cause *cause)
{
    struct sparse terms = terms_of(causes, sums);
    cause->meanwhile = meanwhile_of(causes, sums, &terms);
    cause_set_instead(causes, &terms, cause);
}

/* The instances of its classes that overlap the longest in time, if they have nearly all of it, no rank waits again and
 * again in them, and what they wait for was done in one go: by the late side alone. Where the others do their part of
 * it meanwhile, it adds up from when all last met, and is waited for at the end. */
static void cause_set_stall(const struct writer *writer, struct cause *cause)
{
    const struct causes_input *input = writer->causes->input;
    const struct sparse *classes = &writer->sums->waiting.classes;
    const struct trace *trace = input->analysis->trace;
    struct together all = {0};
    for (int is_sum = 0; is_sum < 2; is_sum++) {
        double most_ns = 0, sum_ns = 0, in_one_go_ns = 0;
        uint32_t n_waits = 0;
        for (size_t i = 0; i < classes->n; i++) {
            const struct path_class *class = causes_class(input, classes->at[i].key);
            double ns = class->waiting_ns > 0 ? classes->at[i].ns / class->waiting_ns * class->longest.waiting_ns : 0;
            bool overlaps = class->longest.begin_ns < all.end_ns && all.begin_ns < class->longest.end_ns;
            if (!is_sum && ns > most_ns) {
                most_ns = ns;
                all = class->longest;
            } else if (is_sum && overlaps) {
                sum_ns += ns;
                in_one_go_ns += ns * class->longest.in_one_go_ns / class->longest.waiting_ns;
                n_waits += class->longest.n_waits;
            }
        }
        bool is_shared = cause->meanwhile > 1 - MOST_SHARE;
        if (is_sum && in_one_go_ns >= MOST_SHARE * cause->waiting_ns && n_waits < trace->n_ranks && !is_shared) {
            cause->stall_ns = sum_ns / n_waits; /* without what the machine made of it */
            cause->stall_after_ns = all.begin_ns > trace->start_ns ? all.begin_ns - trace->start_ns : 0;
        }
    }
}

/* Of ranks for what these classes have of a cause. */
/* Its parts of the classes: when it acts, and how. Returns what of its waiting counts as leaving CPUs idle. */
static double cause_add_classes(const struct writer *writer, struct cause *cause)
{
    const struct causes_input *input = writer->causes->input;
    const struct cause_sums *sums = writer->sums;
    bool is_place = steps_key(writer->causes->steps, cause->step)->what == WHAT_PLACE;
    double left_idle_ns = 0;
    for (size_t i = 0; i < sums->waiting.classes.n; i++) {
        const struct term *at = &sums->waiting.classes.at[i];
        const struct path_class *class = causes_class(input, at->key);
        double share = class->waiting_ns > 0 ? at->ns / class->waiting_ns : 0;
        /* What the machine did to the instances of a class is not when its code was late. */
        double code_ns = is_place ? when_parts_sum(&class->code_parts) : 0;
        const struct when_parts *when = code_ns > 0 ? &class->code_parts : &class->when_parts;
        double when_share = code_ns > 0 ? at->ns / code_ns : share;
        for (uint32_t part = 0; part < WHEN_PARTS; part++)
            cause->when_ns[part] += when_share * when_parts_get(when, part);
        for (uint32_t k = 0; k < class->n_late; k++)
            cause_add_when(cause, &class->late[k], share);
        cause->inferred_ns += share * class->inferred_ns;
        cause->lead_ns += share * class->lead_ns / cause->waiting_ns;
        left_idle_ns += share * class->left_idle_ns;
    }
    return left_idle_ns;
}

static void sums_pack(struct cause_sums *sums)
{
    sparse_pack(&sums->waiting.ranks);
    sparse_pack(&sums->waiting.by_site);
    sparse_pack(&sums->times);
    sparse_pack(&sums->lacks);
    sparse_pack(&sums->lacking);
    sparse_pack(&sums->held_up);
    sparse_pack(&sums->serial);
    sparse_pack(&sums->inside);
    sparse_pack(&sums->entered);
    sparse_pack(&sums->busy);
    sparse_pack(&sums->in_kernel);
    sparse_pack(&sums->by_code);
}

/* Calls of what is not counted are a part of its instructions that nobody would overlook. How much one weighs, samples
 * tell. */
static bool calls_weigh(const struct writer *writer, const struct cause *cause)
{
    const struct cause_rank *rank = cause->n_ranks && !cause->called_back ? &cause->ranks[0] : NULL;
    return rank &&
           rank->instructions > NOTABLY_LONGER * cause_work(writer->causes, writer->sums,
                                                            &writer->causes->input->measures->work_counted, rank->rank);
}

/* How often others waited for it; in a collective all at once. */
static double times_waited_for(const struct writer *writer)
{
    const struct sparse *classes = &writer->sums->waiting.classes;
    double n = 0;
    for (size_t i = 0; i < classes->n; i++) {
        const struct path_class *class = causes_class(writer->causes->input, classes->at[i].key);
        if (class->waiting_ns > 0)
            n += classes->at[i].ns / class->waiting_ns * (double)class->n_instances;
    }
    return n;
}

static void cause_write(struct writer *writer, struct cause *cause)
{
    struct cause_sums *sums = writer->sums;
    struct analysis *analysis = writer->causes->input->analysis;
    *cause = (struct cause){
        .found_as = writer->number,
        .step = writer->causes->rollup.nodes.at[writer->causes->rollup.causes.at[writer->number].node].code,
        .waiting_ns = sums->waiting.ns,
        .direct_ns = sums->waiting.direct_ns};
    cause->share = analysis->waiting_ns > 0 ? sums->waiting.ns / analysis->waiting_ns : 0;
    sums_pack(sums);
    bool is_place = steps_key(writer->causes->steps, cause->step)->what == WHAT_PLACE;
    writer->has_executions = is_place && has_all_executions(writer);
    cause->is_elsewhere = is_place && !writer->has_executions;
    uint32_t place = is_place ? steps_key(writer->causes->steps, cause->step)->id : CODE_NONE;
    const struct uncounted *uncounted = &writer->causes->uncounted;
    writer->called_back =
        is_place && uncounted_is_library(uncounted, place) ? uncounted_calls_back(uncounted, place) : CODE_NONE;
    cause->is_generated = is_place && uncounted_is_generated(uncounted, place);
    cause->node = writer->causes->rollup.causes.at[writer->number].node;
    parts_write(writer, cause);
    const struct sparse *ranks = &writer->sums->waiting.ranks;
    cause->ranks = arena_array(&writer->causes->input->analysis->arena, struct cause_rank, ranks->n + 1);
    for (size_t i = 0; i < ranks->n; i++)
        cause->ranks[cause->n_ranks++] = cause_rank_of(writer, cause, (uint32_t)ranks->at[i].key);
    late_sort(cause->ranks, cause->n_ranks);
    cause->is_in_library = cause->n_ranks && cause->ranks[0].executions && uncounted_is_library(uncounted, place);
    if (cause->is_in_library && cause->ranks[0].called_back)
        cause->called_back = code_place(analysis->code, writer->called_back)->routine;
    cause->is_estimated = (cause->is_in_library && !cause->called_back) || calls_weigh(writer, cause);
    cause->n_late = late_count(cause->ranks, cause->n_ranks, cause->waiting_ns, times_waited_for(writer));
    cause->kind = KIND_MORE_TIME;
    for (int kind = 0; kind < KIND_N; kind++) {
        cause->kind_ns[kind] = sums->kind_ns[kind];
        if (cause->kind_ns[kind] > cause->kind_ns[cause->kind])
            cause->kind = (enum cause_kind)kind;
    }
    cause->n_sites = waiting_sites(analysis, &sums->waiting, &cause->sites);
    cause_add_late_of_sites(writer, cause);
    cause_add_others(writer, cause);
    late_add_as_long(cause, &analysis->arena);
    late_leave_out_less(cause);
    for (uint32_t i = 0; i < cause->n_sites && cause->sites[i].waiting_ns >= NEGLIGIBLE_SHARE * cause->waiting_ns; i++)
        cause_add_waiting(writer, cause, &cause->sites[i]);
    for (uint32_t i = 0; i < cause->n_late; i++)
        cause->lacking_ns += sparse_get(&sums->lacking, cause->ranks[i].rank);
    cause->is_alone = is_place && late_is_alone(cause);
    cause->when_ranks = arena_array(&analysis->arena, struct when_rank, WHEN_RANKS_OF_CAUSE + 1);
    cause_gain_write(writer, cause, cause_add_classes(writer, cause));
    qsort(cause->when_ranks, cause->n_when_ranks, sizeof *cause->when_ranks, key_order_u32);
    cause_set_other_side(writer->causes, sums, cause);
    cause_set_every(writer, cause);
    cause_set_stall(writer, cause);
    cause_count_when(writer, cause);
    enum step_what what = (enum step_what)steps_key(writer->causes->steps, cause->step)->what;
    cause->is_unrecorded = what == WHAT_OFF;
    cause->is_unexplained = what == WHAT_WAIT || cause->is_unrecorded;
    cause->is_spinning = sites_step_is_spinning(writer->causes->input->sites, cause->step);
}

/* In a class, what its code does not explain is the machine's, when it was. */
static void machine_add_when(struct machine *machine, const struct path_class *class, double ns)
{
    double all_ns = when_parts_sum(&class->when_parts) - when_parts_sum(&class->code_parts);
    for (uint32_t part = 0; part < WHEN_PARTS && all_ns > 0; part++)
        machine->when_ns[part] +=
            ns / all_ns * (when_parts_get(&class->when_parts, part) - when_parts_get(&class->code_parts, part));
}

static void machine_write(struct causes *causes)
{
    struct analysis *analysis = causes->input->analysis;
    struct machine *machine = &analysis->machine;
    struct waiting *waiting = &causes->machine;
    sparse_pack(&waiting->ranks);
    sparse_pack(&causes->machine_steps);
    machine->waiting_ns = waiting->ns;
    machine->share = analysis->waiting_ns > 0 ? waiting->ns / analysis->waiting_ns : 0;
    machine->n_sites = waiting_sites(analysis, waiting, &machine->sites);
    machine->ranks = arena_array(&analysis->arena, struct cause_rank, waiting->ranks.n + 1);
    for (size_t i = 0; i < waiting->ranks.n; i++) {
        uint32_t rank = (uint32_t)waiting->ranks.at[i].key;
        machine->ranks[machine->n_ranks++] = (struct cause_rank){
            .rank = rank, .blame_ns = waiting->ranks.at[i].ns, .time_ns = causes->input->ranks[rank].descheduled_ns};
    }
    late_sort(machine->ranks, machine->n_ranks);
    machine->n_late = late_count(machine->ranks, machine->n_ranks, machine->waiting_ns, INFINITY);
    machine->places = arena_array(&analysis->arena, struct machine_place, causes->machine_steps.n + 1);
    for (size_t i = 0; i < causes->machine_steps.n; i++)
        machine->places[machine->n_places++] = (struct machine_place){.step = (uint32_t)causes->machine_steps.at[i].key,
                                                                      .waiting_ns = causes->machine_steps.at[i].ns};
    for (size_t i = 0; i < waiting->classes.n; i++)
        machine_add_when(machine, causes_class(causes->input, waiting->classes.at[i].key), waiting->classes.at[i].ns);
    qsort(machine->places, machine->n_places, sizeof *machine->places, machine_place_compare);
}

/* By node: the rank that has most in the outermost code around it in which nobody waits. It is chosen there, on the
 * whole: of each part another rank has most by chance, and these would add up to more than any rank takes. */
static uint32_t *slowest_ranks(const struct rollup *rollup, struct arena *scratch)
{
    uint32_t n = (uint32_t)rollup->nodes.n;
    uint32_t *outermost = arena_array(scratch, uint32_t, n + 1), *slowest = arena_array(scratch, uint32_t, n + 1);
    struct sparse *times = arena_array(scratch, struct sparse, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = rollup->nodes.at[i].parent;
        bool is_inside = parent != ROLLUP_NONE && rollup->nodes.at[parent].is_free;
        outermost[i] = is_inside ? outermost[parent] : i;
        sparse_add_all(&times[outermost[i]], &rollup->nodes.at[i].times, 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        double most_ns = 0;
        sparse_pack(&times[i]);
        for (size_t k = 0; k < times[i].n && outermost[i] == i; k++) {
            slowest[i] = times[i].at[k].ns > most_ns ? (uint32_t)times[i].at[k].key : slowest[i];
            most_ns = fmax(most_ns, times[i].at[k].ns);
        }
        slowest[i] = slowest[outermost[i]];
        sparse_release(&times[i]);
    }
    return slowest;
}

static void frames_write(struct causes *causes)
{
    struct analysis *analysis = causes->input->analysis;
    const struct survey *survey = causes->input->survey;
    const struct rollup *rollup = &causes->rollup;
    struct arena scratch = {0};
    bool *is_known = arena_array(&scratch, bool, analysis->trace->n_frames + 1); /* of other ranks */
    analysis->cause_of_frame = arena_array(&analysis->arena, uint32_t, analysis->trace->n_frames + 1);
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        if (!entry->n_samples || entry->frame >= analysis->trace->n_frames || is_known[entry->frame])
            continue;
        uint32_t node = calltree_of_sample(&causes->placing.tree, entry->frame);
        is_known[entry->frame] = true;
        if (node < rollup->cause_of.n && rollup->cause_of.at[node] != ROLLUP_NONE && causes->is_inside.at[node])
            analysis->cause_of_frame[entry->frame] = rollup->cause_of.at[node] + 1;
    }
    arena_release(&scratch);
}

static void node_add_most(struct code_node *node, const struct sparse *times)
{
    for (size_t i = 0; i < times->n; i++)
        if (times->at[i].ns > node->most_ns) {
            node->most_ns = times->at[i].ns;
            node->most_rank = (uint32_t)times->at[i].key;
        }
}

/* After the last of them was added, the vectors are as long as the tree. */
static void nodes_write(struct causes *causes)
{
    struct analysis *analysis = causes->input->analysis;
    const struct calltree *tree = &causes->placing.tree;
    const struct rollup *rollup = &causes->rollup;
    struct arena scratch = {0};
    const uint32_t *slowest = slowest_ranks(rollup, &scratch);
    uint32_t n = (uint32_t)tree->nodes.n;
    vec_resize(&causes->own, n);
    analysis->nodes = arena_array(&analysis->arena, struct code_node, n + 1);
    analysis->n_nodes = n;
    analysis->path_off_cpu_ns = causes->path_off_cpu_ns;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t cause = i < rollup->cause_of.n ? rollup->cause_of.at[i] : (uint32_t)ROLLUP_NONE;
        bool is_named = cause != ROLLUP_NONE && rollup->nodes.at[i].is_free &&
                        rollup->nodes.at[rollup->causes.at[cause].node].code == rollup->nodes.at[i].code;
        analysis->nodes[i] = (struct code_node){
            .parent = tree->nodes.at[i].parent,
            .step = tree->nodes.at[i].step,
            .call_line = calltree_call_line(tree, i),
            .cause = is_named ? cause + 1 : 0,
            .time_ns = i < rollup->nodes.n ? sparse_sum(&rollup->nodes.at[i].times) : 0,
            .longest_ns = i < rollup->nodes.n ? sparse_get(&rollup->nodes.at[i].times, slowest[i]) : 0,
            .on_path_ns = causes->own.at[i].on_path_ns,
            .waits = tree->nodes.at[i].waits};
        memcpy(analysis->nodes[i].kind_ns, causes->own.at[i].kind_ns, sizeof analysis->nodes[i].kind_ns);
        if (i < rollup->nodes.n)
            node_add_most(&analysis->nodes[i], &rollup->nodes.at[i].times);
    }
    arena_release(&scratch);
}

/* The routine that a node lies in, as it was entered there. */
static uint32_t entered_routine(const struct analysis *analysis, uint32_t node)
{
    while (node < analysis->n_nodes && !analysis->nodes[node].call_line)
        node = analysis->nodes[node].parent;
    return node;
}

/* Of the blame of a cause in the code that names it: of all, and of the way on which its node was entered. */
struct entered_blame {
    double all_ns, own_ns;
};

/* A caller is named with "elsewhere" where code came by others as well. */
static void find_other_ways(struct causes *causes)
{
    struct analysis *analysis = causes->input->analysis;
    struct arena scratch = {0};
    struct entered_blame *ways = arena_array(&scratch, struct entered_blame, analysis->n_causes + 1);
    struct cause **by_number = arena_array(&scratch, struct cause *, analysis->n_causes + 1);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        by_number[analysis->causes[i].found_as] = &analysis->causes[i];
    for (uint32_t i = 0; i < analysis->n_nodes && i < causes->rollup.cause_of.n; i++) {
        uint32_t number = causes->rollup.cause_of.at[i];
        const struct cause *cause = number == ROLLUP_NONE ? NULL : by_number[number];
        uint32_t entered = cause ? entered_routine(analysis, cause->node) : TRACE_NONE;
        bool is_named = false, is_own = false;
        for (uint32_t at = cause ? i : TRACE_NONE; at < analysis->n_nodes; at = analysis->nodes[at].parent) {
            is_named |= analysis->nodes[at].step == cause->step;
            is_own |= at == entered;
        }
        for (int kind = 0; kind < KIND_N && is_named; kind++) {
            ways[number].all_ns += analysis->nodes[i].kind_ns[kind];
            ways[number].own_ns += is_own ? analysis->nodes[i].kind_ns[kind] : 0;
        }
    }
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        by_number[i]->has_other_ways = ways[i].own_ns < MOST_SHARE * ways[i].all_ns;
    arena_release(&scratch);
}

static bool is_code(const struct causes *causes, const struct cause *cause)
{
    return steps_key(causes->steps, cause->step)->what == WHAT_PLACE && cause->kind != KIND_BLOCKED;
}

/* Of causes in their order. Likeness is told of code that computes: what ranks sleep for has reasons of its own. */
static void find_like(struct causes *causes, struct arena *scratch)
{
    struct analysis *analysis = causes->input->analysis;
    uint32_t *place = arena_array(scratch, uint32_t, analysis->n_causes + 1);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        place[analysis->causes[i].found_as] = i;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t like = causes->rollup.causes.at[cause->found_as].like;
        if (like != ROLLUP_NONE && is_code(causes, cause) && is_code(causes, &analysis->causes[place[like]]))
            cause->like = place[like] + 1;
    }
}

/* As if the causes were one. */
static void partition_set_gain(struct writer *writer, struct partition *partition)
{
    struct analysis *analysis = writer->causes->input->analysis;
    struct cause_sums *all = arena_array(&writer->scratch, struct cause_sums, 1);
    for (uint32_t i = 0; i < partition->n_causes; i++) {
        const struct cause *cause = &analysis->causes[partition->causes[i]];
        const struct cause_sums *sums = &writer->causes->sums.at[cause->found_as];
        sparse_add_all(&all->waiting.classes, &sums->waiting.classes, 1);
        sparse_add_all(&all->held_up, &sums->held_up, 1);
        sparse_add_all(&all->serial, &sums->serial, 1);
        sparse_add_all(&all->waiting.ranks, &sums->waiting.ranks, 1);
        sparse_add_all(&all->times, &sums->times, 1);
        sparse_add_all(&all->lacks, &sums->lacks, 1);
        all->waiting.ns += sums->waiting.ns;
        all->critical_ns += sums->critical_ns;
        all->critical_off_ns += sums->critical_off_ns;
        partition->whole.lacking_ns += cause->lacking_ns;
    }
    sparse_pack(&all->waiting.classes);
    sparse_pack(&all->waiting.ranks);
    sparse_pack(&all->held_up);
    sparse_pack(&all->serial);
    sparse_pack(&all->times);
    sparse_pack(&all->lacks);
    partition->whole.when_ranks = arena_array(&analysis->arena, struct when_rank, WHEN_RANKS_OF_CAUSE + 1);
    writer->sums = all;
    cause_gain_write(writer, &partition->whole, cause_add_classes(writer, &partition->whole));
    sparse_release(&all->waiting.classes);
    sparse_release(&all->waiting.ranks);
    sparse_release(&all->held_up);
    sparse_release(&all->serial);
    sparse_release(&all->times);
    sparse_release(&all->lacks);
}

/* The step with most of it; TRACE_NONE. */
static uint32_t most_blocked(const struct sparse *blocked)
{
    const struct term *most = NULL;
    for (size_t i = 0; i < blocked->n; i++)
        most = !most || blocked->at[i].ns > most->ns ? &blocked->at[i] : most;
    return most ? (uint32_t)most->key : TRACE_NONE;
}

void causes_write(struct causes *causes)
{
    struct analysis *analysis = causes->input->analysis;
    struct writer writer = {.causes = causes};
    parts_find(&writer);
    sparse_pack(&causes->machine.classes);
    if (causes->input->classes->cpu_use->n_at_once > 0)
        cause_gain_find_lost(causes, &writer.scratch);
    analysis->causes = arena_array(&analysis->arena, struct cause, causes->sums.n + 1);
    for (writer.number = 0; writer.number < causes->sums.n; writer.number++) {
        writer.sums = &causes->sums.at[writer.number];
        cause_write(&writer, &analysis->causes[analysis->n_causes++]);
    }
    qsort(analysis->causes, analysis->n_causes, sizeof *analysis->causes, cause_compare);
    find_like(causes, &writer.scratch);
    machine_write(causes);
    partitions_find(analysis);
    for (uint32_t i = 0; i < analysis->n_partitions; i++)
        partition_set_gain(&writer, &analysis->partitions[i]);
    analysis->most_blocked = most_blocked(&causes->blocked);
    nodes_write(causes);
    find_other_ways(causes);
    frames_write(causes);
    arena_release(&writer.scratch);
}
