// SPDX-License-Identifier: BSD-3-Clause
/*
 * The record of a function and its counters, in assembler. Both belong to the function's section, so that the linker
 * keeps or drops all three together: members of its COMDAT group where it has one, else the record is linked to the
 * function's section (SHF_LINK_ORDER), and the counters are needed by the code alone.
 */
#include "routine.h"

namespace
{

void emit_counters(const routine &r)
{
    if (r.group.empty())
        fprintf(asm_out_file, "\t.section .tbss.whywait.%u,\"awT\",@nobits\n", r.id);
    else
        fprintf(asm_out_file, "\t.section .tbss.whywait.%u,\"awTG\",@nobits,%s,comdat\n", r.id, r.group.c_str());
    fprintf(asm_out_file, "\t.balign 8\n.LWWc%u:\n\t.zero %u\n", r.id, 8 * r.n_counters);
}

void begin_record(const routine &r)
{
    if (r.group.empty())
        fprintf(asm_out_file, "\t.section " POINTS_SECTION ",\"o\",@progbits,.L%u,unique,%u\n", r.entry_label, r.id);
    else
        fprintf(asm_out_file, "\t.section " POINTS_SECTION ",\"G\",@progbits,%s,comdat\n", r.group.c_str());
    fprintf(asm_out_file, "\t.balign 8\n.LWWr%u:\n", r.id);
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

uint32_t checksum(const routine &r)
{
    uint32_t sum = 2166136261u;
    for (size_t e = 0; e < r.graph.edges.n; e++)
        for (uint32_t value : {r.graph.edges.at[e].from, r.graph.edges.at[e].to})
            sum = (sum ^ value) * 16777619u;
    return sum;
}

void emit_header(const routine &r, strings &strings)
{
    FILE *out = asm_out_file;
    fprintf(out, "\t.long %u, .LWWe%u-.LWWr%u, %u, %u\n", POINTS_MAGIC, r.id, r.id, POINTS_VERSION, r.flags);
    fprintf(out, "\t.quad .L%u\n\t", r.entry_label);
    char name[32];
    snprintf(name, sizeof name, "*.LWWc%u", r.id);
    targetm.asm_out.output_dwarf_dtprel(out, 8, gen_rtx_SYMBOL_REF(Pmode, ggc_strdup(name)));
    fprintf(out, "\n\t.long %u, %u, %zu, %zu, %zu, %zu\n", r.n_counters, r.graph.n_blocks, (size_t)r.graph.edges.n,
            r.labels.size(), r.lines.size(), r.allocs.size());
    expanded_location where = expand_location(DECL_SOURCE_LOCATION(r.decl));
    strings.refer(routine_symbol(r.decl));
    strings.refer(where.file);
    fprintf(out, "\t.long %d, %u, %u\n", where.line, checksum(r), r.dispatcher);
    strings.refer(r.source_name.c_str());
}

} // namespace

void routine_emit(const routine &r)
{
    emit_counters(r);
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
    }
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
