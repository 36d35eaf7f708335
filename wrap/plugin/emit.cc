// SPDX-License-Identifier: BSD-3-Clause
/*
 * From blocks to addresses, and into the assembler file.
 *
 * Between the last GIMPLE pass and the assembler lie sixty passes that know nothing of our blocks, but all of them keep
 * the locations of instructions, and a location may carry a range (for diagnostics). Every statement's location gets a
 * range that begins nowhere and "ends" at the number of its block; what the debug information is made from does not
 * change. When the instructions have their final order, labels are put where the block changes and behind calls.
 *
 * One of the sixty makes one call of two that look alike at the ends of different blocks, and its return address would
 * name one block of two. While that pass runs, each call is said to use the number of its block.
 *
 * The record of a function and its counters, in assembler. Both belong to the function's section, so that the linker
 * keeps or drops all three together: members of its COMDAT group where it has one, else the record is linked to the
 * function's section (SHF_LINK_ORDER), and the counters are needed by the code alone.
 */
#include "routine.h"
#include <algorithm>

namespace
{

location_t tag_location(location_t where, tree scope, uint32_t block, bool has_left)
{
    source_range range;
    range.m_start = UNKNOWN_LOCATION;
    range.m_finish = 2 * block + has_left;
    tree old_scope = LOCATION_BLOCK(where);
    return gcc_adhoc_location(LOCATION_LOCUS(where), range, old_scope ? old_scope : scope);
}

/* Block * 2 + has_left; 0 = not tagged (blocks of code are numbered from 2). */
uint32_t tag_of(location_t where)
{
    if (!IS_ADHOC_LOC(where))
        return 0;
    source_range range = get_range_from_loc(line_table, where);
    return range.m_start == UNKNOWN_LOCATION ? range.m_finish : 0;
}

/* The number of the inlined routine that a statement comes from; 0 = none. */
uint32_t copy_of(routine &r, location_t where)
{
    tree scope = LOCATION_BLOCK(where);
    while (scope && TREE_CODE(scope) == BLOCK && !inlined_function_outer_scope_p(scope))
        scope = BLOCK_SUPERCONTEXT(scope);
    if (!scope || TREE_CODE(scope) != BLOCK)
        return 0;
    for (size_t i = r.copies.size(); i-- > 0;)
        if (r.copies[i] == scope)
            return (uint32_t)i + 1;
    r.copies.push_back(scope);
    return (uint32_t)r.copies.size();
}

/* Each line once; that of a condition is the block's last. */
void add_line(routine &r, uint32_t block, location_t where, bool is_condition)
{
    expanded_location at = expand_location(where);
    if (!at.file || at.line <= 0)
        return;
    uint32_t copy = copy_of(r, where);
    for (size_t i = r.lines.size(); i-- > 0 && r.lines[i].block == block;)
        if (r.lines[i].number == (uint32_t)at.line && r.lines[i].copy == copy && !strcmp(r.lines[i].file, at.file)) {
            if (is_condition)
                std::rotate(r.lines.begin() + (long)i, r.lines.begin() + (long)i + 1, r.lines.end());
            return;
        }
    r.lines.push_back({block, at.file, (uint32_t)at.line, copy});
}

void tag_block(routine &r, uint32_t block)
{
    for (auto at = gsi_start_bb(r.blocks[block]); !gsi_end_p(at); gsi_next(&at)) {
        gimple *stmt = gsi_stmt(at);
        if (is_gimple_debug(stmt))
            continue;
        location_t where = gimple_location(stmt);
        gcall *call = dyn_cast<gcall *>(stmt);
        if (where == UNKNOWN_LOCATION && !call)
            continue; /* no line: a scope of its own would only split the debug information's ranges */
        bool has_left = call && (gimple_call_tail_p(call) || gimple_call_noreturn_p(call));
        add_line(r, block, where, is_a<gcond *>(stmt) || is_a<gswitch *>(stmt));
        gimple_set_location(stmt, tag_location(where, DECL_INITIAL(r.decl), block, has_left));
    }
}

/* The calls whose return addresses name blocks. */
std::vector<rtx_insn *> tagged_calls()
{
    std::vector<rtx_insn *> calls;
    for (rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn))
        if (CALL_P(insn) && !SIBLING_CALL_P(insn) && tag_of(INSN_LOCATION(insn)))
            calls.push_back(insn);
    return calls;
}

bool is_number_of_block(const_rtx used)
{
    return used && GET_CODE(XEXP(used, 0)) == USE && CONST_INT_P(XEXP(XEXP(used, 0), 0));
}

uint32_t new_label()
{
    return (uint32_t)CODE_LABEL_NUMBER(gen_label_rtx());
}

/* Turns an empty note into one that prints as a local label and is nothing else. */
void name_label(rtx_note *note, uint32_t number)
{
    NOTE_KIND(note) = NOTE_INSN_DELETED_LABEL;
    NOTE_DELETED_LABEL_NAME(note) = "";
    CODE_LABEL_NUMBER(note) = (int)number;
}

