/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/efficiency.h"
#include "analyze/constants/constants.h"
#include "analyze/result/names.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the critical path: outside MPI, and inside it without a CPU. */
struct critical {
    double outside_ns, absent_ns;
};

static struct critical critical_of(const struct pools *pools, const struct sparse *terms)
{
    struct critical critical = {0};
    for (size_t i = 0; i < terms->n; i++) {
        struct term single;
        struct shares shares = atom_expand(pools, (uint32_t)terms->at[i].key, &single);
        const struct step_key *key = shares.n ? steps_key(pools->sites->steps, (uint32_t)shares.at[0].key) : NULL;
        if (!key || (key->what != WHAT_SITE && key->what != WHAT_WAIT))
            critical.outside_ns += terms->at[i].ns;
        else if (key->state == STEP_DESCHEDULED)
            critical.absent_ns += terms->at[i].ns;
    }
    return critical;
}

void efficiency_critical_path(const struct replay *replay, struct sparse *terms)
{
    /* The chain that ends last is the critical path. Ties: the lowest location. */
    uint32_t last = 0;
    for (uint32_t i = 0; i < replay->trace->n_locations; i++)
        if (replay->lanes[i].now_ns > replay->lanes[last].now_ns)
            last = i;
    const struct past *past = &replay->links->history.pasts[last];
    sparse_add_all(terms, &past->open, 1);
    for (const struct chain_node *node = past->tip; node; node = node->parent)
        sparse_add_all(terms, &node->terms, 1);
    sparse_pack(terms);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/*
 * A thread that sleeps until another one of its process wakes it does nothing, and what the others do is counted: it
 * stands for its process only as far as those that do something do not fill the run. What is left out.
 */
static double idle_beside_ns(const struct rank_time *time)
{
    return fmin(time->asleep_ns, time->beside_ns);
}

static void add_rank(struct efficiency *efficiency, const struct rank_time *time)
{
    double idle_ns = idle_beside_ns(time);
    efficiency->all_ns += efficiency->wall_ns + time->beside_ns - idle_ns;
    efficiency->compute_ns += time->compute_ns;
    efficiency->descheduled_ns += time->descheduled_ns;
    efficiency->blocked_ns += time->blocked_ns - idle_ns;
    efficiency->mpi_ns += time->mpi_ns;
    efficiency->transfer_ns += time->transfer_ns > 0 ? time->transfer_ns : 0;
    efficiency->waiting_ns += time->waiting_ns;
    efficiency->unrecorded_ns += time->unrecorded_ns;
    efficiency->ended_ns += time->ended_ns;
}

void efficiency_write(struct analysis *analysis, const struct replay *replay, const struct pools *pools,
                      const struct sparse *critical)
{
    struct efficiency *efficiency = &analysis->efficiency;
    uint32_t n_ranks = analysis->trace->n_ranks;
    double useful_sum_ns = 0, useful_max_ns = 0;
    efficiency->wall_ns = (double)(analysis->trace->end_ns - analysis->trace->start_ns);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        /* Outside MPI, for one of the threads that are counted, on average. */
        double idle_ns = idle_beside_ns(&replay->ranks[rank]),
               n_threads = 1 + (replay->ranks[rank].beside_ns - idle_ns) / efficiency->wall_ns;
        double rank_useful_ns = efficiency->wall_ns > 0 ? (replay->ranks[rank].outside_ns - idle_ns) / n_threads : 0;
        add_rank(efficiency, &replay->ranks[rank]);
        useful_sum_ns += rank_useful_ns;
        useful_max_ns = fmax(useful_max_ns, rank_useful_ns);
    }
    struct critical path = critical_of(pools, critical);
    double ideal_ns = fmax(path.outside_ns, useful_max_ns), wall_ns = efficiency->wall_ns;
    double present_ns = fmax(wall_ns - path.absent_ns, fmin(ideal_ns, wall_ns));
    efficiency->parallel = ratio(useful_sum_ns / (n_ranks ? n_ranks : 1), efficiency->wall_ns);
    efficiency->load_balance = ratio(useful_sum_ns / (n_ranks ? n_ranks : 1), useful_max_ns);
    efficiency->serialisation = ratio(useful_max_ns, ideal_ns);
    efficiency->transfer = ratio(ideal_ns, present_ns);
    efficiency->processor = ratio(present_ns, wall_ns);
}

