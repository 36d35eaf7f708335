/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks begin at the entry, at targets of jumps, after instructions that do not fall through, and at landing pads of
 * exceptions. Edges: jumps within the routine, fall through, tables of a switch, and from calls to their landing pads.
 * A jump out of the routine is a tail call and ends the path, as does a call that does not return: code behind `call
 * exit` belongs to something else, and falling into it would make loops that are none.
 *
 * Code that nothing leads to hangs off the unresolved indirect jumps if there are any (they must go somewhere), else
 * off the entry. A loop in it is found all the same. Where several jumps share one table (computed gotos), unresolved
 * ones lead there too: the compiler has loaded their label far away.
 */
#include "analyze/code/graph.h"
#include <string.h>

typedef VEC(uint64_t) jump_targets;
/* The targets of the indirect jump insns[jump]. None when no table is recognised (below). Returns where the table is.
 */
static uint64_t jump_table_read(const struct image *image, const struct graph *graph, uint32_t jump,
                                jump_targets *targets);

/* The instruction that starts at an address; CFG_NONE. */
static uint32_t graph_insn_at(const struct graph *graph, uint64_t address)
{
    size_t lo = 0;
    bisect(lo, graph->insns.n, graph->insns.at[lo].address < address);
    return lo < graph->insns.n && graph->insns.at[lo].address == address ? (uint32_t)lo : CFG_NONE;
}

const char *stub_name(struct decoder *decoder, const struct image *image, uint64_t target)
{
    const uint64_t *slot = map_get(&image->slots, target);
    const struct image_section *section = image_section_at(image, target);
    const char *name = slot != NULL ? (const char *)(uintptr_t)*slot : NULL;
    if (section == NULL || !section->is_stub || !section->is_code)
        return name;
    insns list = {0};
    uint64_t end = section->hi - target < 32 ? section->hi : target + 32;
    decoder_read(decoder, image, target, end, &list);
    for (size_t i = 0; i < list.n && name == NULL; i++)
        if (list.at[i].flow == FLOW_INDIRECT_JUMP) {
            slot = map_get(&image->slots, list.at[i].target);
            name = slot != NULL ? (const char *)(uintptr_t)*slot : NULL;
            break;
        }
    vec_release(&list);
    return name;
}

enum { MAX_SPIN = 64 }; /* instructions of a loop that does nothing */

