/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/executions.h"
#include "analyze/constants/constants.h"
#include "analyze/counts/turns.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>

void executions_begin(struct executions *executions, struct trace *trace, struct code *code)
{
    *executions = (struct executions){.trace = trace, .code = code};
    size_t cap = 0, opened_cap = 0;
    vec_grow((void **)&executions->modules, &cap, trace->n_modules + 1, sizeof *executions->modules);
    vec_grow((void **)&executions->is_opened, &opened_cap, trace->n_modules + 1, sizeof *executions->is_opened);
    for (uint32_t i = 0; i < trace->n_modules; i++) {
        executions->modules[i] = NULL;
        executions->is_opened[i] = false;
    }
}

void executions_release(struct executions *executions)
{
    for (uint32_t i = 0; executions->modules && i < executions->trace->n_modules; i++)
        if (executions->modules[i])
            counts_close(executions->modules[i]);
    block_places_release(&executions->block_places);
    vec_free(executions->modules);
    vec_free(executions->is_opened);
    counts_result_release(&executions->result);
    vec_release(&executions->is_partial);
    vec_release(&executions->contradicted);
    vec_release(&executions->bins);
    vec_release(&executions->frames);
}

void executions_leave_out(struct executions *executions, uint32_t place)
{
    if (place >= executions->is_partial.n)
        vec_resize(&executions->is_partial, place + 1);
    executions->is_partial.at[place] = true;
}

struct counts *executions_module(struct executions *executions, uint32_t module)
{
    if (!executions->code || module >= executions->trace->n_modules || !executions->trace->modules[module].has_points)
        return NULL;
    if (!executions->is_opened[module]) {
        executions->is_opened[module] = true;
        enum code_state state = code_module_state(executions->code, module);
        if (state == CODE_FULL || state == CODE_SYMBOLS)
            if (counts_open(code_module_file(executions->code, module), &executions->modules[module]))
                executions->trace->lacks_counts = true;
        if (executions->modules[module])
            counts_keep_only(executions->modules[module], executions->trace->only);
    }
    return executions->modules[module];
}

uint32_t executions_block_place(struct executions *executions, uint32_t module, const struct counts_function *function,
                                uint32_t block)
{
    return block_place(&executions->block_places, executions->code, module, function, block);
}

double executions_block_length(struct executions *executions, uint32_t module, const struct counts_function *function,
                               uint32_t block)
{
    return block_instructions(&executions->block_places, executions->code, module, function, block);
}

bool executions_contradict(struct executions *executions, uint32_t module, const struct counts_function *function)
{
    for (size_t i = 0; i < executions->contradicted.n; i++)
        for (uint32_t b = 0; b < function->n_blocks; b++)
            if (executions_block_place(executions, module, function, b) == executions->contradicted.at[i])
                return true;
    return false;
}

/* Solves what of the terms concerns one module; NULL when nothing does. */
static struct counts *solve_module(struct executions *executions, uint32_t module, const struct term *terms, size_t n,
                                   bool keeps_flows)
{
    if (!executions->trace->modules[module].has_points)
        return NULL;
    /* The terms of one module. */
    executions->bins.n = executions->frames.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t what = (uint32_t)terms[i].key;
        const struct trace_point *point = what < executions->trace->n_points ? &executions->trace->points[what] : NULL;
        if (what & COUNT_FRAME) {
            const struct trace *trace = executions->trace;
            trace_walk (trace, at, (what & ~COUNT_FRAME))
                if (trace->frames[at].module == module && trace->frames[at].is_return)
                    *vec_push(&executions->frames) = (struct counts_frame){.return_address = trace->frames[at].address,
                                                                           .sign = (int32_t)terms[i].ns};
        } else if (point && point->module == module && !point->is_bytes && terms[i].ns > 0)
            *vec_push(&executions->bins) =
                (struct counts_bin){.point = point->number, .value = (uint64_t)llround(terms[i].ns)};
    }
    struct counts *counts = executions->bins.n ? executions_module(executions, module) : NULL;
    executions->result.keeps_flows = keeps_flows;
    if (counts)
        counts_solve(counts, executions->bins.at, executions->bins.n, executions->frames.at, executions->frames.n,
                     &executions->result);
    return counts;
}