static void summaries_write(const struct measure_input *input, struct analysis *analysis)
{
    analysis->ranks = arena_array(&analysis->arena, struct rank_summary, input->n_ranks + 1);
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        const struct rank_time *time = &input->ranks[rank];
        analysis->ranks[rank] = (struct rank_summary){.compute_ns = time->compute_ns,
                                                      .waiting_ns = time->waiting_ns,
                                                      .transfer_ns = time->transfer_ns > 0 ? time->transfer_ns : 0,
                                                      .mpi_ns = time->mpi_ns,
                                                      .descheduled_ns = time->descheduled_ns,
                                                      .blocked_ns = time->blocked_ns - idle_beside_ns(time),
                                                      .unrecorded_ns = time->unrecorded_ns,
                                                      .ended_ns = time->ended_ns};
    }
}

/* Who waited and who is to blame in one class, by group. */
struct shared_out {
    double *waits;
    double *direct, *others; /* blame for what was done by who was waited for directly; the rest */
    double *rows, *columns;  /* scratch */
};

/* Shared out so that nobody waits for itself: a cell is rows[i] * columns[k], none on the diagonal. The factors of one
 * side follow from those of the other, in turns, as long as somebody is on both; how much is blamed on a group is kept
 * to. */
static void add_direct(struct wait_matrix *matrix, const struct shared_out *shared)
{
    enum { TURNS = 16 };
    uint32_t n = matrix->n_groups;
    bool is_last = false;
    memcpy(shared->rows, shared->waits, n * sizeof *shared->rows);
    for (int turn = 1; !is_last; turn++) {
        double rows = 0, columns = 0;
        is_last = true;
        for (uint32_t i = 0; i < n; i++)
            rows += shared->rows[i];
        for (uint32_t i = 0; i < n; i++) {
            double others = rows - shared->rows[i];
            shared->columns[i] = others > 0 ? shared->direct[i] / others : 0;
            columns += shared->columns[i];
            is_last &= turn == TURNS || shared->rows[i] <= 0 || shared->columns[i] <= 0;
        }
        for (uint32_t i = 0; i < n && !is_last; i++) {
            double others = columns - shared->columns[i];
            shared->rows[i] = others > 0 ? shared->waits[i] / others : 0;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        bool has_others = shared->columns[i] > 0;
        matrix->ns[(size_t)i * n + i] += has_others ? 0 : shared->direct[i];
        for (uint32_t k = 0; shared->rows[i] > 0 && k < n; k++)
            matrix->ns[(size_t)i * n + k] += i == k ? 0 : shared->rows[i] * shared->columns[k];
    }
}

/* What may also be waiting for oneself. */
static void add_product(struct wait_matrix *matrix, const struct shared_out *shared, double waiting_ns)
{
    uint32_t n = matrix->n_groups;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; shared->waits[i] > 0 && k < n; k++)
            matrix->ns[(size_t)i * n + k] += shared->waits[i] * shared->others[k] / waiting_ns;
}

static void add_class(struct analysis *analysis, const struct path_class *class, const struct sparse *blame,
                      const struct shared_out *shared)
{
    struct wait_matrix *matrix = &analysis->matrix;
    bool may_be_self = matrix->group_size > 1 || class->self_ns > 0;
    for (uint32_t group = 0; group < matrix->n_groups; group++)
        shared->waits[group] = shared->direct[group] = shared->others[group] = 0;
    for (size_t i = 0; i < blame->n; i++) {
        uint32_t rank = key_rank(blame->at[i].key);
        if (rank >= analysis->trace->n_ranks)
            continue;
        bool is_direct = !(blame->at[i].key & KEY_LONG_TERM) && !may_be_self;
        (is_direct ? shared->direct : shared->others)[rank / matrix->group_size] += blame->at[i].ns;
        analysis->ranks[rank].caused_ns += blame->at[i].ns;
    }
    for (size_t i = 0; i < class->waits.n; i++)
        shared->waits[class->waits.at[i].key / matrix->group_size] += class->waits.at[i].ns;
    if (class->waiting_ns > 0) {
        add_direct(matrix, shared);
        add_product(matrix, shared, class->waiting_ns);
    }
}

