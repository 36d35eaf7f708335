/* SPDX-License-Identifier: BSD-3-Clause */
/* Which routine a call goes to: the instruction that ends at the return address, decoded with the block it is in. A
 * jump there is a tail call. */
#include "analyze/code/graph.h"
#include "analyze/code/model.h"
#include "analyze/code/names.h"

/* The call that ends at `end`, in the block that begins at `lo`; flow is FLOW_NEXT when there is none. */
static struct insn call_before(const struct module *module, uint64_t lo, uint64_t end)
{
    struct insn call = {.flow = FLOW_NEXT};
    insns list = {0};
    decoder_read(module->decoder, &module->image, lo, end, &list);
    if (list.n && list.at[list.n - 1].address + list.at[list.n - 1].size == end)
        call = list.at[list.n - 1];
    vec_release(&list);
    return call;
}

bool code_callee_at(struct code *code, uint32_t module_id, uint64_t return_address, struct code_callee *callee)
{
    struct module *module = module_get(code, module_id);
    const struct model *model = model_at(code, module_id, return_address - 1);
    const struct model_block *block = model ? model_block_at(model, return_address - 1) : NULL;
    if (!block || !module->decoder)
        return false;
    struct insn call = call_before(module, block->lo, return_address);
    bool is_direct =
        call.flow == FLOW_CALL || call.flow == FLOW_JUMP || (call.flow == FLOW_INDIRECT_CALL && call.target);
    if (!is_direct)
        return false;
    uint32_t routine = routines_find(&module->routines, call.target);
    bool is_here = routine != ROUTINE_NONE && module->routines.at[routine].lo == call.target;
    const char *linked =
        is_here ? module->routines.at[routine].name : stub_name(module->decoder, &module->image, call.target);
    if (!is_here && !linked)
        return false;
    *callee = (struct code_callee){.address = is_here ? call.target : 0,
                                   .name = linked ? name_readable(&code->arena, linked) : NULL};
    return true;
}