void executions_each_block(struct executions *executions, const struct term *terms, size_t n, executions_visit *visit,
                           void *context)
{
    for (uint32_t module = 0; module < executions->trace->n_modules; module++) {
        struct counts *counts = solve_module(executions, module, terms, n, false);
        if (!counts)
            continue;
        /* Frames that were not known to be in flight, as a rule: those of other threads. */
        for (size_t i = 0; i < executions->result.faults.n; i++) {
            const struct counts_function *function = counts_function(counts, executions->result.faults.at[i].function);
            for (uint32_t b = 0; b < function->n_blocks; b++) {
                uint32_t place = executions_block_place(executions, module, function, b);
                if (place != CODE_NONE)
                    *vec_push(&executions->contradicted) = place;
            }
        }
        for (size_t i = 0; i < executions->result.rows.n; i++) {
            const struct counts_row *row = &executions->result.rows.at[i];
            visit(context, module, counts_function(counts, row->function), row);
        }
    }
}

void executions_each_flow(struct executions *executions, const struct term *terms, size_t n,
                          executions_visit_flow *visit, void *context)
{
    for (uint32_t module = 0; module < executions->trace->n_modules; module++) {
        struct counts *counts = solve_module(executions, module, terms, n, true);
        for (size_t i = 0; counts && i < executions->result.flows.n; i++) {
            const struct counts_flow *flow = &executions->result.flows.at[i];
            visit(context, module, counts_function(counts, flow->function),
                  &executions->result.edge_counts.at[flow->first_edge], flow->calls);
        }
    }
}

/* The most executed block of each copy of a place; where a loop asks first, of those that do not ask. */
struct most_executed {
    struct executions *executions;
    struct intern copies;
    VEC(uint64_t) most, asking; /* by copy */
};

struct copy_key {
    uint32_t place, module, function, copy;
};

static void copy_ran(struct most_executed *found, struct copy_key key, uint64_t executions, bool is_asking)
{
    const struct executions *from = found->executions;
    if (key.place == CODE_NONE || (key.place < from->is_partial.n && from->is_partial.at[key.place]))
        return;
    uint32_t copy = intern_put(&found->copies, &key, sizeof key);
    if (copy == found->most.n) {
        vec_resize(&found->most, copy + 1);
        vec_resize(&found->asking, copy + 1);
    }
    uint64_t *most = is_asking ? &found->asking.at[copy] : &found->most.at[copy];
    *most = executions > *most ? executions : *most;
}

static void block_ran(void *context, uint32_t module, const struct counts_function *function,
                      const struct counts_row *row)
{
    struct most_executed *found = context;
    struct executions *from = found->executions;
    struct copy_key key = {.place = executions_block_place(from, module, function, row->block),
                           .module = module,
                           .function = row->function,
                           .copy = block_copy(&from->block_places, from->code, module, function, row->block)};
    copy_ran(found, key, row->executions, block_asks(&from->block_places, from->code, module, function, row->block));
    const struct block_calls *calls = block_calls_of(&from->block_places, from->code, module, function);
    for (uint32_t i = 0; i < calls->n; i++)
        if (calls->at[i].block == row->block) {
            key.place = calls->at[i].place;
            copy_ran(found, key, row->executions, false);
        }
}

void executions_solve(struct executions *executions, struct sparse *bins, struct sparse *out)
{
    executions->contradicted.n = 0;
    sparse_pack(bins);
    for (size_t i = 0, end; i < bins->n; i = end) {
        uint64_t high = bins->at[i].key & ~(uint64_t)UINT32_MAX;
        for (end = i; end < bins->n && (bins->at[end].key & ~(uint64_t)UINT32_MAX) == high;)
            end++;
        struct most_executed found = {.executions = executions};
        executions_each_block(executions, &bins->at[i], (end - i), block_ran, &found);
        for (uint32_t k = 0; k < found.most.n; k++) {
            const struct copy_key *key = (const struct copy_key *)found.copies.items[k].bytes;
            uint64_t n = found.most.at[k] ? found.most.at[k] : found.asking.at[k];
            sparse_add(out, high | key->place, (double)n);
        }
        vec_release(&found.most);
        vec_release(&found.asking);
        intern_release(&found.copies);
    }
    sparse_pack(out);
    /* One side of a comparison without the other would be wrong: what is contradicted once is left out everywhere. */
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        bool is_contradicted = false;
        for (size_t j = 0; j < executions->contradicted.n && !is_contradicted; j++)
            is_contradicted = executions->contradicted.at[j] == (uint32_t)out->at[i].key;
        if (!is_contradicted)
            out->at[n++] = out->at[i];
    }
    out->n = out->n_packed = n;
}