static void matrix_write(const struct measure_input *input, const struct measures *measures, struct analysis *analysis)
{
    struct wait_matrix *matrix = &analysis->matrix;
    struct arena scratch = {0};
    matrix->group_size = (input->n_ranks + MATRIX_GROUPS_MAX - 1) / MATRIX_GROUPS_MAX;
    matrix->n_groups = matrix->group_size ? (input->n_ranks + matrix->group_size - 1) / matrix->group_size : 0;
    matrix->ns = arena_array(&analysis->arena, double, (size_t)matrix->n_groups * matrix->n_groups + 1);
    const struct shared_out shared = {.waits = arena_array(&scratch, double, matrix->n_groups + 1),
                                      .direct = arena_array(&scratch, double, matrix->n_groups + 1),
                                      .others = arena_array(&scratch, double, matrix->n_groups + 1),
                                      .rows = arena_array(&scratch, double, matrix->n_groups + 1),
                                      .columns = arena_array(&scratch, double, matrix->n_groups + 1)};
    for (size_t site = 0; site < input->classes->sites.n; site++)
        for (size_t i = 0; i < input->classes->sites.at[site].classes.n; i++)
            add_class(analysis, input->classes->sites.at[site].classes.at[i], &measures->blames[site][i], &shared);
    arena_release(&scratch);
}

/* Durations by (rank; atom) as durations by (rank; step), packed; steps that read the same are one. */
static struct sparse in_steps(struct told *told, const struct pools *pools, const struct sparse *atoms)
{
    struct sparse steps = {0};
    for (size_t i = 0; i < atoms->n; i++) {
        struct term single;
        struct shares shares = atom_expand(pools, key_atom(atoms->at[i].key), &single);
        for (size_t j = 0; j < shares.n; j++)
            sparse_add(&steps, atom_key(key_rank(atoms->at[i].key), told_as(told, (uint32_t)shares.at[j].key)),
                       atoms->at[i].ns * shares.at[j].ns);
    }
    sparse_pack(&steps);
    return steps;
}

static int by_falling_time(const void *a, const void *b)
{
    const struct critical_step *left = a, *right = b;
    return order_of(right->on_path_ns, left->on_path_ns) ?: order_of(left->step, right->step);
}

static void critical_write(const struct measure_input *input, const struct sparse *critical, struct analysis *analysis)
{
    const struct pools *pools = input->classes->pools;
    struct told told;
    told_begin(&told, input->sites);
    struct sparse path = in_steps(&told, pools, critical);
    struct map index = {0}; /* step -> 1 + index */
    VEC(struct critical_step) found = {0};
    for (size_t i = 0; i < path.n; i++) {
        uint32_t step = key_atom(path.at[i].key), rank = key_rank(path.at[i].key);
        uint64_t *at = map_put(&index, step, NULL);
        if (!*at || !found.at) {
            *vec_push(&found) = (struct critical_step){.step = step};
            *at = found.n;
        }
        struct critical_step *on_path = &found.at[*at - 1];
        on_path->on_path_ns += path.at[i].ns;
        on_path->n_ranks++;
        if (path.at[i].ns > on_path->rank_ns) {
            on_path->rank = rank;
            on_path->rank_ns = path.at[i].ns;
        }
    }
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        struct sparse time = in_steps(&told, pools, &input->ranks[rank].atoms);
        for (size_t i = 0; i < time.n; i++) {
            const uint64_t *at = map_get(&index, key_atom(time.at[i].key));
            if (at && found.at)
                found.at[*at - 1].mean_ns += time.at[i].ns / input->n_ranks;
        }
        sparse_release(&time);
    }
    vec_sort(&found, by_falling_time);
    analysis->n_critical = (uint32_t)found.n;
    analysis->critical = arena_copy(&analysis->arena, found.at, found.n * sizeof *found.at);
    vec_release(&found);
    told_release(&told);
    map_release(&index);
    sparse_release(&path);
}

static int by_falling_ns(const void *a, const void *b)
{
    const struct transfer_place *left = a, *right = b;
    return order_of(right->ns, left->ns) ?: order_of(left->step, right->step);
}