/* Calls between two looks. What they return tells nothing of earlier rounds. */
static bool is_idle_call(struct decoder *decoder, const struct image *image, const struct insn *in)
{
    static const char *const names[] = {"sched_yield", "thrd_yield", "pthread_yield", "usleep", "nanosleep", "sleep"};
    bool is_direct = in->flow == FLOW_CALL || (in->flow == FLOW_INDIRECT_CALL && in->target);
    const char *name = is_direct ? stub_name(decoder, image, in->target) : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && name; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* False for what a loop that spins has no use for. */
static bool add_to_spin(struct spin *spin, struct decoder *decoder, const struct image *image, const struct insn *in)
{
    struct spin_insn effect;
    bool is_call = in->flow == FLOW_CALL || in->flow == FLOW_INDIRECT_CALL;
    bool may_be = in->flow == FLOW_NEXT || in->flow == FLOW_NOP || in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH;
    if (!(may_be || (is_call && is_idle_call(decoder, image, in))) || !decoder_effect(decoder, image, in, &effect))
        return false;
    spin_add(spin, &effect);
    return true;
}

bool graph_loop_spins(const struct graph *graph, struct decoder *decoder, const struct image *image,
                      const struct cfg_loop *loop)
{
    struct spin spin = {0};
    uint32_t n_left = MAX_SPIN;
    for (uint32_t b = 0; b < loop->n_blocks; b++) {
        const struct graph_block *block = &graph->blocks.at[loop->blocks[b]];
        spin_block(&spin);
        if (block->n > n_left)
            return false;
        n_left -= block->n;
        for (uint32_t i = 0; i < block->n; i++)
            if (!add_to_spin(&spin, decoder, image, &graph->insns.at[block->first + i]))
                return false;
    }
    return spin_is_found(&spin);
}

struct jump {
    uint32_t from, to; /* instructions */
};

/* Bounds that damaged code reaches and real code does not. */
enum { MAX_ADOPTERS = 16, MAX_TABLES = 4096, MAX_PAD_STEPS = 1 << 24 };

/* Everything needed while a graph is built. */
struct builder {
    struct graph *graph;
    struct decoder *decoder;
    const struct image *image;
    const struct routines *routines;
    const struct intern *noreturn; /* names; NULL = none */
    unsigned char *is_leader;      /* by instruction */
    uint32_t *block_of;            /* by instruction: block */
    VEC(struct jump) edges;
    VEC(uint32_t) unresolved; /* instructions */
    uint64_t last_table;
    uint32_t shares_table; /* a jump whose table another one has as well; 0 = there is none */
    uint32_t n_tables, n_pad_steps;
};

static bool is_noreturn_call(const struct builder *b, const struct insn *in)
{
    if (in->flow != FLOW_CALL && (in->flow != FLOW_INDIRECT_CALL || in->target == 0))
        return false;
    uint32_t callee = routines_find(b->routines, in->target);
    const char *name = NULL;
    if (callee != ROUTINE_NONE && b->routines->at[callee].lo == in->target)
        name = b->routines->at[callee].name;
    else if (callee == ROUTINE_NONE)
        name = stub_name(b->decoder, b->image, in->target);
    if (name == NULL)
        return false;
    return name_is_noreturn(name) ||
           (b->noreturn != NULL && intern_find(b->noreturn, name, strlen(name)) != INTERN_NONE);
}

static void add_jump(struct builder *b, uint32_t from, uint64_t target)
{
    uint32_t to = graph_insn_at(b->graph, target);
    if (to == CFG_NONE) {
        *vec_push(&b->graph->escapes) = target;
        return;
    }
    *vec_push(&b->edges) = (struct jump){from, to};
    b->is_leader[to] = 1;
}

static void add_table(struct builder *b, uint32_t from, const jump_targets *targets)
{
    for (size_t i = 0; i < targets->n; i++)
        add_jump(b, from, targets->at[i]);
}

static void find_table_of(struct builder *b, uint32_t jump)
{
    jump_targets targets = {0};
    uint64_t table = b->n_tables++ < MAX_TABLES ? jump_table_read(b->image, b->graph, jump, &targets) : 0;
    if (targets.n == 0)
        *vec_push(&b->unresolved) = jump;
    else if (table == b->last_table)
        b->shares_table = jump;
    b->last_table = targets.n ? table : b->last_table;
    add_table(b, jump, &targets);
    vec_release(&targets);
}

static void follow_shared_table(struct builder *b)
{
    jump_targets targets = {0};
    if (b->shares_table && b->unresolved.n)
        jump_table_read(b->image, b->graph, b->shares_table, &targets);
    for (size_t i = 0; i < b->unresolved.n && i < MAX_ADOPTERS; i++)
        add_table(b, b->unresolved.at[i], &targets);
    vec_release(&targets);
}

/* Calls that do not return become ends first, because bounds of tables are searched backwards through the code. */
static void find_jumps(struct builder *b)
{
    insns *list = &b->graph->insns;
    for (uint32_t i = 0; i < list->n; i++)
        if (is_noreturn_call(b, &list->at[i]))
            list->at[i].flow = FLOW_END;
    for (uint32_t i = 0; i < list->n; i++) {
        struct insn *in = &list->at[i];
        if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH)
            add_jump(b, i, in->target);
        else if (in->flow == FLOW_INDIRECT_JUMP)
            find_table_of(b, i);
        bool is_gap = i + 1 < list->n && in->address + in->size != list->at[i + 1].address;
        if (i + 1 < list->n && (in->flow == FLOW_BRANCH || !insn_falls_through(in) || is_gap))
            b->is_leader[i + 1] = 1;
    }
    follow_shared_table(b);
}