bool executions_are_few(double others, double late)
{
    return others < (NOTABLY_LONGER - 1) * late;
}

double executions_share_of_work(struct side late, struct side others, double cost_error)
{
    if (!(late.executions > 0))
        return -1;
    if (executions_are_few(others.executions, late.executions) || !(late.ns > 0))
        return 1;
    double cost_late = late.ns / late.executions, cost_others = others.ns / others.executions;
    double doubt = exp(2 * cost_error);
    cost_others = fmin(fmax(cost_late, cost_others / doubt), cost_others * doubt);
    double work_ns = fmax((late.executions - others.executions) * cost_others, 0);
    double slower_ns = fmax(late.ns - others.ns - (late.executions - others.executions) * cost_others, 0);
    return work_ns + slower_ns > 0 ? work_ns / (work_ns + slower_ns) : 1;
}

void work_begin(struct work *work, struct executions *executions)
{
    *work = (struct work){.executions = executions};
    work->points = arena_array(&work->arena, struct work_form, executions->trace->n_points + 1);
    work->frames = arena_array(&work->arena, struct work_form, executions->trace->n_frames + 1);
}

void work_release(struct work *work)
{
    vec_release(&work->effects);
    sparse_release(&work->sum);
    map_release(&work->heavier);
    vec_release(&work->more);
    arena_release(&work->arena);
}

void work_add_weight(struct work *work, const struct counts_block *block, double more)
{
    bool is_new;
    uint64_t *index = map_put(&work->heavier, (uint64_t)(uintptr_t)block, &is_new);
    if (is_new) {
        *vec_push(&work->more) = 0;
        *index = work->more.n;
    }
    work->more.at[*index - 1] += more;
}

double work_weight(const struct work *work, const struct counts_block *block)
{
    const uint64_t *more = map_get(&work->heavier, (uint64_t)(uintptr_t)block);
    return more ? work->more.at[*more - 1] : 0;
}

/* Adds the effects on blocks of a module to the places that the blocks lie in. */
static void add_effects(struct work *work, uint32_t module, const struct counts *counts)
{
    for (size_t i = 0; i < work->effects.n; i++) {
        const struct counts_effect *effect = &work->effects.at[i];
        const struct counts_function *function = counts_function(counts, effect->function);
        uint32_t place = executions_block_place(work->executions, module, function, effect->block);
        double length = executions_block_length(work->executions, module, function, effect->block) +
                        work_weight(work, &function->blocks[effect->block]);
        if (place != CODE_NONE)
            sparse_add(&work->sum, place, (double)effect->executions * length);
    }
}

static void form_keep(struct work *work, struct work_form *form)
{
    sparse_pack(&work->sum);
    *form = (struct work_form){.is_known = true,
                               .at = arena_copy(&work->arena, work->sum.at, work->sum.n * sizeof *work->sum.at),
                               .n = work->sum.n};
    sparse_clear(&work->sum);
}

static const struct work_form *form_of(struct work *work, uint32_t what)
{
    const struct trace *trace = work->executions->trace;
    if (what & COUNT_FRAME) {
        uint32_t frame = what & ~COUNT_FRAME;
        if (!work->frames || frame >= trace->n_frames)
            return NULL;
        if (!work->frames[frame].is_known) {
            trace_walk (trace, at, frame) {
                const struct trace_frame *call = &trace->frames[at];
                struct counts *counts = call->is_return ? executions_module(work->executions, call->module) : NULL;
                uint32_t function = counts ? counts_frame_effects(counts, call->address, &work->effects) : CFG_NONE;
                if (function != CFG_NONE)
                    add_effects(work, call->module, counts);
            }
            form_keep(work, &work->frames[frame]);
        }
        return &work->frames[frame];
    }
    if (!work->points || what >= trace->n_points)
        return NULL;
    if (!work->points[what].is_known) {
        const struct trace_point *point = &work->executions->trace->points[what];
        struct counts *counts = point->is_bytes ? NULL : executions_module(work->executions, point->module);
        uint32_t function = counts ? counts_point_effects(counts, point->number, &work->effects) : CFG_NONE;
        if (function != CFG_NONE)
            add_effects(work, point->module, counts);
        form_keep(work, &work->points[what]);
    }
    return &work->points[what];
}