static void transfers_write(const struct measure_input *input, const struct measures *measures,
                            struct analysis *analysis)
{
    struct steps *steps = input->sites->steps;
    struct sparse places = {0};
    struct told told;
    told_begin(&told, input->sites);
    for (size_t i = 0; i < measures->times.n; i++) {
        uint32_t step = key_atom(measures->times.at[i].key);
        if (steps_key(steps, step)->state == STEP_TRANSFER)
            sparse_add(&places, told_as(&told, steps_base(steps, step)), measures->times.at[i].ns);
    }
    sparse_pack(&places);
    struct transfers *transfers = &analysis->transfers;
    transfers->places = arena_array(&analysis->arena, struct transfer_place, places.n + 1);
    for (size_t i = 0; i < places.n; i++)
        if (places.at[i].ns > 0)
            transfers->places[transfers->n_places++] =
                (struct transfer_place){.step = (uint32_t)places.at[i].key, .ns = places.at[i].ns};
    qsort(transfers->places, transfers->n_places, sizeof *transfers->places, by_falling_ns);
    told_release(&told);
    sparse_release(&places);
}

static int by_falling_wait(const void *a, const void *b)
{
    const struct outside_place *left = a, *right = b;
    return order_of(right->ns, left->ns) ?: order_of(left->step, right->step);
}

/* The first call of those that start processes; TRACE_NONE. */
static uint32_t spawn_step(struct sites *sites)
{
    const struct trace *trace = sites->trace;
    for (uint32_t site = 0; site < sites->sites.n; site++) {
        uint32_t region = sites_at(sites, site)->region;
        if (region < trace->n_regions && (trace->regions[region].call == WW_ID_Comm_spawn ||
                                          trace->regions[region].call == WW_ID_Comm_spawn_multiple))
            return steps_put(sites->steps, STEP_MPI, WHAT_SITE, site, TRACE_NONE);
    }
    return TRACE_NONE;
}

/* What ranks waited for without any record of it. */
static void outside_write(const struct measure_input *input, const struct measures *measures, struct analysis *analysis)
{
    struct steps *steps = input->sites->steps;
    struct outside *outside = &analysis->outside;
    struct sparse places = {0}, ranks = {0};
    for (size_t i = 0; i < measures->times.n; i++) {
        const struct term *time = &measures->times.at[i];
        if (steps_key(steps, key_atom(time->key))->what != WHAT_WAIT || !(time->ns > 0))
            continue;
        sparse_add(&places, steps_base(steps, key_atom(time->key)), time->ns);
        sparse_add(&ranks, key_rank(time->key), time->ns);
        outside->ns += time->ns;
    }
    sparse_pack(&places);
    sparse_pack(&ranks);
    outside->places = arena_array(&analysis->arena, struct outside_place, places.n + 1);
    for (size_t i = 0; i < places.n; i++) {
        uint32_t waits = (uint32_t)places.at[i].key, site = steps_key(steps, waits)->id;
        uint32_t call = steps_put(steps, STEP_MPI, WHAT_SITE, site, TRACE_NONE);
        outside->places[outside->n_places++] =
            (struct outside_place){.step = call, .wait_step = waits, .ns = places.at[i].ns};
    }
    qsort(outside->places, outside->n_places, sizeof *outside->places, by_falling_wait);
    for (size_t i = 0; i < ranks.n; i++)
        if (ranks.at[i].ns > outside->longest_ns) {
            outside->longest_ns = ranks.at[i].ns;
            outside->rank = (uint32_t)ranks.at[i].key;
        }
    outside->spawn_step = outside->n_places ? spawn_step(input->sites) : TRACE_NONE;
    sparse_release(&places);
    sparse_release(&ranks);
}

void ranks_write(const struct measure_input *input, const struct measures *measures, const struct sparse *critical,
                 struct analysis *analysis)
{
    summaries_write(input, analysis);
    matrix_write(input, measures, analysis);
    critical_write(input, critical, analysis);
    transfers_write(input, measures, analysis);
    outside_write(input, measures, analysis);
}

void gain_add_class(double *waits_ns, const struct path_class *class, double blame_ns)
{
    if (!(class->waiting_ns > 0))
        return;
    double longer_ns = class->longer_ns * (blame_ns / class->waiting_ns);
    double share = fmin(1, longer_ns / class->waiting_ns);
    for (size_t i = 0; i < class->waits.n; i++)
        waits_ns[class->waits.at[i].key] += share * class->waits.at[i].ns;
}

/* The sums of all ranks' waits and of their squares. */
struct waits {
    double ns, ns2;
};

static struct waits waits_of(const struct gain_input *input)
{
    struct waits waits = {0};
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        waits.ns += input->waits_ns[rank];
        waits.ns2 += input->waits_ns[rank] * input->waits_ns[rank];
    }
    return waits;
}