/* An edge from every block that calls under a landing pad to that pad. A block may hold several calls. */
static void add_pads(struct builder *b, const struct routine *part)
{
    eh_pads pads = {0};
    eh_read_pads(b->image, &(struct eh_routine){.lo = part->lo, .hi = part->hi, .lsda = part->lsda}, &pads);
    for (size_t p = 0; p < pads.n; p++) {
        uint32_t to = graph_insn_at(b->graph, pads.at[p].pad);
        if (to == CFG_NONE)
            continue;
        b->is_leader[to] = 1;
        for (uint32_t i = graph_insn_at(b->graph, pads.at[p].lo); i < b->graph->insns.n; i++) {
            const struct insn *in = &b->graph->insns.at[i];
            if (in->address >= pads.at[p].hi || in->address < pads.at[p].lo || b->n_pad_steps++ > MAX_PAD_STEPS)
                break;
            if (in->flow == FLOW_CALL || in->flow == FLOW_INDIRECT_CALL || in->flow == FLOW_END)
                *vec_push(&b->edges) = (struct jump){i, to};
        }
    }
    vec_release(&pads);
}

static void cut_blocks(struct builder *b)
{
    struct graph *graph = b->graph;
    for (uint32_t i = 0; i < graph->insns.n; i++) {
        const struct insn *in = &graph->insns.at[i];
        if (i == 0 || b->is_leader[i])
            *vec_push(&graph->blocks) = (struct graph_block){.lo = in->address, .first = i};
        struct graph_block *block = &graph->blocks.at[graph->blocks.n - 1];
        block->hi = in->address + in->size;
        block->n++;
        b->block_of[i] = (uint32_t)graph->blocks.n - 1;
    }
}

static void adopt_orphans(struct builder *b, const unsigned char *has_entry)
{
    struct graph *graph = b->graph;
    for (uint32_t i = 0; i < graph->blocks.n; i++) {
        const struct graph_block *block = &graph->blocks.at[i];
        bool is_padding = true;
        for (uint32_t k = 0; k < block->n && is_padding; k++)
            is_padding = graph->insns.at[block->first + k].flow == FLOW_NOP;
        if (has_entry[i] || i == graph->cfg.root || is_padding)
            continue;
        if (b->unresolved.n == 0)
            cfg_add_edge(&graph->cfg, graph->cfg.root, i);
        for (size_t u = 0; u < b->unresolved.n && u < MAX_ADOPTERS; u++)
            cfg_add_edge(&graph->cfg, b->block_of[b->unresolved.at[u]], i);
    }
}

static void build(struct builder *b, const uint32_t *parts, size_t n_parts)
{
    struct graph *graph = b->graph;
    find_jumps(b);
    for (size_t i = 0; i < n_parts; i++)
        add_pads(b, &b->routines->at[parts[i]]);
    cut_blocks(b);
    uint32_t entry = graph_insn_at(graph, b->routines->at[parts[0]].lo);
    cfg_init(&graph->cfg, (uint32_t)graph->blocks.n, entry != CFG_NONE ? b->block_of[entry] : 0);
    unsigned char *has_entry = arena_alloc(&graph->cfg.arena, graph->blocks.n);
    for (size_t i = 0; i < b->edges.n; i++) {
        uint32_t to = b->block_of[b->edges.at[i].to];
        cfg_add_edge(&graph->cfg, b->block_of[b->edges.at[i].from], to);
        has_entry[to] = 1;
    }
    for (uint32_t i = 0; i + 1 < graph->blocks.n; i++) {
        const struct graph_block *block = &graph->blocks.at[i];
        const struct insn *last = &graph->insns.at[block->first + block->n - 1];
        if (insn_falls_through(last) && block->hi == graph->blocks.at[i + 1].lo) {
            cfg_add_edge(&graph->cfg, i, i + 1);
            has_entry[i + 1] = 1;
        }
    }
    adopt_orphans(b, has_entry);
    cfg_finish(&graph->cfg);
}