void work_measure(struct work *work, const struct sparse *counts, struct sparse *out)
{
    sparse_clear(out);
    for (size_t i = 0; i < counts->n; i++) {
        const struct work_form *form = form_of(work, (uint32_t)counts->at[i].key);
        for (size_t j = 0; form && j < form->n; j++)
            sparse_add(out, form->at[j].key, form->at[j].ns * counts->at[i].ns);
    }
    sparse_pack(out);
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].ns > 0)
            out->at[n++] = out->at[i];
    out->n = out->n_packed = n;
}

struct spot {
    uint32_t place, depth, copy;
    uint32_t n_pieces, n_basic; /* that it lies in; of these basic blocks it may share some with others */
    double instructions;
    bool asks;               /* turns.h */
    const struct part *best; /* which part tells; while finding */
};

/* The part of one piece of a counted block that lies in one basic block of the machine code. */
struct part {
    uint64_t basic; /* where the basic block begins */
    uint32_t block, piece;
    bool is_first; /* of its piece */
    struct code_run run;
};

struct finding {
    struct code *code;
    uint32_t module;
    const struct counts_function *function;
    struct spot *spots; /* by block */
    VEC(struct part) parts;
};

/* The number of the label at which the code behind this one ends. */
static uint32_t next_piece(const struct counts_function *function, uint32_t i)
{
    uint32_t next = i + 1;
    while (next < function->n_addresses && function->addresses[next].what != POINTS_CODE)
        next++;
    return next;
}

/* Of several labels at one address, the last one's block has the code. */
static bool is_piece(const struct counts_function *function, uint32_t i)
{
    uint32_t next = next_piece(function, i);
    return function->addresses[i].what == POINTS_CODE &&
           (next == function->n_addresses || function->addresses[next].address != function->addresses[i].address);
}

/* In how many loops of the compiler's a block lies: as many as of the machine code's, or more. */
static uint32_t depth_wanted(const struct counts_function *function, uint32_t block)
{
    uint32_t loop = function->blocks[block].loop;
    return loop < function->loops.n ? function->loops.at[loop].depth : 0;
}

/*
 * A label stands where the block changes, so what follows is the block's up to the next one. Several basic blocks may
 * hold it: if code moved ahead of a loop stands right before it, the label is there, and the loop has none. But what
 * lies in more loops than the block does is somebody else's.
 */
static void add_piece(struct finding *finding, uint32_t i)
{
    const struct counts_function *function = finding->function;
    uint32_t next = next_piece(function, i), block = function->addresses[i].block;
    uint64_t first = function->addresses[i].address, end = UINT64_MAX;
    if (next < function->n_addresses && function->addresses[next].address > first)
        end = function->addresses[next].address;
    for (uint64_t at = first; at < end;) {
        struct code_run run = code_run_at(finding->code, finding->module, at, end);
        if (run.end <= at)
            break;
        end = end < run.routine_end ? end : run.routine_end;
        if (at == first || run.depth <= depth_wanted(function, block))
            *vec_push(&finding->parts) = (struct part){run.basic, block, i, at == first, run};
        at = run.end;
    }
}

/*
 * Code as deep as the block says most. Deeper, it is a copy of it in a loop that the compiler made later: the rarely
 * run one of two copies of a loop goes round inside the way back from it. Less deep, it was moved out of its loop. A
 * label tells more than the way on from it, and of equals the one that stands before more instructions.
 */
static bool tells_more(const struct counts_function *function, const struct part *part, const struct part *than)
{
    uint32_t wanted = depth_wanted(function, part->block);
    bool is_right = part->run.depth == wanted;
    if (is_right != (than->run.depth == wanted))
        return is_right;
    if (part->run.depth != than->run.depth)
        return part->run.depth > than->run.depth;
    if (part->is_first != than->is_first)
        return part->is_first;
    return part->run.n_instructions > than->run.n_instructions;
}

static int part_compare(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    return order_of(left->basic, right->basic) ?: order_of(left->piece, right->piece);
}

/* The end of the parts that share a basic block with the first. */
static size_t basic_end(const struct finding *finding, size_t first)
{
    size_t end = first;
    while (end < finding->parts.n && finding->parts.at[end].basic == finding->parts.at[first].basic)
        end++;
    return end;
}

