/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/calltree.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t calltree_of_context(struct calltree *tree, uint32_t context);

enum { NESTED_MOST = 32 }; /* loops or inlined routines around an address */

enum node_what { NODE_ROUTINE, NODE_LOOP, NODE_CALL, NODE_REGION, NODE_ALONE };

struct node_key {
    uint32_t parent, what;
    uint32_t id;   /* code place, region, or step */
    uint32_t line; /* of the call of a routine */
};

static uint32_t node_put(struct calltree *tree, struct node_key key, uint32_t step)
{
    uint32_t node = intern_put(&tree->keys, &key, sizeof key);
    if (node < tree->nodes.n)
        return node;
    *vec_push(&tree->nodes) = (struct calltree_node){.parent = key.parent, .step = step, .frame = TRACE_NONE};
    bool is_new = false;
    uint64_t *first = key.what >= NODE_REGION ? NULL : map_put(&tree->of_place, key.id, &is_new);
    if (first && is_new)
        *first = node + 1u;
    return node;
}

static const struct node_key *node_key(const struct calltree *tree, uint32_t node)
{
    return tree->keys.items[node].bytes;
}

/* The innermost node outwards from here, itself included, of that code; TRACE_NONE. */
static uint32_t find_around(const struct calltree *tree, uint32_t node, enum node_what what, uint32_t id)
{
    for (; node != TRACE_NONE; node = tree->nodes.at[node].parent)
        if (node_key(tree, node)->what == what && node_key(tree, node)->id == id)
            return node;
    return TRACE_NONE;
}

static uint32_t step_of_place(struct calltree *tree, uint32_t place)
{
    return steps_put(tree->sites->steps, STEP_COMPUTING, WHAT_PLACE, place, TRACE_NONE);
}

static uint32_t enter_routine(struct calltree *tree, uint32_t parent, uint32_t place, uint32_t line)
{
    uint32_t before = find_around(tree, parent, NODE_ROUTINE, place);
    if (before != TRACE_NONE)
        return before;
    return node_put(tree, (struct node_key){parent, NODE_ROUTINE, place, line}, step_of_place(tree, place));
}

