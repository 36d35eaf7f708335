/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/calltree.h"
#include <string.h>

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
    *vec_push(&tree->nodes) = (struct calltree_node){.parent = key.parent, .step = step};
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

static uint32_t enter_loop(struct calltree *tree, uint32_t parent, uint32_t place)
{
    return node_put(tree, (struct node_key){parent, NODE_LOOP, place, 0}, step_of_place(tree, place));
}

/* Names of one routine, whatever its template arguments. */
static bool is_same_routine(const char *a, const char *b)
{
    while (a && b && *a && *a == *b && *a != '<') {
        a++;
        b++;
    }
    return a && b && (*a == *b || (*a == '<' && !*b) || (!*a && *b == '<'));
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

/* From the host routine inwards: a loop stands in the routine that it is named by. */
static uint32_t enter_nest(struct calltree *tree, uint32_t node, const struct trace_frame *frame, uint64_t address,
                           uint32_t call_line)
{
    struct code *code = tree->sites->code;
    struct nest nest;
    nest.n_routines = code_routines_at(code, frame->module, address, nest.routines, NESTED_MOST);
    nest.n_loops = code_loops_at(code, frame->module, address, nest.loops, NESTED_MOST);
    uint32_t left = nest.n_routines - 1;
    nest.routines[left].call_line = call_line;
    node = enter_inlined(tree, node, frame, address, &nest, left);
    for (uint32_t i = nest.n_loops; i-- > 0;) {
        const char *home = code_place(code, nest.loops[i])->routine;
        uint32_t to = left;
        while (to > 0 && !is_same_routine(nest.routines[to].name, home))
            to--;
        bool is_found = is_same_routine(nest.routines[to].name, home);
        while (is_found && left > to)
            node = enter_inlined(tree, node, frame, address, &nest, --left);
        node = enter_loop(tree, node, nest.loops[i]);
    }
    while (left > 0)
        node = enter_inlined(tree, node, frame, address, &nest, --left);
    return node;
}

static uint64_t frame_address(const struct trace_frame *frame)
{
    return frame->address - (frame->is_return ? 1 : 0);
}

/* A stack that a threading run-time began goes on where the routine that it runs is entered by the thread that started
 * it, from the same line. */
static void join_team(struct calltree *tree, const struct trace_frame *frame, struct calltree_way *way)
{
    uint32_t place =
        code_place_of_routine(tree->sites->code, frame->module, frame_address(frame), NESTED_MOST, NESTED_MOST);
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
    uint64_t address = frame_address(frame);
    if (frame->module == TRACE_NONE && frame->region < trace->n_regions) {
        way->node = calltree_of_context(tree, sites_context(tree->sites, number));
        return;
    }
    if (sites_frame_place(tree->sites, number) == CODE_NONE) {
        way->is_team |= way->node == TRACE_NONE && sites_sample_is_idle(tree->sites, number);
        return;
    }
    if (way->is_team && way->node == TRACE_NONE)
        join_team(tree, frame, way);
    way->is_team = false;
    way->node = enter_nest(tree, way->node, frame, address, way->line);
    way->line = code_spot_at(tree->sites->code, frame->module, address).line;
}

/* The innermost node of a frame's code; TRACE_NONE when nothing of the user's is on the stack. */
static uint32_t node_of_frame(struct calltree *tree, uint32_t frame)
{
    const struct trace *trace = tree->sites->trace;
    struct calltree_way way = {.node = TRACE_NONE};
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
void calltree_begin(struct calltree *tree, struct sites *sites, const struct survey *survey)
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

void calltree_release(struct calltree *tree)
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
    uint32_t place = key->id, node = node_of_frame(tree, sites_sample_frame(tree->sites, frame));
    uint32_t loop = find_around(tree, node, NODE_LOOP, place);
    if (loop != TRACE_NONE)
        return tree->nodes.at[loop].waits ? node : loop;
    const struct code_place *at = code_place(tree->sites->code, place);
    if (at->parent == CODE_NONE)
        return node;
    uint32_t what = at->is_loop ? NODE_LOOP : NODE_CALL; /* a loop may be inlined in part, and in part be called */
    return node_put(tree, (struct node_key){node, what, place, 0}, step_of_place(tree, place));
}

uint32_t calltree_of_context(struct calltree *tree, uint32_t context)
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

uint32_t calltree_of_place(struct calltree *tree, uint32_t place)
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

uint32_t calltree_alone(struct calltree *tree, uint32_t step)
{
    return node_put(tree, (struct node_key){TRACE_NONE, NODE_ALONE, step, 0}, step);
}

uint32_t calltree_call_line(const struct calltree *tree, uint32_t node)
{
    return node_key(tree, node)->line;
}