static bool is_at_home(const struct finding *finding, const struct part *part)
{
    const struct spot *spot = &finding->spots[part->block];
    return part->run.depth == spot->depth && part->run.place == spot->place;
}

/* Of several pieces an execution runs through one, of a piece through all of its basic blocks. */
static void find_instructions(struct finding *finding)
{
    struct arena scratch = {0};
    bool *is_seen = arena_array(&scratch, bool, finding->function->n_addresses); /* by piece */
    for (size_t first = 0, end; first < finding->parts.n; first = end) {
        end = basic_end(finding, first);
        for (size_t i = first; i < end; i++) {
            const struct part *part = &finding->parts.at[i];
            bool is_first = is_at_home(finding, part);
            for (size_t k = first; k < i && is_first; k++)
                is_first = finding->parts.at[k].block != part->block || !is_at_home(finding, &finding->parts.at[k]);
            finding->spots[part->block].n_basic += is_first;
        }
    }
    for (size_t first = 0, end; first < finding->parts.n; first = end) {
        end = basic_end(finding, first);
        /* The block that is executed as often as the basic block, or nearly: compilers repeat the code of blocks to
         * which several ways lead, so that is the one that lies in the fewest. NULL when all of them were moved there.
         */
        const struct part *owner = NULL;
        for (size_t i = first; i < end; i++) {
            const struct part *part = &finding->parts.at[i];
            if (is_at_home(finding, part) &&
                (!owner || finding->spots[part->block].n_basic < finding->spots[owner->block].n_basic))
                owner = part;
        }
        if (!owner)
            continue;
        struct spot *spot = &finding->spots[owner->block];
        for (size_t i = first; i < end; i++)
            spot->instructions += finding->parts.at[i].run.n_instructions;
        spot->n_pieces += !is_seen[owner->piece];
        is_seen[owner->piece] = true;
    }
    for (uint32_t b = 0; b < finding->function->n_blocks; b++)
        if (finding->spots[b].n_pieces)
            finding->spots[b].instructions /= finding->spots[b].n_pieces;
    arena_release(&scratch);
}

/* The block that stands for the copy which a block belongs to: a smaller one or itself. */
static uint32_t copy_of(const struct spot *spots, uint32_t block)
{
    while (spots[block].copy != block)
        block = spots[block].copy;
    return block;
}

/* Blocks of one place that have this in common are of one copy. */
static void join_copies(struct spot *spots, struct map *first, uint32_t block, uint32_t in_common)
{
    bool is_new;
    uint64_t *slot = map_put(first, key_pair(spots[block].place, in_common), &is_new);
    if (is_new)
        *slot = block;
    uint32_t a = copy_of(spots, (uint32_t)*slot), b = copy_of(spots, block);
    spots[a < b ? b : a].copy = a < b ? a : b;
}

/* A loop in another one of the same place is no copy of it: both begin on one line. */
static void join_nested(struct finding *finding, struct map *by_loop, uint32_t block)
{
    const struct cfg_loops *loops = &finding->function->loops;
    for (uint32_t loop = finding->function->blocks[block].loop; loop < loops->n; loop = loops->at[loop].parent)
        if (map_get(by_loop, key_pair(finding->spots[block].place, loop)))
            join_copies(finding->spots, by_loop, block, loop);
}

/* A compiler makes several loops of one: where it inlines a routine twice, uses vectors in one, or asks a condition in
 * one only. Of code outside loops, each inlining is a copy. */
static void find_copies(struct finding *finding)
{
    const struct counts_function *function = finding->function;
    struct map by_loop = {0}, by_inlining = {0};
    for (uint32_t b = 0; b < function->n_blocks; b++)
        finding->spots[b].copy = b;
    for (uint32_t b = 0; b < function->n_blocks; b++) {
        const struct counts_block *block = &function->blocks[b];
        if (finding->spots[b].place == CODE_NONE)
            continue;
        if (block->loop != CFG_NONE)
            join_copies(finding->spots, &by_loop, b, block->loop);
        for (uint32_t i = 0; i < block->n_lines && block->loop == CFG_NONE; i++)
            join_copies(finding->spots, &by_inlining, b, block->lines[i].copy);
    }
    for (uint32_t b = 0; b < function->n_blocks; b++)
        if (finding->spots[b].place != CODE_NONE)
            join_nested(finding, &by_loop, b);
    map_release(&by_loop);
    map_release(&by_inlining);
}