/* Straight-line code on the way through the instructions. */
struct run {
    uint32_t block = BLOCK_ROOT;  /* that the code belongs to up to here */
    bool is_at_start = true;      /* nothing of it has been met yet */
    rtx_insn *nameless = nullptr; /* its first instruction, while none of it has told its block */
};

/* Instructions made by the compiler have no location: at the beginning of straight-line code, which is executed as a
 * whole, they belong to the first instruction that has one. */
void label_instruction(routine &r, rtx_insn *insn, run *run)
{
    uint32_t tag = tag_of(INSN_LOCATION(insn));
    if (run->is_at_start)
        run->nameless = insn;
    run->is_at_start = JUMP_P(insn);
    if (!tag || tag / 2 >= r.blocks.size())
        return;
    if (tag / 2 != run->block) {
        run->block = tag / 2;
        r.labels.push_back({new_label(), run->block, POINTS_CODE});
        name_label(emit_note_before(NOTE_INSN_DELETED, run->nameless ? run->nameless : insn), r.labels.back().number);
    }
    run->nameless = nullptr;
    if (CALL_P(insn) && !SIBLING_CALL_P(insn)) {
        r.labels.push_back({new_label(), tag / 2, tag & 1 ? POINTS_LEFT : POINTS_RETURN});
        name_label(emit_note_after(NOTE_INSN_DELETED, insn), r.labels.back().number);
    }
}

} // namespace

void routine_tag_statements(routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.blocks.size(); b++)
        tag_block(r, b);
}

void routine_part_calls(const routine &)
{
    for (rtx_insn *call : tagged_calls()) {
        rtx number = gen_rtx_USE(VOIDmode, GEN_INT(tag_of(INSN_LOCATION(call))));
        CALL_INSN_FUNCTION_USAGE(call) = gen_rtx_EXPR_LIST(VOIDmode, number, CALL_INSN_FUNCTION_USAGE(call));
    }
}

void routine_rejoin_calls(const routine &)
{
    for (rtx_insn *call : tagged_calls())
        if (is_number_of_block(CALL_INSN_FUNCTION_USAGE(call)))
            CALL_INSN_FUNCTION_USAGE(call) = XEXP(CALL_INSN_FUNCTION_USAGE(call), 1);
}

void routine_emit_labels(routine &r)
{
    run run;
    rtx_insn *next;
    for (rtx_insn *insn = get_insns(); insn; insn = next) {
        next = NEXT_INSN(insn);
        if (NOTE_P(insn) && NOTE_KIND(insn) == NOTE_INSN_SWITCH_TEXT_SECTIONS)
            run.block = BLOCK_ROOT;
        if (LABEL_P(insn) || BARRIER_P(insn))
            run.is_at_start = true;
        if (NONDEBUG_INSN_P(insn) && !JUMP_TABLE_DATA_P(insn))
            label_instruction(r, insn, &run);
    }
    r.entry_label = new_label();
    name_label(emit_note_before(NOTE_INSN_DELETED, get_insns()), r.entry_label);
    if (DECL_COMDAT_GROUP(r.decl))
        r.group = IDENTIFIER_POINTER(DECL_COMDAT_GROUP(r.decl));
}

namespace
{

void emit_counters(const routine &r)
{
    if (r.group.empty())
        fprintf(asm_out_file, "\t.section .tbss.whywait.%u,\"awT\",@nobits\n", r.id);
    else
        fprintf(asm_out_file, "\t.section .tbss.whywait.%u,\"awTG\",@nobits,%s,comdat\n", r.id, r.group.c_str());
    fprintf(asm_out_file, "\t.balign 8\n.LWWc%u:\n", r.id);
    if (r.n_counters)
        fprintf(asm_out_file, "\t.zero %u\n", 8 * r.n_counters);
}

/* A section that the linker keeps or drops with the function. */
void begin_section(const routine &r, const char *name, const char *flags)
{
    if (r.group.empty())
        fprintf(asm_out_file, "\t.section %s,\"%so\",@progbits,.L%u,unique,%u\n", name, flags, r.entry_label, r.id);
    else
        fprintf(asm_out_file, "\t.section %s,\"%sG\",@progbits,%s,comdat\n", name, flags, r.group.c_str());
    fprintf(asm_out_file, "\t.balign 8\n");
}

/* The linker puts in where the counters are. */
void emit_offset(const routine &r)
{
    char name[32];
    begin_section(r, POINTS_OFFSETS, "a");
    fprintf(asm_out_file, ".LWWo%u:\n\t", r.id);
    snprintf(name, sizeof name, "*.LWWc%u", r.id);
    if (TARGET_ADDS_OFFSETS)
        fprintf(asm_out_file, "add x0, x0, #:dtprel_hi12:%s, lsl #12\n\tadd x0, x0, #:dtprel_lo12_nc:%s", name + 1,
                name + 1);
    else
        targetm.asm_out.output_dwarf_dtprel(asm_out_file, 8, gen_rtx_SYMBOL_REF(Pmode, ggc_strdup(name)));
    fputc('\n', asm_out_file);
}

void begin_record(const routine &r)
{
    begin_section(r, POINTS_SECTION, "");
    fprintf(asm_out_file, ".LWWr%u:\n", r.id);
}

/* A reference to a string, whose text follows in the mergeable section. */
class strings
{
  public:
    explicit strings(uint32_t id) : id_(id)
    {
    }
    void refer(const char *text)
    {
        fprintf(asm_out_file, "\t.long .LWWs%u_%u\n", id_, add(text ? text : ""));
    }
    void emit() const
    {
        fprintf(asm_out_file, "\t.section " POINTS_STRINGS ",\"MS\",@progbits,1\n");
        for (size_t i = 0; i < texts_.size(); i++) {
            fprintf(asm_out_file, ".LWWs%u_%zu:\n\t.string ", id_, i);
            output_quoted_string(asm_out_file, texts_[i].c_str());
            fputc('\n', asm_out_file);
        }
    }