static bool is_same_routine(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Loops and inlined routines around an address of one frame, each outermost last. */
struct nest {
    struct code_routine routines[NESTED_MOST];
    uint32_t loops[NESTED_MOST];
    uint32_t n_routines, n_loops;
};

static uint32_t enter_inlined(struct calltree *tree, uint32_t node, const struct trace_frame *frame, uint64_t address,
                              const struct nest *nest, uint32_t which)
{
    uint32_t place = code_place_of_routine(tree->sites->code, frame->module, address, which, NESTED_MOST);
    return place == CODE_NONE ? node : enter_routine(tree, node, place, nest->routines[which].call_line);
}

/* From the host routine inwards: a loop stands in the routine that it is named by. *line: where the innermost one was
 * called, and then where it is. */
static uint32_t enter_nest(struct calltree *tree, uint32_t node, const struct trace_frame *frame, uint64_t address,
                           uint32_t *line)
{
    struct code *code = tree->sites->code;
    struct nest nest;
    nest.n_routines = code_routines_at(code, frame->module, address, nest.routines, NESTED_MOST);
    nest.n_loops = code_loops_at(code, frame->module, address, nest.loops, NESTED_MOST);
    uint32_t left = nest.n_routines - 1;
    nest.routines[left].call_line = *line;
    *line = nest.routines[0].at_line;
    node = enter_inlined(tree, node, frame, address, &nest, left);
    for (uint32_t i = nest.n_loops; i-- > 0;) {
        const char *home = code_place(code, nest.loops[i])->routine;
        uint32_t to = left;
        while (to > 0 && !is_same_routine(nest.routines[to].name, home))
            to--;
        bool is_found = is_same_routine(nest.routines[to].name, home);
        while (is_found && left > to)
            node = enter_inlined(tree, node, frame, address, &nest, --left);
        node = node_put(tree, (struct node_key){node, NODE_LOOP, nest.loops[i], 0}, step_of_place(tree, nest.loops[i]));
    }
    while (left > 0)
        node = enter_inlined(tree, node, frame, address, &nest, --left);
    return node;
}

/* A stack that a threading run-time began goes on where the routine that it runs is entered by the thread that started
 * it, from the same line. */
static void join_team(struct calltree *tree, const struct trace_frame *frame, struct calltree_way *way)
{
    uint32_t place =
        code_place_of_routine(tree->sites->code, frame->module, trace_code_address(frame->address, frame->is_return),
                              NESTED_MOST, NESTED_MOST);
    const uint64_t *first = place == CODE_NONE ? NULL : map_get(&tree->of_place, place);
    if (!first)
        return;
    way->node = tree->nodes.at[*first - 1].parent;
    way->line = node_key(tree, (uint32_t)*first - 1)->line;
}

static void enter_frame(struct calltree *tree, struct calltree_way *way, uint32_t number)
{
    const struct trace *trace = tree->sites->trace;
    const struct trace_frame *frame = &trace->frames[number];
    uint64_t address = trace_code_address(frame->address, frame->is_return);
    if (frame->module == TRACE_NONE && frame->region < trace->n_regions) {
        way->node = calltree_of_context(tree, sites_context(tree->sites, number));
        return;
    }
    if (sites_frame_place(tree->sites, number) == CODE_NONE) {
        way->is_team |= way->node == TRACE_NONE && sites_sample_is_idle(tree->sites, number);
        return;
    }
    /* Packages are no places of the tree: a function that the program gives them is called by its own line. */
    bool is_given = sites_module_is_given(tree->sites, frame->module);
    if (is_given && way->is_own)
        return;
    way->is_own |= !is_given;
    if (way->is_team && way->node == TRACE_NONE)
        join_team(tree, frame, way);
    way->is_team = false;
    uint32_t caller = way->node;
    way->node = enter_nest(tree, caller, frame, address, &way->line);
    /* Its own nodes. One that is known has known ones around it, and a routine that recurs is one of these. */
    for (uint32_t at = way->node; at != caller && at != TRACE_NONE && tree->nodes.at[at].frame == TRACE_NONE;
         at = tree->nodes.at[at].parent) {
        tree->nodes.at[at].frame = tree->nodes.at[at].parent == caller ? way->call : number;
        sites_note_host(tree->sites, node_key(tree, at)->id, number);
    }
    way->call = number;
}

/* The innermost node of a frame's code; TRACE_NONE when nothing of the user's is on the stack. */
static uint32_t node_of_frame(struct calltree *tree, uint32_t frame)
{
    const struct trace *trace = tree->sites->trace;
    struct calltree_way way = {.node = TRACE_NONE, .call = TRACE_NONE};
    tree->path.n = 0;
    for (; frame < trace->n_frames && !tree->of_frame.at[frame].is_known && tree->path.n <= trace->n_frames;
         frame = trace->frames[frame].parent)
        *vec_push(&tree->path) = frame;
    if (frame < trace->n_frames)
        way = tree->of_frame.at[frame];
    for (size_t i = tree->path.n; i-- > 0;) {
        enter_frame(tree, &way, tree->path.at[i]);
        way.is_known = true;
        tree->of_frame.at[tree->path.at[i]] = way;
    }
    return way.node;
}

static void mark_waits(struct calltree *tree, uint32_t node)
{
    for (; node != TRACE_NONE && !tree->nodes.at[node].waits; node = tree->nodes.at[node].parent)
        tree->nodes.at[node].waits = true;
}

static bool may_wait(const struct trace *trace, uint32_t region)
{
    return region < trace->n_regions && trace->regions[region].is_mpi && trace->regions[region].class != WW_LOCAL;
}

static void mark_calls_of_regions(struct calltree *tree)
{
    struct sites *sites = tree->sites;
    for (uint32_t i = 0; i < sites->sites.n; i++) {
        const struct site *site = sites_at(sites, i);
        if (may_wait(sites->trace, site->region) && site->context != TRACE_NONE &&
            sites_context_at(sites, site->context)->module == TRACE_NONE)
            mark_waits(tree, calltree_of_context(tree, site->context));
    }
}

/* Stacks of teams come last: they go on from others. */
static void calltree_begin(struct calltree *tree, struct sites *sites, const struct survey *survey)
{
    *tree = (struct calltree){.sites = sites};
    vec_resize(&tree->of_frame, sites->trace->n_frames + 1);
    for (int teams = 0; teams < 2; teams++)
        for (size_t i = 0; i < survey->entries.n; i++) {
            const struct survey_entry *entry = &survey->entries.at[i];
            if (entry->is_workers != (teams > 0) || entry->frame >= sites->trace->n_frames || !sites->code)
                continue;
            uint32_t node = node_of_frame(tree, entry->frame);
            if (entry->n_calls && may_wait(sites->trace, entry->region))
                mark_waits(tree, node);
        }
    mark_calls_of_regions(tree);
}

static void calltree_release(struct calltree *tree)
{
    intern_release(&tree->keys);
    vec_release(&tree->nodes);
    vec_release(&tree->of_frame);
    vec_release(&tree->path);
    map_release(&tree->of_place);
}

uint32_t calltree_of_sample(struct calltree *tree, uint32_t frame)
{
    uint32_t step = sites_sample_step(tree->sites, frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(tree->sites->steps, step);
    if (!key || key->what == WHAT_PATH)
        return key ? calltree_of_context(tree, key->id) : TRACE_NONE;
    uint32_t place = key->id, at_frame = sites_sample_frame(tree->sites, frame), node = node_of_frame(tree, at_frame);
    uint32_t loop = find_around(tree, node, NODE_LOOP, place);
    if (loop != TRACE_NONE)
        return tree->nodes.at[loop].waits ? node : loop;
    const struct code_place *at = code_place(tree->sites->code, place);
    if (at->parent == CODE_NONE)
        return node;
    uint32_t what = at->is_loop ? NODE_LOOP : NODE_CALL; /* a loop may be inlined in part, and in part be called */
    node = node_put(tree, (struct node_key){node, what, place, 0}, step_of_place(tree, place));
    if (tree->nodes.at[node].frame == TRACE_NONE)
        tree->nodes.at[node].frame = at_frame;
    return node;
}

/* The node of a call path of regions (WHAT_PATH). */
static uint32_t calltree_of_context(struct calltree *tree, uint32_t context)
{
    VEC(uint32_t) path = {0};
    uint32_t node = TRACE_NONE;
    for (; context != TRACE_NONE; context = sites_context_at(tree->sites, context)->parent)
        *vec_push(&path) = context;
    for (size_t i = path.n; i-- > 0;) {
        uint32_t region = sites_context_at(tree->sites, path.at[i])->region;
        uint32_t before = find_around(tree, node, NODE_REGION, region);
        uint32_t step = steps_put(tree->sites->steps, STEP_COMPUTING, WHAT_PATH, path.at[i], TRACE_NONE);
        node = before != TRACE_NONE ? before : node_put(tree, (struct node_key){node, NODE_REGION, region, 0}, step);
    }
    vec_release(&path);
    return node;
}

/* The node of a place in which nothing was sampled: one that is there, or below that of what encloses it. */
static uint32_t calltree_of_place(struct calltree *tree, uint32_t place)
{
    uint32_t missing[NESTED_MOST], n = 0, node = TRACE_NONE;
    const uint64_t *first = map_get(&tree->of_place, place);
    for (; !first && place != CODE_NONE && n < NESTED_MOST; first = map_get(&tree->of_place, place)) {
        missing[n++] = place;
        place = code_place(tree->sites->code, place)->parent;
    }
    if (first)
        node = (uint32_t)*first - 1;
    while (n-- > 0) {
        bool is_loop = code_place(tree->sites->code, missing[n])->is_loop;
        uint32_t what = is_loop ? NODE_LOOP : NODE_ROUTINE;
        node = node_put(tree, (struct node_key){node, what, missing[n], 0}, step_of_place(tree, missing[n]));
        tree->nodes.at[node].waits = sites_place_calls_mpi(tree->sites, missing[n]);
    }
    return node;
}

/* A node by itself, for what is on no stack. */
static uint32_t calltree_alone(struct calltree *tree, uint32_t step)
{
    return node_put(tree, (struct node_key){TRACE_NONE, NODE_ALONE, step, 0}, step);
}

uint32_t calltree_call_line(const struct calltree *tree, uint32_t node)
{
    return node_key(tree, node)->line;
}

static struct survey_entry *survey_entry(struct survey *survey, uint32_t rank, uint32_t frame)
{
    bool is_new;
    uint64_t *slot = map_put(&survey->index, key_pair(rank, frame), &is_new);
    if (is_new) {
        *slot = survey->entries.n;
        *vec_push(&survey->entries) = (struct survey_entry){.rank = rank, .frame = frame, .region = TRACE_NONE};
    }
    return &survey->entries.at[*slot];
}

static void weights_add(struct survey_weights *weights, uint64_t ns)
{
    weights->ns += (double)ns;
    weights->ns2 += (double)ns * (double)ns;
}

void survey_take(struct survey *survey, const struct lane *lane, enum lane_news news, const struct event *event)
{
    if (news == LANE_LEFT) {
        if (lane->frame != TRACE_NONE) {
            struct survey_entry *entry = survey_entry(survey, lane->rank, lane->frame);
            entry->region = lane->region;
            entry->in_mpi_ns += event->time_ns - lane->enter_ns;
            entry->n_calls += 1 + (event->kind == EV_LEAVE ? (uint64_t)event->tag : 0);
        }
    } else if (event->frame != TRACE_NONE) {
        bool is_blocked = event->flags & WW_S_BLOCKED;
        bool is_idle = lane->is_worker && event->flags & WW_S_SYNC;
        if (is_blocked && (lane->depth || is_idle)) /* only outside MPI: where it sleeps, whoever wakes it */
            return;
        struct survey_entry *entry = survey_entry(survey, lane->rank, event->frame);
        entry->is_workers |= lane->is_worker;
        if (is_blocked) {
            entry->blocked_ns += event->weight_ns;
            entry->pipe_ns += event->flags & WW_S_PIPE ? event->weight_ns : 0;
            entry->network_ns += event->flags & WW_S_NETWORK ? event->weight_ns : 0;
            entry->sync_ns += event->flags & WW_S_SYNC ? event->weight_ns : 0;
            entry->timed_ns += event->flags & WW_S_TIME ? event->weight_ns : 0;
            return;
        }
        entry->sampled_ns += event->weight_ns;
        if (lane->rank >= survey->ranks.n)
            vec_resize(&survey->ranks, (size_t)lane->rank + 1);
        weights_add(&survey->ranks.at[lane->rank], event->weight_ns);
        weights_add(&survey->all, event->weight_ns);
        entry->kernel_ns += event->flags & WW_S_KERNEL ? event->weight_ns : 0;
        entry->n_samples++;
    }
}

void survey_pack(const struct survey *survey, struct packing *packing)
{
    pack_vec(packing, &survey->entries);
    pack_value(packing, survey->all);
    pack_vec(packing, &survey->ranks);
}

static void entry_join(struct survey_entry *entry, const struct survey_entry *later)
{
    entry->region = later->region == TRACE_NONE ? entry->region : later->region;
    entry->n_calls += later->n_calls;
    entry->in_mpi_ns += later->in_mpi_ns;
    entry->sampled_ns += later->sampled_ns;
    entry->blocked_ns += later->blocked_ns;
    entry->pipe_ns += later->pipe_ns;
    entry->network_ns += later->network_ns;
    entry->timed_ns += later->timed_ns;
    entry->sync_ns += later->sync_ns;
    entry->kernel_ns += later->kernel_ns;
    entry->n_samples += later->n_samples;
    entry->is_workers |= later->is_workers;
}

static void weights_join(struct survey_weights *weights, const struct survey_weights *later)
{
    weights->ns += later->ns;
    weights->ns2 += later->ns2;
}

void survey_unpack(struct survey *survey, struct unpacking *unpacking)
{
    struct survey later = {0};
    unpack_vec(unpacking, &later.entries);
    unpack_value(unpacking, &later.all);
    unpack_vec(unpacking, &later.ranks);
    for (size_t i = 0; i < later.entries.n; i++)
        entry_join(survey_entry(survey, later.entries.at[i].rank, later.entries.at[i].frame), &later.entries.at[i]);
    if (later.ranks.n > survey->ranks.n)
        vec_resize(&survey->ranks, later.ranks.n);
    weights_join(&survey->all, &later.all);
    for (size_t i = 0; i < later.ranks.n; i++)
        weights_join(&survey->ranks.at[i], &later.ranks.at[i]);
    survey_release(&later);
}

static int entry_compare(const void *a, const void *b)
{
    const struct survey_entry *left = a, *right = b;
    return order_of(left->rank, right->rank) ?: order_of(left->frame, right->frame);
}

void survey_finish(struct survey *survey)
{
    vec_sort(&survey->entries, entry_compare);
    map_release(&survey->index);
}

void survey_leave_out_workers(const struct survey *survey, struct sites *sites, struct executions *executions)
{
    const struct trace *trace = sites->trace;
    for (size_t i = 0; i < survey->entries.n && !trace->counts_all_threads; i++) {
        trace_walk (trace, at, survey->entries.at[i].is_workers ? survey->entries.at[i].frame : TRACE_NONE) {
            uint32_t place = sites_frame_place(sites, at);
            if (place != CODE_NONE)
                executions_leave_out(executions, place);
        }
    }
}

static double weights_mean(const struct survey_weights *weights)
{
    return weights->ns > 0 ? weights->ns2 / weights->ns : 0;
}

double survey_sample_ns(const struct survey *survey)
{
    return weights_mean(&survey->all);
}

double survey_rank_sample_ns(const struct survey *survey, uint32_t rank)
{
    return rank < survey->ranks.n ? weights_mean(&survey->ranks.at[rank]) : 0;
}

void survey_release(struct survey *survey)
{
    map_release(&survey->index);
    vec_release(&survey->entries);
    vec_release(&survey->ranks);
}

enum { ALL_RANKS = 0x0fffffff };

struct sampled_node {
    uint64_t key; /* atom_key(rank, step) */
    uint32_t node;
    double ns;
};

static void add_sampled(struct placing *placing, uint32_t rank, uint32_t step, uint32_t node, uint64_t ns)
{
    if (!ns)
        return;
    *vec_push(&placing->sampled) = (struct sampled_node){atom_key(rank, step), node, (double)ns};
    *vec_push(&placing->sampled) = (struct sampled_node){atom_key(ALL_RANKS, step), node, (double)ns};
}

static int sampled_compare(const void *a, const void *b)
{
    const struct sampled_node *left = a, *right = b;
    return order_of(left->key, right->key) ?: order_of(left->node, right->node);
}

/* By how much a process spends more in a node than the mean of the others; less as samples may have it so by chance. */
static double excess_ns(const struct placed *placed, double others_ns, double sample_ns)
{
    double off_ns = placed->ns - others_ns;
    double same_ns2 = SAME_DEVIATIONS * SAME_DEVIATIONS * sample_ns * fmin(placed->ns, others_ns + sample_ns);
    return off_ns > 0 ? off_ns * fmax(1 - same_ns2 / (off_ns * off_ns), 0) : 0;
}

/* Of one process and step. If it spends no more than the others in any node, its time decides. */
static void share_blame(struct placing *placing, uint64_t key, double sample_ns)
{
    uint64_t mine = *map_get(&placing->of_step, key);
    uint64_t all = *map_get(&placing->of_step, atom_key(ALL_RANKS, key_atom(key)));
    struct placed *placed = &placing->placed.at[key_high(mine)];
    const struct placed *of_all = &placing->placed.at[key_high(all)];
    double n_others = fmax(placing->sites->trace->n_ranks - 1.0, 1), sum_ns = 0;
    for (uint32_t i = 0, k = 0; i < key_low(mine) && key_low(mine) > 1; i++) {
        while (of_all[k].node != placed[i].node)
            k++;
        sum_ns += excess_ns(&placed[i], (of_all[k].ns - placed[i].ns) / n_others, sample_ns);
    }
    for (uint32_t i = 0, k = 0; i < key_low(mine) && sum_ns > 0; i++) {
        while (of_all[k].node != placed[i].node)
            k++;
        placed[i].blame = excess_ns(&placed[i], (of_all[k].ns - placed[i].ns) / n_others, sample_ns) / sum_ns;
    }
}

void placing_begin(struct placing *placing, struct sites *sites, const struct survey *survey)
{
    *placing = (struct placing){.sites = sites};
    calltree_begin(&placing->tree, sites, survey);
    for (size_t i = 0; i < survey->entries.n; i++)
        if (survey->entries.at[i].sampled_ns || survey->entries.at[i].blocked_ns) {
            const struct survey_entry *entry = &survey->entries.at[i];
            struct steps *steps = placing->sites->steps;
            uint32_t step = sites_sample_step(placing->sites, entry->frame);
            uint32_t node = step == TRACE_NONE ? TRACE_NONE : calltree_of_sample(&placing->tree, entry->frame);
            if (node != TRACE_NONE) {
                add_sampled(placing, entry->rank, step, node, entry->sampled_ns - entry->kernel_ns);
                add_sampled(placing, entry->rank, steps_in_state(steps, step, STEP_BLOCKED), node,
                            entry->kernel_ns + entry->blocked_ns);
            }
        }
    vec_sort(&placing->sampled, sampled_compare);
    for (size_t i = 0, end; i < placing->sampled.n; i = end) {
        for (end = i; end < placing->sampled.n && placing->sampled.at[end].key == placing->sampled.at[i].key;)
            end++;
        /* Equal nodes of one process and step become one. Their weights become shares. */
        const struct sampled_node *sampled = &placing->sampled.at[i];
        double sum_ns = 0;
        size_t begin = placing->placed.n;
        for (size_t j = 0; j < (end - i); j++) {
            bool is_new = j == 0 || sampled[j].node != sampled[j - 1].node;
            struct placed *placed = is_new ? vec_push(&placing->placed) : &placing->placed.at[placing->placed.n - 1];
            placed->node = sampled[j].node;
            placed->ns += sampled[j].ns;
            sum_ns += sampled[j].ns;
        }
        for (size_t j = begin; j < placing->placed.n; j++)
            placing->placed.at[j].blame = placing->placed.at[j].share = placing->placed.at[j].ns / sum_ns;
        *map_put(&placing->of_step, sampled->key, NULL) =
            key_pair((uint32_t)begin, (uint32_t)(placing->placed.n - begin));
    }
    for (size_t i = 0; i < placing->sampled.n; i++)
        if (key_rank(placing->sampled.at[i].key) != ALL_RANKS &&
            (!i || placing->sampled.at[i].key != placing->sampled.at[i - 1].key))
            share_blame(placing, placing->sampled.at[i].key, survey_sample_ns(survey));
    vec_release(&placing->sampled);
}

void placing_release(struct placing *placing)
{
    calltree_release(&placing->tree);
    vec_release(&placing->sampled);
    vec_release(&placing->placed);
    map_release(&placing->of_step);
}

/* Stands for all steps of one code: an MPI call is the same whatever led to it. */
static uint32_t step_alone(struct sites *sites, uint32_t step)
{
    struct step_key key = *steps_key(sites->steps, steps_base(sites->steps, step));
    if (key.what == WHAT_SITE || key.what == WHAT_WAIT)
        key.id = sites_innermost(sites, key.id);
    if (key.what == WHAT_GAP) {
        const uint32_t *pair = sites_pair_at(sites, key.id);
        uint32_t from = pair[0], to = pair[1];
        key.id = sites_pair(sites, sites_innermost(sites, from), sites_innermost(sites, to));
    }
    return steps_put(sites->steps, (enum step_state)key.state, (enum step_what)key.what, key.id, TRACE_NONE);
}

static uint32_t node_without_samples(struct placing *placing, uint32_t step)
{
    const struct step_key *key = steps_key(placing->sites->steps, step);
    if (key->what == WHAT_PLACE)
        return calltree_of_place(&placing->tree, key->id);
    if (key->what == WHAT_PATH)
        return calltree_of_context(&placing->tree, key->id);
    return calltree_alone(&placing->tree, step_alone(placing->sites, step));
}

/* On a CPU or asleep: where samples of that state are missing, those of the other tell. */
static const uint64_t *find_sampled(struct placing *placing, uint32_t rank, uint32_t step)
{
    static const enum step_state others[] = {[STEP_COMPUTING] = STEP_BLOCKED, [STEP_BLOCKED] = STEP_COMPUTING};
    struct steps *steps = placing->sites->steps;
    enum step_state state = (enum step_state)steps_key(steps, step)->state;
    if (state != STEP_COMPUTING && state != STEP_BLOCKED)
        state = STEP_COMPUTING;
    uint64_t keys[] = {steps_in_state(steps, step, state), steps_in_state(steps, step, others[state])};
    for (size_t i = 0; i < 4; i++) {
        uint32_t whose = i < 2 ? rank : ALL_RANKS;
        const uint64_t *found = map_get(&placing->of_step, atom_key(whose, (uint32_t)keys[i % 2]));
        if (found)
            return found;
    }
    return NULL;
}

struct placings placing_of(struct placing *placing, uint32_t rank, uint32_t step)
{
    bool is_place = steps_key(placing->sites->steps, step)->what == WHAT_PLACE;
    const uint64_t *found = map_get(&placing->of_step, atom_key(rank, step));
    if (!found && is_place)
        found = find_sampled(placing, rank, step);
    uint64_t range = found ? *found : 0;
    if (!found) {
        range = key_pair((uint32_t)placing->placed.n, 1);
        struct placed alone = {.node = node_without_samples(placing, step), .share = 1, .blame = 1};
        *vec_push(&placing->placed) = alone;
        *map_put(&placing->of_step, atom_key(ALL_RANKS, step), NULL) = range;
    }
    *map_put(&placing->of_step, atom_key(rank, step), NULL) = range;
    return (struct placings){.at = &placing->placed.at[key_high(range)], .n = key_low(range)};
}

/* The innermost frame of the routine in each stack is asked about. */
static void passing_find(const struct ways *ways, uint32_t module, uint64_t block, struct passing *passing)
{
    const struct trace *trace = ways->tree->sites->trace;
    struct code *code = ways->tree->sites->code;
    struct arena scratch = {0};
    enum { OUTSIDE, INSIDE, BEHIND };
    uint8_t *where = arena_array(&scratch, uint8_t, trace->n_frames + 1);
    uint32_t routine = code_routine_number(code, module, block);
    /* A caller that other stacks have told may stand behind its frame: it is known in the second turn. */
    for (uint32_t turn = 0; turn < 2 * trace->n_frames; turn++) {
        uint32_t i = turn % trace->n_frames;
        const struct trace_frame *frame = &trace->frames[i];
        uint64_t address = trace_code_address(frame->address, frame->is_return);
        if (frame->module == module && code_routine_number(code, module, address) == routine)
            where[i] = code_is_behind(code, module, block, address) ? BEHIND : INSIDE;
        else
            where[i] = frame->parent < trace->n_frames ? where[frame->parent] : OUTSIDE;
    }
    for (size_t i = 0; i < ways->survey->entries.n; i++) {
        const struct survey_entry *entry = &ways->survey->entries.at[i];
        if (entry->frame < trace->n_frames && where[entry->frame] != OUTSIDE)
            sparse_add(where[entry->frame] == BEHIND ? &passing->behind : &passing->inside, entry->rank, 1);
    }
    sparse_pack(&passing->inside);
    sparse_pack(&passing->behind);
    arena_release(&scratch);
}

bool ways_have_one_reason(struct ways *ways, uint32_t a, uint32_t b, const struct sparse *late)
{
    const struct trace *trace = ways->tree->sites->trace;
    uint32_t frames[] = {ways->tree->nodes.at[a].frame, ways->tree->nodes.at[b].frame};
    if (frames[0] >= trace->n_frames || frames[1] >= trace->n_frames)
        return false;
    const struct trace_frame *one = &trace->frames[frames[0]], *other = &trace->frames[frames[1]];
    if (one->module != other->module || one->module == TRACE_NONE)
        return false;
    uint64_t block =
        code_last_common(ways->tree->sites->code, one->module, trace_code_address(one->address, one->is_return),
                         trace_code_address(other->address, other->is_return));
    if (!block)
        return false;
    uint64_t *slot = map_put(&ways->known, (uint64_t)one->module << 48 ^ block, NULL);
    if (!*slot) {
        passing_find(ways, one->module, block, vec_push(&ways->passings));
        *slot = ways->passings.n;
    }
    const struct passing *passing = &ways->passings.at[*slot - 1];
    for (size_t i = 0; i < passing->behind.n; i++)
        if (!(sparse_get(late, passing->behind.at[i].key) > 0))
            return false;
    for (size_t i = 0; i < passing->inside.n; i++)
        if (!(sparse_get(late, passing->inside.at[i].key) > 0))
            return true;
    return false;
}

void ways_release(struct ways *ways)
{
    for (size_t i = 0; i < ways->passings.n; i++) {
        sparse_release(&ways->passings.at[i].inside);
        sparse_release(&ways->passings.at[i].behind);
    }
    vec_release(&ways->passings);
    map_release(&ways->known);
}