static struct spot *spots_find(struct arena *arena, struct code *code, uint32_t module,
                               const struct counts_function *function)
{
    struct finding finding = {.code = code,
                              .module = module,
                              .function = function,
                              .spots = arena_array(arena, struct spot, function->n_blocks)};
    for (uint32_t b = 0; b < function->n_blocks; b++)
        finding.spots[b].place = CODE_NONE;
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        if (function->addresses[i].what != POINTS_CODE) {
            const struct points_address *at = &finding.function->addresses[i];
            struct code_run run = code_run_at(finding.code, finding.module, at->address - 1, at->address);
            run.n_instructions = 0;
            if (run.place != CODE_NONE)
                *vec_push(&finding.parts) = (struct part){run.basic, at->block, i, true, run};
        } else if (is_piece(function, i))
            add_piece(&finding, i);
    }
    vec_sort(&finding.parts, part_compare);
    /* A block is where the part is that tells most. */
    for (size_t i = 0; i < finding.parts.n; i++) {
        const struct part *part = &finding.parts.at[i];
        struct spot *spot = &finding.spots[part->block];
        if (!spot->best || tells_more(finding.function, part, spot->best))
            *spot = (struct spot){.place = part->run.place, .depth = part->run.depth, .best = part};
    }
    find_instructions(&finding);
    for (uint32_t i = 0; i < function->n_addresses; i++) { /* nothing but labels is left of a block */
        struct spot *spot = &finding.spots[function->addresses[i].block];
        if (function->addresses[i].what == POINTS_CODE && spot->place == CODE_NONE)
            spot->place = code_place_at(code, module, function->addresses[i].address);
    }
    find_copies(&finding);
    bool *asks = arena_array(arena, bool, function->n_blocks);
    for (uint32_t l = 0; l < function->loops.n; l++)
        turns_find_asking(function, l, asks);
    for (uint32_t b = 0; b < function->n_blocks; b++)
        finding.spots[b].asks = asks[b];
    vec_release(&finding.parts);
    return finding.spots;
}

static const struct spot *spot_of(struct block_places *places, struct code *code, uint32_t module,
                                  const struct counts_function *function, uint32_t block)
{
    bool is_new;
    uint64_t *slot = map_put(&places->of_function, (uint64_t)(uintptr_t)function, &is_new);
    if (is_new)
        *slot = (uint64_t)(uintptr_t)spots_find(&places->arena, code, module, function);
    return &((const struct spot *)(uintptr_t)*slot)[block];
}

uint32_t block_place(struct block_places *places, struct code *code, uint32_t module,
                     const struct counts_function *function, uint32_t block)
{
    return spot_of(places, code, module, function, block)->place;
}

uint32_t block_copy(struct block_places *places, struct code *code, uint32_t module,
                    const struct counts_function *function, uint32_t block)
{
    return copy_of(spot_of(places, code, module, function, block) - block, block);
}

bool block_asks(struct block_places *places, struct code *code, uint32_t module, const struct counts_function *function,
                uint32_t block)
{
    return spot_of(places, code, module, function, block)->asks;
}

double block_instructions(struct block_places *places, struct code *code, uint32_t module,
                          const struct counts_function *function, uint32_t block)
{
    return spot_of(places, code, module, function, block)->instructions;
}

const struct block_calls *block_calls_of(struct block_places *places, struct code *code, uint32_t module,
                                         const struct counts_function *function)
{
    bool is_new;
    uint64_t *slot = map_put(&places->calls, (uint64_t)(uintptr_t)function, &is_new);
    if (is_new) {
        struct block_calls *calls = arena_new(&places->arena, struct block_calls);
        calls->at = arena_array(&places->arena, struct block_call, function->n_addresses);
        for (uint32_t i = 0; i < function->n_addresses; i++) {
            const struct points_address *at = &function->addresses[i];
            uint32_t place = at->what == POINTS_RETURN ? code_known_call(code, module, at->address - 1) : CODE_NONE;
            if (place != CODE_NONE)
                calls->at[calls->n++] = (struct block_call){at->block, place};
        }
        *slot = (uint64_t)(uintptr_t)calls;
    }
    return (const struct block_calls *)(uintptr_t)*slot;
}

void block_places_release(struct block_places *places)
{
    map_release(&places->calls);
    map_release(&places->of_function);
    arena_release(&places->arena);
}