/* What a rank has too much of it. The others that wait count as many as would, each equally long. */
static double surplus_ns(const struct gain_input *input, const struct waits *waits, uint32_t rank)
{
    double own_ns = input->waits_ns[rank], others_ns = waits->ns - own_ns, others_ns2 = waits->ns2 - own_ns * own_ns;
    double blame_ns = sparse_get(input->blames, rank), longer_ns = sparse_get(input->times, rank) - input->usual_ns;
    double n_waiting = others_ns2 > 0 ? others_ns * others_ns / others_ns2 : 1;
    return blame_ns > 0 ? fmax(blame_ns / n_waiting, longer_ns) : 0; /* not longer, where that is not known */
}

/* The run is so much longer than its ranks' computing takes on the CPUs that they can use. */
static double spare_ns(const struct gain_input *input)
{
    double computing_ns = 0, n_at_once = input->n_at_once > 0 ? input->n_at_once : input->n_ranks;
    for (uint32_t rank = 0; rank < input->n_ranks; rank++)
        computing_ns += input->ranks[rank].compute_ns;
    return input->efficiency->wall_ns - computing_ns / n_at_once;
}

struct gain gain_of(const struct gain_input *input)
{
    const struct efficiency *efficiency = input->efficiency;
    struct gain gain = {.last_rank = TRACE_NONE, .if_gone_ns = INFINITY, .among_ns = INFINITY};
    const struct waits waits = waits_of(input);
    double as_others_ns = INFINITY, known_ns = INFINITY;
    double all_lacks_ns = 0, frees_ns = waits.ns + sparse_sum(input->times);
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        double unknown_ns = input->ranks[rank].ended_ns + input->ranks[rank].mpi_ns;
        double lacks_ns = input->lacks_ns ? fmin(input->lacks_ns[rank], frees_ns) : 0;
        all_lacks_ns += lacks_ns;
        double bound_ns = input->waits_ns[rank] + sparse_get(input->times, rank) + unknown_ns + lacks_ns;
        if (bound_ns < gain.if_gone_ns)
            gain.last_rank = rank;
        gain.if_gone_ns = fmin(gain.if_gone_ns, bound_ns);
        double rank_ns = input->waits_ns[rank] + surplus_ns(input, &waits, rank);
        known_ns = fmin(known_ns, rank_ns);
        as_others_ns = fmin(as_others_ns, rank_ns + unknown_ns + lacks_ns);
        gain.among_ns = input->takes_part[rank] ? fmin(gain.among_ns, bound_ns) : gain.among_ns;
    }
    gain.if_gone_ns =
        fmin(gain.if_gone_ns, input->critical_ns + fmin(input->critical_lacks_ns, fmin(all_lacks_ns, frees_ns)));
    gain.if_gone_off_ns = fmax(0, gain.if_gone_ns - (input->critical_ns - input->critical_off_ns));
    double mean_ns = efficiency->all_ns > 0 ? input->left_idle_ns * (efficiency->wall_ns / efficiency->all_ns) : 0;
    mean_ns = (1 - input->serial_share) * mean_ns + fmin(input->serial_share * mean_ns, input->serial_gain_ns);
    double with_lacking =
        input->lacking_ns > 0 && input->waiting_ns > 0 ? 1 + input->lacking_ns / input->waiting_ns : 1;
    double most_ns = fmin(with_lacking * mean_ns, fmax(mean_ns, spare_ns(input)));
    gain.if_balanced_ns = fmin(most_ns, gain.if_gone_ns);
    gain.if_balanced_least_ns = fmin(mean_ns, gain.if_gone_ns);
    gain.if_as_others_ns = fmin(as_others_ns, gain.if_gone_ns);
    gain.if_as_others_least_ns = fmin(gain.if_as_others_ns, input->critical_ns - input->critical_off_ns);
    gain.if_as_others_known_ns = fmin(gain.if_as_others_ns, known_ns);
    if (most_ns <= gain.if_gone_ns)
        gain.last_rank = TRACE_NONE;
    return gain;
}

