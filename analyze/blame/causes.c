/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/causes.h"
#include "analyze/blame/callers.h"
#include "analyze/blame/gains.h"
#include <math.h>
#include <stdlib.h>

/* What is collected of a cause before it is written out. */
struct culprit {
    uint32_t step;
    double kind_ns[KIND_N], direct_ns, waiting_ns;
    double critical_ns;    /* on the critical path */
    struct sparse ranks;   /* blame by rank */
    struct sparse classes; /* blame by (site in result order, class) */
    struct sparse times;   /* time by rank */
    struct sparse busy;    /* likewise, computing only */
    struct sparse ran;     /* executions by rank */
    struct sparse worked;  /* work by rank */
};

/* Of one class and step: whose work, and how long. */
struct comparison {
    struct side late, others;
    double late_variance, others_variance; /* of their times, as far as costs are uncertain */
};

struct causes {
    const struct causes_input *input;
    struct steps *steps;
    struct sparse time;       /* by atom_key(rank, step), over the run */
    struct sparse blame;      /* by step */
    VEC(uint32_t) cause_step; /* by step: the step its cause is named by */
    struct map index;         /* naming step -> culprit */
    VEC(struct culprit) found;
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

/* Time of every rank in every step: atoms of the run, expanded. */
static void causes_add_times(struct causes *causes)
{
    struct pools *pools = causes->input->classes->pools;
    for (uint32_t rank = 0; rank < causes->input->classes->n_ranks; rank++) {
        const struct sparse *atoms = &causes->input->ranks[rank].atoms;
        for (size_t i = 0; i < atoms->n; i++) {
            struct term single;
            struct shares shares = pools_expand(pools, (uint32_t)atoms->at[i].key, &single);
            for (size_t j = 0; j < shares.n; j++)
                sparse_add(&causes->time, atom_key(rank, (uint32_t)shares.at[j].key),
                           atoms->at[i].ns * shares.at[j].ns);
        }
    }
    sparse_pack(&causes->time);
}

static void causes_add_blame(struct causes *causes)
{
    const struct classes *classes = causes->input->classes;
    for (size_t site = 0; site < classes->sites.n; site++)
        for (size_t i = 0; i < classes->sites.at[site].classes.n; i++) {
            const struct sparse *blame = &causes->input->measures->blames[site][i];
            for (size_t j = 0; j < blame->n; j++)
                sparse_add(&causes->blame, key_atom(blame->at[j].key), blame->at[j].ns);
        }
    sparse_pack(&causes->blame);
}

/* The step that names the code of a step, whatever its state, its caller, and for MPI calls the path that led there. */
static uint32_t cause_base(struct causes *causes, uint32_t step)
{
    struct sites *sites = causes->input->sites;
    struct step_key key = *steps_key(causes->steps, steps_base(causes->steps, step));
    if (key.what == WHAT_SITE || key.what == WHAT_WAIT)
        key.id = sites_innermost(sites, key.id);
    if (key.what == WHAT_GAP) {
        const uint32_t *pair = sites_pair_at(sites, key.id);
        uint32_t from = pair[0], to = pair[1];
        key.id = sites_pair(sites, sites_innermost(sites, from), sites_innermost(sites, to));
    }
    return steps_put(causes->steps, (enum step_state)key.state, (enum step_what)key.what, key.id, TRACE_NONE);
}

static struct caller caller_of_step(struct causes *causes, uint32_t step, const struct sparse *step_time)
{
    return (struct caller){.place_step = steps_base(causes->steps, step),
                           .caller = steps_key(causes->steps, step)->caller,
                           .time_ns = sparse_get(step_time, step),
                           .blame_ns = sparse_get(&causes->blame, step)};
}

static void causes_name_steps(struct causes *causes)
{
    VEC(struct caller) callers = {0};
    struct sparse step_time = {0};
    for (size_t i = 0; i < causes->time.n; i++)
        sparse_add(&step_time, key_atom(causes->time.at[i].key), causes->time.at[i].ns);
    sparse_pack(&step_time);
    uint32_t n = steps_n(causes->steps);
    vec_resize(&causes->cause_step, n);
    for (uint32_t step = 0; step < n; step++) {
        causes->cause_step.at[step] = cause_base(causes, step);
        if (steps_key(causes->steps, step)->what == WHAT_PLACE)
            *vec_push(&callers) = caller_of_step(causes, step, &step_time);
    }
    if (callers.n)
        qsort(callers.at, callers.n, sizeof *callers.at, caller_compare);
    struct map chosen = {0}; /* place step -> caller + 1 */
    for (size_t i = 0, end; i < callers.n; i = end) {
        for (end = i; end < callers.n && callers.at[end].place_step == callers.at[i].place_step;)
            end++;
        *map_put(&chosen, callers.at[i].place_step, NULL) = (uint64_t)callers_choose(&callers.at[i], end - i) + 1;
    }
    for (uint32_t step = 0; step < n; step++) {
        uint32_t caller = steps_key(causes->steps, step)->caller;
        const uint64_t *choice = map_get(&chosen, causes->cause_step.at[step]);
        if (choice && caller != TRACE_NONE && *choice == (uint64_t)caller + 1)
            causes->cause_step.at[step] = steps_put(causes->steps, STEP_COMPUTING, WHAT_PLACE, caller, TRACE_NONE);
    }
    map_release(&chosen);
    vec_release(&callers);
    sparse_release(&step_time);
}

static struct culprit *culprit_of_step(struct causes *causes, uint32_t step)
{
    bool is_new;
    uint32_t naming = causes->cause_step.at[step];
    uint64_t *slot = map_put(&causes->index, naming, &is_new);
    if (is_new) {
        *slot = causes->found.n;
        vec_push(&causes->found)->step = naming;
    }
    return &causes->found.at[*slot];
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

/* How often the two sides ran a place, by work if that is known of both. */
static void compare_executions(const struct class_counts *counts, uint32_t place, struct comparison *comparison)
{
    double late = 0, others = 0;
    sum_sides(counts->executions, place, &comparison->late.executions, &comparison->others.executions);
    sum_sides(counts->work, place, &late, &others);
    if (comparison->late.executions > 0 && comparison->others.executions > 0 && late > 0 && others > 0) {
        comparison->late.executions = late;
        comparison->others.executions = others;
    }
}

/* The time that the computing steps of a place took on the two sides. */
static void compare_times(const struct causes *causes, const struct path_class *class, uint32_t place,
                          struct comparison *comparison)
{
    for (size_t i = 0; i < class->terms.n; i++) {
        const struct term *term = &class->terms.at[i];
        const struct step_key *key = steps_key(causes->steps, key_atom(term->key));
        if (key->state != STEP_COMPUTING || key->what != WHAT_PLACE || key->id != place)
            continue;
        bool is_late = !(term->key & KEY_WAITING);
        double error_ns = term->ns * costs_error(causes->input->costs, key_rank(term->key), place);
        *(is_late ? &comparison->late.ns : &comparison->others.ns) += term->ns;
        *(is_late ? &comparison->late_variance : &comparison->others_variance) += error_ns * error_ns;
    }
}

static double share_of_work(const struct causes *causes, const struct path_class *class,
                            const struct class_counts *counts, uint32_t place)
{
    struct comparison at = {0};
    compare_executions(counts, place, &at);
    compare_times(causes, class, place, &at);
    double late_error = at.late.executions > 0 ? sqrt(at.late_variance) / at.late.executions : 0,
           others_error = at.others.executions > 0 ? sqrt(at.others_variance) / at.others.executions : 0;
    return executions_share_of_work(at.late, at.others, hypot(late_error, others_error));
}

/* Blame by kind. Computing is more work or slower as far as executions tell. */
static void culprit_add_kind(const struct causes *causes, struct culprit *culprit, const struct path_class *class,
                             const struct class_counts *counts, uint32_t step, double ns)
{
    const struct step_key *key = steps_key(causes->steps, step);
    double share = -1;
    if (key->state == STEP_COMPUTING && key->what == WHAT_PLACE && counts->executions->n)
        share = share_of_work(causes, class, counts, key->id);
    if (share < 0) {
        culprit->kind_ns[step_kind(key)] += ns;
        return;
    }
    culprit->kind_ns[KIND_MORE_WORK] += share * ns;
    culprit->kind_ns[KIND_SLOWER] += (1 - share) * ns;
}

static void causes_collect_class(struct causes *causes, uint32_t site, uint32_t at, uint32_t class)
{
    const struct sparse *blame = &causes->input->measures->blames[at][class];
    struct class_counts counts = {&causes->input->measures->counted[at][class],
                                  &causes->input->measures->worked[at][class]};
    const struct path_class *from = &causes->input->classes->sites.at[at].classes.at[class];
    for (size_t i = 0; i < blame->n; i++) {
        uint64_t key = blame->at[i].key;
        double ns = blame->at[i].ns;
        uint32_t step = key_atom(key);
        struct culprit *culprit = culprit_of_step(causes, step);
        culprit_add_kind(causes, culprit, from, &counts, step, ns);
        culprit->waiting_ns += ns;
        culprit->direct_ns += key & KEY_LONG_TERM ? 0 : ns;
        sparse_add(&culprit->ranks, key_rank(key), ns);
        sparse_add(&culprit->classes, (uint64_t)site << 32 | class, ns);
    }
}

static void causes_collect(struct causes *causes)
{
    const struct classes *classes = causes->input->classes;
    for (uint32_t site = 0; site < causes->input->analysis->n_sites; site++) {
        uint32_t at = causes->input->measures->site_order[site];
        for (uint32_t i = 0; i < classes->sites.at[at].classes.n; i++)
            causes_collect_class(causes, site, at, i);
    }
    for (size_t i = 0; i < causes->time.n; i++) {
        uint32_t step = key_atom(causes->time.at[i].key);
        if (step >= causes->cause_step.n)
            continue;
        const uint64_t *slot = map_get(&causes->index, causes->cause_step.at[step]);
        if (!slot)
            continue;
        struct culprit *culprit = &causes->found.at[*slot];
        sparse_add(&culprit->times, key_rank(causes->time.at[i].key), causes->time.at[i].ns);
        if (steps_key(causes->steps, step)->state == STEP_COMPUTING)
            sparse_add(&culprit->busy, key_rank(causes->time.at[i].key), causes->time.at[i].ns);
    }
}

static void culprits_add_critical(struct causes *causes)
{
    const struct sparse *critical = causes->input->critical;
    for (size_t i = 0; i < critical->n; i++) {
        struct term single;
        struct shares shares = pools_expand(causes->input->classes->pools, key_atom(critical->at[i].key), &single);
        for (size_t j = 0; j < shares.n; j++) {
            uint32_t step = (uint32_t)shares.at[j].key;
            const uint64_t *slot =
                step < causes->cause_step.n ? map_get(&causes->index, causes->cause_step.at[step]) : NULL;
            if (slot)
                causes->found.at[*slot].critical_ns += critical->at[i].ns * shares.at[j].ns;
        }
    }
}

static void sum_ranks(const struct sparse *from, uint32_t place, struct sparse *out)
{
    for (size_t i = 0; i < from->n; i++)
        if ((uint32_t)from->at[i].key == place)
            sparse_add(out, key_rank(from->at[i].key), from->at[i].ns);
    sparse_pack(out);
}

/* Executions and work of the place that names a cause. */
static void causes_collect_executions(struct causes *causes)
{
    for (size_t i = 0; i < causes->found.n; i++) {
        struct culprit *culprit = &causes->found.at[i];
        const struct step_key *key = steps_key(causes->steps, culprit->step);
        if (key->what != WHAT_PLACE)
            continue;
        sum_ranks(&causes->input->measures->ran, key->id, &culprit->ran);
        sum_ranks(&causes->input->measures->work_done, key->id, &culprit->worked);
    }
}

static int cause_rank_compare(const void *a, const void *b)
{
    const struct cause_rank *left = a, *right = b;
    if (left->blame_ns != right->blame_ns)
        return left->blame_ns > right->blame_ns ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static int cause_site_compare(const void *a, const void *b)
{
    const struct cause_site *left = a, *right = b;
    if (left->waiting_ns != right->waiting_ns)
        return left->waiting_ns > right->waiting_ns ? -1 : 1;
    return (left->site > right->site) - (left->site < right->site);
}

static int cause_compare(const void *a, const void *b)
{
    const struct cause *left = a, *right = b;
    if (left->waiting_ns != right->waiting_ns)
        return left->waiting_ns > right->waiting_ns ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

/* What a rank did in the cause's place. */
static struct cause_rank cause_rank_of(const struct causes *causes, const struct culprit *culprit, uint32_t rank)
{
    const struct step_key *key = steps_key(causes->steps, culprit->step);
    return (struct cause_rank){.rank = rank,
                               .blame_ns = sparse_get(&culprit->ranks, rank),
                               .time_ns = sparse_get(&culprit->times, rank),
                               .computing_ns = sparse_get(&culprit->busy, rank),
                               .executions = (uint64_t)sparse_get(&culprit->ran, rank),
                               .instructions = sparse_get(&culprit->worked, rank),
                               .cost_error =
                                   key->what == WHAT_PLACE ? costs_error(causes->input->costs, rank, key->id) : 0};
}

static void cause_add_ranks(const struct causes *causes, struct culprit *culprit, struct cause *cause)
{
    sparse_pack(&culprit->ranks);
    sparse_pack(&culprit->times);
    sparse_pack(&culprit->busy);
    cause->ranks = arena_array(&causes->input->analysis->arena, struct cause_rank, culprit->ranks.n + 1);
    for (size_t i = 0; i < culprit->ranks.n; i++)
        cause->ranks[cause->n_ranks++] = cause_rank_of(causes, culprit, (uint32_t)culprit->ranks.at[i].key);
    qsort(cause->ranks, cause->n_ranks, sizeof *cause->ranks, cause_rank_compare);
}

/* Ranks that wait at the cause's sites and are not to blame themselves. */
static void cause_add_others(const struct causes *causes, struct culprit *culprit, struct cause *cause)
{
    struct analysis *analysis = causes->input->analysis;
    cause->others = arena_array(&analysis->arena, struct cause_rank, analysis->trace->n_ranks + 1);
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
        double waiting_ns = 0;
        for (uint32_t i = 0; i < cause->n_sites; i++)
            waiting_ns += analysis->sites[cause->sites[i].site].rank_waiting_ns[rank];
        if (waiting_ns > 0 && sparse_get(&culprit->ranks, rank) <= 0)
            cause->others[cause->n_others++] = cause_rank_of(causes, culprit, rank);
    }
}

static void cause_add_sites(struct analysis *analysis, struct culprit *culprit, struct cause *cause)
{
    sparse_pack(&culprit->classes);
    size_t n = culprit->classes.n;
    cause->sites = arena_array(&analysis->arena, struct cause_site, n + 1);
    uint32_t *numbers = arena_array(&analysis->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t site = (uint32_t)(culprit->classes.at[i].key >> 32), class = (uint32_t)culprit->classes.at[i].key;
        struct cause_site *out = cause->n_sites ? &cause->sites[cause->n_sites - 1] : NULL;
        if (!out || out->site != site) {
            out = &cause->sites[cause->n_sites++];
            *out = (struct cause_site){.site = site, .classes = &numbers[i]};
        }
        out->waiting_ns += culprit->classes.at[i].ns;
        out->n_instances += analysis->sites[site].classes[class].n_instances;
        numbers[i] = analysis->sites[site].classes[class].number;
        out->n_classes++;
    }
    qsort(cause->sites, cause->n_sites, sizeof *cause->sites, cause_site_compare);
}

/* How long ranks are off the CPU for every second they compute, without the one that is most to blame. */
static double usual_preemption(const struct causes *causes, uint32_t late_rank)
{
    double preempted_ns = 0, compute_ns = 0;
    for (uint32_t rank = 0; rank < causes->input->analysis->trace->n_ranks; rank++) {
        const struct rank_time *time = &causes->input->ranks[rank];
        preempted_ns += rank == late_rank ? 0 : time->preempted_ns;
        compute_ns += rank == late_rank ? 0 : time->compute_ns;
    }
    return compute_ns > 0 ? preempted_ns / compute_ns : 0;
}

/* On a busy machine everybody is preempted, and who computes longer is preempted longer: as much as is usual comes with
 * the longer computing, only what goes beyond it is a cause of its own. */
static void cause_add_usual(const struct causes *causes, struct cause *cause)
{
    static const enum cause_kind computing[] = {KIND_MORE_WORK, KIND_SLOWER, KIND_MORE_TIME};
    double computing_ns = 0, usual = cause->n_ranks ? usual_preemption(causes, cause->ranks[0].rank) : 0;
    for (size_t i = 0; i < sizeof computing / sizeof *computing; i++)
        computing_ns += cause->kind_ns[computing[i]];
    if (!(computing_ns > 0))
        return;
    usual = fmin(usual, cause->kind_ns[KIND_DESCHEDULED] / computing_ns);
    cause->kind_ns[KIND_DESCHEDULED] -= usual * computing_ns;
    for (size_t i = 0; i < sizeof computing / sizeof *computing; i++)
        cause->kind_ns[computing[i]] *= 1 + usual;
}

static void cause_set_kinds(const struct causes *causes, const struct culprit *culprit, struct cause *cause)
{
    for (int kind = 0; kind < KIND_N; kind++)
        cause->kind_ns[kind] = culprit->kind_ns[kind];
    cause_add_usual(causes, cause);
    cause->kind = KIND_MORE_TIME;
    for (int kind = 0; kind < KIND_N; kind++)
        if (cause->kind_ns[kind] > cause->kind_ns[cause->kind])
            cause->kind = (enum cause_kind)kind;
}

/* The fewest that carry half of the blame, and whoever carries at least half as much as the last of them. */
static void cause_count_late(struct cause *cause)
{
    double carried_ns = 0, least_ns = 0;
    for (cause->n_late = 0; cause->n_late < cause->n_ranks; cause->n_late++) {
        double blame_ns = cause->ranks[cause->n_late].blame_ns;
        if (blame_ns < least_ns)
            break;
        carried_ns += blame_ns;
        if (least_ns == 0 && 2 * carried_ns >= cause->waiting_ns)
            least_ns = blame_ns / 2;
    }
}

/* After its classes and times are packed. */
static void cause_set_gain(const struct causes *causes, const struct culprit *culprit, struct cause *cause)
{
    const struct causes_input *input = causes->input;
    struct arena scratch = {0};
    uint32_t n_ranks = input->analysis->trace->n_ranks;
    double *waits_ns = arena_array(&scratch, double, n_ranks + 1);
    bool *takes_part = arena_array(&scratch, bool, n_ranks + 1);
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        takes_part[cause->ranks[i].rank] = true;
    for (uint32_t i = 0; i < cause->n_others; i++)
        takes_part[cause->others[i].rank] = true;
    for (size_t i = 0; i < culprit->classes.n; i++) {
        const struct term *at = &culprit->classes.at[i];
        uint32_t site = input->measures->site_order[at->key >> 32];
        const struct path_class *class = &input->classes->sites.at[site].classes.at[(uint32_t)at->key];
        gain_add_class(waits_ns, class, at->ns);
        cause->inferred_ns += class->waiting_ns > 0 ? at->ns * (class->inferred_ns / class->waiting_ns) : 0;
    }
    struct gain gain = gain_of(&(struct gain_input){.efficiency = &input->analysis->efficiency,
                                                    .ranks = input->ranks,
                                                    .n_ranks = n_ranks,
                                                    .waits_ns = waits_ns,
                                                    .takes_part = takes_part,
                                                    .times = &culprit->times,
                                                    .waiting_ns = culprit->waiting_ns,
                                                    .critical_ns = culprit->critical_ns});
    cause->if_balanced_ns = gain.if_balanced_ns;
    cause->if_gone_ns = gain.if_gone_ns;
    cause->among_ns = gain.among_ns;
    cause->last_rank = gain.last_rank;
    arena_release(&scratch);
}

static void cause_write(struct causes *causes, struct culprit *culprit, struct cause *cause)
{
    struct analysis *analysis = causes->input->analysis;
    *cause = (struct cause){.step = culprit->step, .waiting_ns = culprit->waiting_ns, .direct_ns = culprit->direct_ns};
    cause->share = analysis->waiting_ns > 0 ? culprit->waiting_ns / analysis->waiting_ns : 0;
    cause_add_ranks(causes, culprit, cause);
    cause_count_late(cause);
    cause_set_kinds(causes, culprit, cause);
    cause_add_sites(analysis, culprit, cause);
    cause_add_others(causes, culprit, cause);
    cause_set_gain(causes, culprit, cause);
    cause->is_spinning = sites_step_is_spinning(causes->input->sites, cause->step);
}

static void causes_release(struct causes *causes)
{
    for (size_t i = 0; i < causes->found.n; i++) {
        sparse_release(&causes->found.at[i].ranks);
        sparse_release(&causes->found.at[i].classes);
        sparse_release(&causes->found.at[i].times);
        sparse_release(&causes->found.at[i].busy);
        sparse_release(&causes->found.at[i].ran);
        sparse_release(&causes->found.at[i].worked);
    }
    vec_release(&causes->found);
    vec_release(&causes->cause_step);
    map_release(&causes->index);
    sparse_release(&causes->time);
    sparse_release(&causes->blame);
}

void causes_find(const struct causes_input *input)
{
    struct causes causes = {.input = input, .steps = input->sites->steps};
    struct analysis *analysis = input->analysis;
    causes_add_times(&causes);
    causes_add_blame(&causes);
    causes_name_steps(&causes);
    causes_collect(&causes);
    culprits_add_critical(&causes);
    causes_collect_executions(&causes);
    analysis->causes = arena_array(&analysis->arena, struct cause, causes.found.n + 1);
    for (size_t i = 0; i < causes.found.n; i++)
        cause_write(&causes, &causes.found.at[i], &analysis->causes[i]);
    analysis->n_causes = (uint32_t)causes.found.n;
    qsort(analysis->causes, analysis->n_causes, sizeof *analysis->causes, cause_compare);
    causes_release(&causes);
}