  private:
    uint32_t add(const char *text)
    {
        for (size_t i = 0; i < texts_.size(); i++)
            if (texts_[i] == text)
                return (uint32_t)i;
        texts_.emplace_back(text);
        return (uint32_t)texts_.size() - 1;
    }
    uint32_t id_;
    std::vector<std::string> texts_;
};

int flags_of_calls(const routine &r)
{
    return (is_called(r.decl) ? POINTS_F_CALLED : 0) | (r.sites.empty() ? 0 : POINTS_F_CALLS);
}

/* Functions are numbered by their declarations. */
void emit_calls(const routine &r)
{
    if (!flags_of_calls(r))
        return;
    fprintf(asm_out_file, "\t.balign 8\n\t.quad .LWWseen\n\t.long %u, %zu\n", DECL_UID(r.decl), r.sites.size());
    for (const site &each : r.sites)
        fprintf(asm_out_file, "\t.long %u, %u, %u\n", each.block, DECL_UID(each.callee), each.counter);
}

void emit_header(const routine &r, strings &strings)
{
    FILE *out = asm_out_file;
    fprintf(out, "\t.long %u, .LWWe%u-.LWWr%u, %u, %u\n", POINTS_MAGIC, r.id, r.id, POINTS_VERSION,
            r.flags | flags_of_calls(r) | POINTS_F_OFFSET_APART | (TARGET_ADDS_OFFSETS ? POINTS_F_OFFSET_ADDED : 0));
    fprintf(out, "\t.quad .L%u, .LWWo%u\n", r.entry_label, r.id);
    fprintf(out, "\t.long %u, %u, %zu, %zu, %zu, %zu\n", r.n_counters, r.graph.n_blocks, (size_t)r.graph.edges.n,
            r.labels.size(), r.lines.size(), r.allocs.size());
    expanded_location where = expand_location(DECL_SOURCE_LOCATION(r.decl));
    strings.refer(routine_symbol(r.decl));
    strings.refer(where.file);
    fprintf(out, "\t.long %d, %u, %u\n", where.line, measured_checksum(&r.graph), r.dispatcher);
    strings.refer(r.source_name.c_str());
}

} // namespace

void routine_emit(const routine &r)
{
    emit_counters(r);
    if (is_unknown(r.decl))
        return;
    emit_offset(r);
    begin_record(r);
    strings strings(r.id);
    emit_header(r, strings);
    FILE *out = asm_out_file;
    for (size_t e = 0; e < r.graph.edges.n; e++)
        fprintf(out, "\t.long %u, %u, %u\n", r.graph.edges.at[e].from, r.graph.edges.at[e].to, r.counter[e]);
    fprintf(out, "\t.balign 8\n");
    for (const label &each : r.labels)
        fprintf(out, "\t.quad .L%u\n\t.long %u, %d\n", each.number, each.block, each.what);
    for (const line &each : r.lines) {
        fprintf(out, "\t.long %u\n", each.block);
        strings.refer(each.file);
        fprintf(out, "\t.long %u, %u\n", each.number, each.copy);
    }
    for (const alloc &each : r.allocs) {
        expanded_location where = expand_location(each.where);
        fprintf(out, "\t.long %u, %u\n", each.counter, each.block);
        strings.refer(where.file);
        fprintf(out, "\t.long %d\n", where.line);
        strings.refer(each.callee.c_str());
        fprintf(out, "\t.long %d\n", each.asked);
    }
    emit_calls(r);
    fprintf(out, ".LWWe%u:\n", r.id);
    strings.emit();
}

void unit_emit()
{
    fprintf(asm_out_file, "\t.section .bss.whywait,\"awR\",@nobits\n\t.balign 8\n.LWWseen:\n\t.zero 8\n");
    fprintf(asm_out_file, "\t.section " POINTS_SECTION ",\"o\",@progbits,.LWWseen,unique,%u\n\t.balign 8\n",
            UINT32_MAX);
    fprintf(asm_out_file, "\t.long %u, %zu, %u, %d\n\t.quad .LWWseen\n\t.zero %zu\n", POINTS_MAGIC,
            sizeof(points_function), POINTS_VERSION, POINTS_F_UNIT,
            sizeof(points_function) - offsetof(points_function, tls_offset_bytes));
}
