/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/counts/block_places.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

struct spot {
    uint32_t place, depth, copy;
    uint32_t n_pieces, n_basic; /* that it lies in; of these basic blocks it may share some with others */
    double instructions;
    const struct part *best; /* which part tells; while finding */
};

/* What of one piece of a counted block lies in one basic block of the machine code. */
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
 * A label stands where the block changes, so what follows is the block's up to the next one. That may be several basic
 * blocks: where code moved ahead of a loop stands right before it, the label is there, and the loop has none. But what
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
 * What lies as deep as the block does tells most. Deeper, it is a copy of it in a loop that the compiler made later:
 * the rarely run one of two copies of a loop goes round inside the way back from it. Less deep, it was moved out of its
 * loop. A label tells more than the way on from it, and of equals the one that stands before more instructions.
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
    if (left->basic != right->basic)
        return left->basic < right->basic ? -1 : 1;
    return (left->piece > right->piece) - (left->piece < right->piece);
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

/* Loops that a compiler made several of, to use vectors in one, come from one inlining of their routine; those of two
 * inlinings are copies of each other. */
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
        join_copies(finding->spots, &by_loop, b, block->loop);
        for (uint32_t i = 0; i < block->n_lines; i++)
            join_copies(finding->spots, &by_inlining, b, block->lines[i].copy);
    }
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
    if (finding.parts.n)
        qsort(finding.parts.at, finding.parts.n, sizeof *finding.parts.at, part_compare);
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

double block_instructions(struct block_places *places, struct code *code, uint32_t module,
                          const struct counts_function *function, uint32_t block)
{
    return spot_of(places, code, module, function, block)->instructions;
}

static struct block_calls *calls_find(struct arena *arena, struct code *code, uint32_t module,
                                      const struct counts_function *function)
{
    struct block_calls *calls = arena_new(arena, struct block_calls);
    calls->at = arena_array(arena, struct block_call, function->n_addresses);
    for (uint32_t i = 0; i < function->n_addresses; i++) {
        const struct points_address *at = &function->addresses[i];
        uint32_t place = at->what == POINTS_RETURN ? code_known_call(code, module, at->address - 1) : CODE_NONE;
        if (place != CODE_NONE)
            calls->at[calls->n++] = (struct block_call){at->block, place};
    }
    return calls;
}

const struct block_calls *block_calls_of(struct block_places *places, struct code *code, uint32_t module,
                                         const struct counts_function *function)
{
    bool is_new;
    uint64_t *slot = map_put(&places->calls, (uint64_t)(uintptr_t)function, &is_new);
    if (is_new)
        *slot = (uint64_t)(uintptr_t)calls_find(&places->arena, code, module, function);
    return (const struct block_calls *)(uintptr_t)*slot;
}

void block_places_release(struct block_places *places)
{
    map_release(&places->calls);
    map_release(&places->of_function);
    arena_release(&places->arena);
}