/* Much of all waiting, most of it inferred, and as good as nothing to gain of what there should be. */
uint32_t gains_count_contradictions(const struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    uint32_t n = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        double mean_ns = efficiency->all_ns > 0 ? cause->waiting_ns * (efficiency->wall_ns / efficiency->all_ns) : 0;
        n += cause->share > WORTH_SAYING && cause->inferred_ns > MAJORITY * cause->waiting_ns &&
             cause->among_ns < (NOTABLY_LONGER - 1) * mean_ns;
    }
    return n;
}

/* Both sorted. */
static bool is_subset(const struct trace_cpus *part, const struct trace_cpus *whole)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < part->n; i++) {
        while (k < whole->n && whole->at[k] < part->at[i])
            k++;
        if (k == whole->n || whole->at[k] != part->at[i])
            return false;
    }
    return true;
}

static const struct trace_cpus *cpus_of(const struct analysis *analysis, const struct machine_host *host, uint32_t i)
{
    return &analysis->trace->processes[host->ranks[i]].cpus;
}

/* Sets of CPUs that too many ranks have to share. */
static void find_crowds(struct analysis *analysis, struct machine_host *host)
{
    host->crowds = arena_array(&analysis->arena, struct machine_crowd, host->n_ranks);
    for (uint32_t i = 0; i < host->n_ranks; i++) {
        const struct trace_cpus *cpus = cpus_of(analysis, host, i);
        bool is_told = !cpus->n;
        for (uint32_t k = 0; k < i && !is_told; k++)
            is_told = cpus_of(analysis, host, k)->n == cpus->n && is_subset(cpus_of(analysis, host, k), cpus);
        if (is_told)
            continue;
        struct machine_crowd crowd = {.cpus = *cpus, .ranks = arena_array(&analysis->arena, uint32_t, host->n_ranks)};
        for (uint32_t k = 0; k < host->n_ranks; k++)
            if (cpus_of(analysis, host, k)->n && is_subset(cpus_of(analysis, host, k), cpus))
                crowd.ranks[crowd.n_ranks++] = host->ranks[k];
        if (crowd.n_ranks > cpus->n)
            host->crowds[host->n_crowds++] = crowd;
    }
}

/* CPU time of these ranks that is none of code outside MPI: of MPI that looks for messages, and of other threads. Not
 * known where only a part of the run is analysed. */
static void add_beside(const struct analysis *analysis, struct machine_host *host, double watched_ns)
{
    double wall_ns = analysis->efficiency.wall_ns, most = 0;
    if (!analysis->ranks || fabs(watched_ns - wall_ns) > (NOTABLY_LONGER - 1) * wall_ns)
        return;
    for (uint32_t i = 0; i < host->n_ranks; i++) {
        const struct rank_summary *rank = &analysis->ranks[host->ranks[i]];
        double own_ns = (double)analysis->trace->processes[host->ranks[i]].machine.own_ns;
        double beside = fmax(0, own_ns - rank->compute_ns - rank->unrecorded_ns) / watched_ns;
        host->cpus_beside += beside;
        host->beside_rank = beside > most ? host->ranks[i] : host->beside_rank;
        most = fmax(most, beside);
    }
    if (most < MAJORITY * host->cpus_beside)
        host->beside_rank = TRACE_NONE;
}

/* Young ones, on average over the time outside MPI. */
static uint32_t busy_threads(const struct analysis *analysis, const double *young_ns, uint32_t rank)
{
    double n = fmax(1, (double)analysis->trace->processes[rank].machine.n_busy_threads);
    if (!young_ns)
        return (uint32_t)n;
    const struct rank_summary *times = &analysis->ranks[rank];
    double outside_ns = fmax(1, times->compute_ns + times->descheduled_ns + times->blocked_ns);
    return (uint32_t)fmax(n, round(young_ns[rank] / outside_ns));
}

static void find_busiest(struct analysis *analysis, const double *young_ns, struct machine_host *host)
{
    host->busiest = arena_array(&analysis->arena, uint32_t, host->n_ranks);
    for (uint32_t i = 0; i < host->n_ranks; i++) {
        uint32_t n = busy_threads(analysis, young_ns, host->ranks[i]);
        host->n_busiest = n > host->n_threads_most ? 0 : host->n_busiest;
        host->n_threads_most = n > host->n_threads_most ? n : host->n_threads_most;
        if (n == host->n_threads_most)
            host->busiest[host->n_busiest++] = host->ranks[i];
    }
    if (host->n_busiest == host->n_ranks)
        host->n_busiest = 0;
}