bool graph_build(struct graph *graph, struct decoder *decoder, const struct image *image,
                 const struct routines *routines, const uint32_t *parts, size_t n_parts, const struct intern *noreturn)
{
    struct builder b = {graph, decoder, image, routines, noreturn, .is_leader = NULL};
    struct arena scratch = {0};
    memset(graph, 0, sizeof *graph);
    if (n_parts > MAX_PARTS)
        n_parts = MAX_PARTS;
    uint32_t sorted[MAX_PARTS];
    for (size_t i = 0; i < n_parts; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > parts[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = parts[i];
    }
    for (size_t i = 0; i < n_parts; i++) {
        const struct routine *part = &b.routines->at[sorted[i]];
        decoder_read(b.decoder, b.image, part->lo, part->hi, &b.graph->insns);
    }
    if (graph->insns.n > 0) {
        b.is_leader = arena_alloc(&scratch, graph->insns.n);
        b.block_of = arena_array(&scratch, uint32_t, graph->insns.n);
        build(&b, parts, n_parts);
    }
    vec_release(&b.edges);
    vec_release(&b.unresolved);
    arena_release(&scratch);
    return graph->insns.n > 0;
}

void graph_release(struct graph *graph)
{
    cfg_release(&graph->cfg);
    vec_release(&graph->insns);
    vec_release(&graph->blocks);
    vec_release(&graph->escapes);
}

/*
 * Targets of a switch. These forms are known, searched backwards from the jump in address order:
 *     jmp *table(,%index,8)                          or the same through a load: 8-byte addresses
 *     lea table(%rip), %base; movslq (%base,%index,4), %r; add %base, %r; jmp *%r
 *                                                    4-byte offsets from the table
 *     adr base; ldrb entry, [table, index]; add r, base, entry, sxtb 2; br r
 *                                                    aarch64: offsets of 1, 2 or 4 bytes in instructions from a base
 * The comparison (or mask) before it bounds the table; every entry must lead to an instruction of the routine or, when
 * the bound is known, of its out-of-line part, so that a wrong guess ends the table and nothing else.
 */

enum { SEARCH_BACK = 48, SEARCH_ADDRESS = 20000, MAX_ENTRIES = 4096, MAX_UNBOUNDED = 512 };

/* An entry e leads to base + e * unit. */
struct table {
    uint64_t address, base;
    uint8_t width, unit;
    bool is_signed;
    uint32_t user; /* instruction that reads it */
};

static uint32_t window_start(uint32_t from)
{
    return from > SEARCH_BACK ? from - SEARCH_BACK : 0;
}

/* The constant that `reg` holds at `before`: the nearest setting, or (when the compiler moved it away) any one. */
static bool find_address(const struct graph *graph, uint32_t before, uint8_t reg, uint64_t *address)
{
    for (uint32_t i = before; i-- > 0 && before - i < SEARCH_ADDRESS;) {
        const struct insn *in = &graph->insns.at[i];
        if (in->data == DATA_ADDRESS && in->reg == reg) {
            *address = (uint64_t)in->value;
            return true;
        }
    }
    for (uint32_t i = before; i < graph->insns.n && i - before < SEARCH_ADDRESS; i++) {
        const struct insn *in = &graph->insns.at[i];
        if (in->data == DATA_ADDRESS && in->reg == reg) {
            *address = (uint64_t)in->value;
            return true;
        }
    }
    return false;
}

/* load: reg = [base + index * scale + value]. */
static bool address_of_load(const struct graph *graph, uint32_t load, struct table *table)
{
    const struct insn *in = &graph->insns.at[load];
    if (in->index == 0 && in->base == 0)
        return false;
    if (in->base == 0 || in->index == 0) {
        table->address = (uint64_t)in->value;
        return in->value > 4096;
    }
    if (in->scale != in->width && in->scale != 1)
        return false;
    return find_address(graph, load, in->base, &table->address) ||
           (in->scale == 1 && find_address(graph, load, in->index, &table->address));
}

/* What the load finds is where control goes, or (sum != CFG_NONE) is added to a base. */
static bool table_of_load(const struct graph *graph, uint32_t load, uint32_t sum, struct table *table)
{
    const struct insn *at = graph->insns.at, *in = &at[load];
    table->user = load;
    table->width = in->width;
    table->unit = sum != CFG_NONE && at[sum].scale > 1 ? at[sum].scale : 1;
    table->is_signed = in->is_signed || (sum != CFG_NONE && at[sum].is_signed);
    if (!address_of_load(graph, load, table))
        return false;
    if (table->unit > 1)
        return find_address(graph, sum, at[sum].base, &table->base);
    table->base = in->width == 8 ? 0 : table->address;
    return in->width == 8 || (in->width == 4 && table->is_signed);
}

static bool find_table(const struct graph *graph, uint32_t jump, struct table *table)
{
    const struct insn *at = graph->insns.at;
    if (at[jump].data == DATA_LOAD)
        return table_of_load(graph, jump, CFG_NONE, table);
    uint8_t reg = at[jump].reg;
    uint32_t sum = CFG_NONE;
    for (uint32_t i = jump; i-- > window_start(jump);) {
        if (at[i].flow == FLOW_END || at[i].flow == FLOW_JUMP || at[i].flow == FLOW_INDIRECT_JUMP)
            return false;
        if (at[i].data == DATA_ADD && at[i].reg == reg && sum == CFG_NONE)
            sum = i;
        else if (at[i].data == DATA_LOAD &&
                 (sum == CFG_NONE ? at[i].reg == reg
                                  : at[i].reg == at[sum].index || (at[sum].scale == 1 && at[i].reg == at[sum].base)))
            return table_of_load(graph, i, sum, table);
    }
    return false;
}

/* Number of entries that the nearest comparison with a constant, or mask, allows; 0 = none found. */
static uint32_t find_bound(const struct graph *graph, uint32_t before)
{
    for (uint32_t i = before; i-- > window_start(before);) {
        const struct insn *in = &graph->insns.at[i];
        if (in->data == DATA_COMPARE && in->value > 0 && in->value < MAX_ENTRIES && i + 1 < graph->insns.n)
            return (uint32_t)in->value + 1;
        if (in->data == DATA_MASK && in->value > 0 && in->value < MAX_ENTRIES && (in->value & (in->value + 1)) == 0)
            return (uint32_t)in->value + 1;
    }
    return 0;
}

static uint64_t target_of_entry(const struct table *table, const uint8_t *entry)
{
    uint64_t value = 0;
    unsigned unused = 64 - 8u * table->width;
    memcpy(&value, entry, table->width);
    if (table->is_signed)
        value = (uint64_t)((int64_t)(value << unused) >> unused);
    return table->base + value * table->unit;
}

static uint64_t jump_table_read(const struct image *image, const struct graph *graph, uint32_t jump,
                                jump_targets *targets)
{
    struct table table = {0};
    if (!find_table(graph, jump, &table))
        return 0;
    uint32_t bound = find_bound(graph, table.user);
    uint32_t n = bound > 0 ? bound : MAX_UNBOUNDED;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *entry = image_bytes(image, table.address + (uint64_t)i * table.width, table.width);
        if (entry == NULL)
            break;
        uint64_t target = target_of_entry(&table, entry);
        /* An entry of a table of known length may lead to an out-of-line part. The others end where they leave the
         * routine. */
        const struct image_section *section = image_section_at(image, target);
        bool is_code = bound > 0 && section != NULL && section->is_code;
        if (!is_code && graph_insn_at(graph, target) == CFG_NONE)
            break;
        *vec_push(targets) = target;
    }
    return table.address;
}
