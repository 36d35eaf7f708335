/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/ways.h"

/* The innermost frame of the routine in each stack is asked about. */
static void passing_find(const struct ways *ways, uint32_t module, uint64_t block, struct passing *passing)
{
    const struct trace *trace = ways->tree->sites->trace;
    struct code *code = ways->tree->sites->code;
    struct arena scratch = {0};
    enum { OUTSIDE, INSIDE, BEHIND };
    uint8_t *where = arena_array(&scratch, uint8_t, trace->n_frames + 1);
    uint32_t routine = code_routine_number(code, module, block);
    for (uint32_t i = 0; i < trace->n_frames; i++) {
        const struct trace_frame *frame = &trace->frames[i];
        uint64_t address = trace_code_address(frame->address, frame->is_return);
        if (frame->module == module && code_routine_number(code, module, address) == routine)
            where[i] = code_is_behind(code, module, block, address) ? BEHIND : INSIDE;
        else
            where[i] = frame->parent < i ? where[frame->parent] : OUTSIDE;
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