/* CPU time of everybody and of these ranks, as the rank that watched for longest saw it. */
static void add_loads(const struct analysis *analysis, const double *young_ns, struct machine_host *host)
{
    const struct ww_machine *longest = NULL;
    double own_ns = 0;
    for (uint32_t i = 0; i < host->n_ranks; i++) {
        const struct ww_machine *machine = &analysis->trace->processes[host->ranks[i]].machine;
        own_ns += (double)machine->own_ns;
        longest = !longest || machine->watched_ns > longest->watched_ns ? machine : longest;
        host->n_cpus = machine->n_cpus > host->n_cpus ? (uint32_t)machine->n_cpus : host->n_cpus;
        host->throttled_ns = fmax(host->throttled_ns, (double)machine->throttled_ns);
        if (machine->limit_milli)
            host->cpu_limit = (double)machine->limit_milli / 1000;
        host->n_busy_threads += busy_threads(analysis, young_ns, host->ranks[i]);
    }
    if (!longest || !longest->watched_ns)
        return;
    double watched_ns = (double)longest->watched_ns;
    host->cpus_of_others = longest->busy_ns ? fmax(0, ((double)longest->busy_ns - own_ns) / watched_ns) : 0;
    host->cpus_stolen = (double)longest->stolen_ns / watched_ns;
    host->cpus_of_ranks = own_ns / watched_ns;
    add_beside(analysis, host, watched_ns);
}

static struct machine_host *host_of(struct analysis *analysis, const char *name)
{
    struct machine *machine = &analysis->machine;
    for (uint32_t i = 0; i < machine->n_hosts; i++)
        if (!strcmp(machine->hosts[i].name, name))
            return &machine->hosts[i];
    struct machine_host *host = &machine->hosts[machine->n_hosts++];
    *host = (struct machine_host){.name = name,
                                  .beside_rank = TRACE_NONE,
                                  .ranks = arena_array(&analysis->arena, uint32_t, analysis->trace->n_ranks)};
    return host;
}

void stops_write(struct analysis *analysis, const struct lanes *lanes)
{
    const struct trace *trace = analysis->trace;
    struct machine *machine = &analysis->machine;
    machine->stops = arena_array(&analysis->arena, struct machine_stop, trace->n_ranks + 1);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        uint32_t lane = lanes->rank_lane[rank];
        double stopped_ns = lane == TRACE_NONE ? 0 : (double)lanes->at[lane].stopped_ns, off_ns = 0;
        for (uint32_t i = 0; i < machine->n_ranks; i++)
            off_ns = machine->ranks[i].rank == rank ? machine->ranks[i].time_ns : off_ns;
        if (stopped_ns > 0)
            machine->stops[machine->n_stops++] = (struct machine_stop){rank, stopped_ns, 2 * stopped_ns > off_ns};
    }
}

void hosts_write(struct analysis *analysis, const double *young_ns)
{
    const struct trace *trace = analysis->trace;
    uint32_t n_known = 0;
    for (uint32_t rank = 0; trace->processes && rank < trace->n_ranks; rank++)
        n_known += trace->processes[rank].machine.n_cpus > 0;
    if (!n_known)
        return;
    analysis->machine.hosts = arena_array(&analysis->arena, struct machine_host, trace->n_ranks);
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        const struct trace_location *location = &trace->locations[i];
        if (location->thread || !location->host)
            continue;
        struct machine_host *host = host_of(analysis, location->host);
        host->ranks[host->n_ranks++] = location->rank;
    }
    for (uint32_t i = 0; i < analysis->machine.n_hosts; i++) {
        struct machine_host *host = &analysis->machine.hosts[i];
        add_loads(analysis, young_ns, host);
        find_crowds(analysis, host);
        find_busiest(analysis, young_ns, host);
        /* Ranks whose threads at work are more than the CPUs that they may use. */
        host->large_teams = arena_array(&analysis->arena, uint32_t, host->n_ranks);
        for (uint32_t j = 0; j < host->n_ranks; j++) {
            const struct trace_process *process = &analysis->trace->processes[host->ranks[j]];
            uint64_t n_cpus = process->cpus.n ? process->cpus.n : process->machine.n_cpus;
            if (n_cpus && process->machine.n_busy_threads > 1 && process->machine.n_busy_threads > n_cpus)
                host->large_teams[host->n_large_teams++] = host->ranks[j];
        }
    }
}
