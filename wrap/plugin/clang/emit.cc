// SPDX-License-Identifier: BSD-3-Clause
/*
 * From blocks to addresses, and into the object file.
 *
 * Between the last pass over IR and the assembler lies code generation, which knows nothing of our blocks, but keeps
 * the locations of instructions, and a location may carry a discriminator. Every instruction's location gets its
 * block's number for one. When the instructions have their final order, labels are put where the block changes and
 * behind calls. Calls that look alike are kept apart (nomerge), or a return address would name one block of two.
 *
 * The record of a function and its counters belong to the function's section, so that the linker keeps or drops all
 * three together: members of its COMDAT group where it has one, else the record is linked to the function's section
 * (SHF_LINK_ORDER), and the counters are needed by the code alone.
 */
#include "wrap/plugin/clang/routine.h"
#include <algorithm>
#include <map>

using namespace llvm;

namespace
{

/* The number of the inlined routine that an instruction comes from; 0 = none. */
uint32_t copy_of(routine &r, const DILocation *where)
{
    const DILocation *inlined = where->getInlinedAt();
    if (!inlined)
        return 0;
    for (size_t i = r.copies.size(); i-- > 0;)
        if (r.copies[i] == inlined)
            return (uint32_t)i + 1;
    r.copies.push_back(inlined);
    return (uint32_t)r.copies.size();
}

/* Each line once; that of a condition is the block's last. */
void add_line(routine &r, uint32_t block, const DILocation *where, bool is_condition)
{
    if (!where->getLine())
        return;
    std::string file = where->getFilename().str();
    uint32_t copy = copy_of(r, where);
    for (size_t i = r.lines.size(); i-- > 0 && r.lines[i].block == block;)
        if (r.lines[i].number == where->getLine() && r.lines[i].copy == copy && r.lines[i].file == file) {
            if (is_condition)
                std::rotate(r.lines.begin() + (long)i, r.lines.begin() + (long)i + 1, r.lines.end());
            return;
        }
    r.lines.push_back({block, file, where->getLine(), copy});
}

/* Its frame is not parked in the block: the way out was counted before. */
bool has_left(const routine &r, uint32_t block, const CallBase &call)
{
    for (uint32_t i = r.graph.out_at[block]; i < r.graph.out_at[block + 1]; i++)
        if (r.places[r.graph.out[i]].before == &call)
            return true;
    return call.doesNotReturn() && isa<UnreachableInst>(call.getParent()->getTerminator());
}

void tag_block(routine &r, uint32_t block, DISubprogram *of_function, bool is_stand_in)
{
    for (Instruction &each : *r.blocks[block]) {
        auto *call = dyn_cast<CallBase>(&each);
        DILocation *where = each.getDebugLoc();
        if (isa<DbgInfoIntrinsic>(each) || (!where && !call && !is_stand_in))
            continue; /* no line: one of its own would only split the debug information's ranges */
        if (where && !is_stand_in)
            add_line(r, block, where, each.isTerminator() && each.getNumSuccessors() > 1 && !call);
        if (!where)
            where = DILocation::get(each.getContext(), 0, 0, of_function);
        uint32_t tag = 2 * block + (call && has_left(r, block, *call));
        each.setDebugLoc(where->cloneWithDiscriminator(tag));
        if (call && !isa<IntrinsicInst>(call))
            call->addFnAttr(Attribute::NoMerge);
    }
}

/* Block * 2 + has_left; 0 = not tagged (blocks of code are numbered from 2). */
uint32_t tag_of(const MachineInstr &instruction)
{
    const DILocation *where = instruction.getDebugLoc();
    return where ? where->getDiscriminator() : 0;
}

MCSymbol *new_label(MachineBasicBlock &block, MachineBasicBlock::iterator before)
{
    MachineFunction &code = *block.getParent();
    MCSymbol *label = code.getContext().createTempSymbol();
    const MCInstrDesc &kind = code.getSubtarget().getInstrInfo()->get(TargetOpcode::ANNOTATION_LABEL);
    BuildMI(block, before, DebugLoc(), kind).addSym(label);
    return label;
}

/* Straight-line code on the way through the instructions. */
struct run {
    uint32_t block = BLOCK_ROOT; /* that the code belongs to up to here */
    bool is_nameless = false;    /* none of it has told its block yet, and it began at ... */
    MachineBasicBlock::iterator start{};
};

/* Instructions made by the compiler have no location: at the beginning of straight-line code, which is executed as a
 * whole, they belong to the first instruction that has one. */
void label_instruction(routine &r, MachineBasicBlock &in, MachineBasicBlock::iterator at, run *run)
{
    uint32_t tag = tag_of(*at);
    if (!tag || tag / 2 >= r.blocks.size())
        return;
    if (tag / 2 != run->block) {
        run->block = tag / 2;
        r.labels.push_back({new_label(in, run->is_nameless ? run->start : at), run->block, POINTS_CODE});
    }
    run->is_nameless = false;
    if (at->isCall() && !at->isReturn())
        r.labels.push_back({new_label(in, std::next(at)), tag / 2, tag & 1 ? POINTS_LEFT : POINTS_RETURN});
}

} // namespace

void routine_tag(routine &r, DISubprogram *stand_in)
{
    DISubprogram *own = r.function->getSubprogram();
    if (!own)
        r.function->setSubprogram(stand_in);
    for (uint32_t b = BLOCK_FIRST; b < r.blocks.size(); b++)
        if (r.blocks[b])
            tag_block(r, b, own ? own : stand_in, !own);
}

void routine_emit_labels(routine &r, MachineFunction &code)
{
    run run;
    r.labels.clear();
    for (MachineBasicBlock &block : code) {
        run.is_nameless = true;
        run.start = block.begin();
        for (auto at = block.begin(); at != block.end();) {
            auto next = std::next(at);
            if (!at->isMetaInstruction())
                label_instruction(r, block, at, &run);
            if (at->isBranch()) {
                run.is_nameless = true;
                run.start = next;
            }
            at = next;
        }
    }
    r.entry_label = new_label(code.front(), code.front().begin());
}

namespace
{

/* Writes the sections of a unit. */
class writer
{
  public:
    explicit writer(AsmPrinter &printer) : printer_(printer), out_(*printer.OutStreamer), context_(printer.OutContext)
    {
    }
    void write_routine(const routine &r)
    {
        MCSymbol *offset = write_offset(r), *start = begin_record(r), *end = context_.createTempSymbol();
        write_header(r, start, end, offset);
        for (size_t e = 0; e < r.graph.edges.n; e++)
            words({r.graph.edges.at[e].from, r.graph.edges.at[e].to, r.counter[e]});
        align();
        for (const label &each : r.labels) {
            out_.emitSymbolValue(each.symbol, 8);
            words({each.block, (uint32_t)each.what});
        }
        for (const line &each : r.lines) {
            words({each.block});
            text(each.file);
            words({each.number, each.copy});
        }
        out_.emitLabel(end);
    }
    /* The unit's own record, with the word in which the recorder marks the module. */
    void write_unit()
    {
        MCSymbol *seen = context_.createTempSymbol();
        version_switch(out_, context_.getELFSection(".bss.whywait", ELF::SHT_NOBITS,
                                                    ELF::SHF_ALLOC | ELF::SHF_WRITE | ELF::SHF_GNU_RETAIN));
        align();
        out_.emitLabel(seen);
        out_.emitZeros(8);
        version_switch(out_, section(POINTS_SECTION, 0, "", seen, UINT32_MAX - 1));
        align();
        words({POINTS_MAGIC, sizeof(points_function), POINTS_VERSION, POINTS_F_UNIT});
        out_.emitSymbolValue(seen, 8);
        out_.emitZeros(sizeof(points_function) - offsetof(points_function, tls_offset_bytes));
    }
    void write_strings()
    {
        version_switch(out_,
                       context_.getELFSection(POINTS_STRINGS, ELF::SHT_PROGBITS, ELF::SHF_MERGE | ELF::SHF_STRINGS, 1));
        for (const auto &[text, symbol] : strings_) {
            out_.emitLabel(symbol);
            out_.emitBytes(StringRef(text.c_str(), text.size() + 1));
        }
    }

  private:
    MCSection *section(StringRef name, unsigned flags, StringRef group, const MCSymbol *linked_to, unsigned number)
    {
        flags |= group.empty() ? ELF::SHF_LINK_ORDER : ELF::SHF_GROUP;
        return context_.getELFSection(name, ELF::SHT_PROGBITS, flags, 0, group, !group.empty(), number,
                                      group.empty() ? cast<MCSymbolELF>(linked_to) : nullptr);
    }
    MCSymbol *begin(StringRef name, unsigned flags, const routine &r)
    {
        const Comdat *group = r.function->getComdat();
        version_switch(out_, section(name, flags, group ? group->getName() : "", r.entry_label, r.id));
        align();
        MCSymbol *start = context_.createTempSymbol();
        out_.emitLabel(start);
        return start;
    }
    MCSymbol *begin_record(const routine &r)
    {
        return begin(POINTS_SECTION, 0, r);
    }
    /* aarch64 has no word for a place in thread-local storage, but two instructions. */
    uint32_t how_offset() const
    {
        return printer_.TM.getTargetTriple().isAArch64() ? POINTS_F_OFFSET_APART | POINTS_F_OFFSET_ADDED
                                                         : POINTS_F_OFFSET_APART;
    }
    void write_addition(uint32_t instruction, StringRef relocation, const MCSymbol *counters)
    {
        MCSymbol *here = context_.createTempSymbol();
        out_.emitLabel(here);
        out_.emitRelocDirective(*MCSymbolRefExpr::create(here, context_), relocation,
                                MCSymbolRefExpr::create(counters, context_), SMLoc(),
                                *printer_.TM.getMCSubtargetInfo());
        words({instruction});
    }
    /* The linker puts in where the counters are. */
    MCSymbol *write_offset(const routine &r)
    {
        MCSymbol *start = begin(POINTS_OFFSETS, ELF::SHF_ALLOC, r);
        MCSymbol *counters = printer_.getSymbol(cast<GlobalVariable>(r.counters));
        if (how_offset() & POINTS_F_OFFSET_ADDED) {
            write_addition(0x91400000, "R_AARCH64_TLSLD_ADD_DTPREL_HI12", counters);
            write_addition(0x91000000, "R_AARCH64_TLSLD_ADD_DTPREL_LO12_NC", counters);
        } else {
            out_.emitValue(printer_.getObjFileLowering().getDebugThreadLocalSymbol(counters), 8);
        }
        return start;
    }
    void write_header(const routine &r, MCSymbol *start, MCSymbol *end, MCSymbol *offset)
    {
        words({POINTS_MAGIC});
        out_.emitAbsoluteSymbolDiff(end, start, 4);
        words({POINTS_VERSION, r.flags | how_offset()});
        out_.emitSymbolValue(r.entry_label, 8);
        out_.emitSymbolValue(offset, 8);
        words({r.n_counters, r.graph.n_blocks, (uint32_t)r.graph.edges.n, (uint32_t)r.labels.size(),
               (uint32_t)r.lines.size(), 0});
        text(r.name);
        text(r.file);
        words({r.line_number, measured_checksum(&r.graph), r.dispatcher});
        text(r.source_name);
    }
    void words(std::initializer_list<uint32_t> values)
    {
        for (uint32_t value : values)
            out_.emitIntValue(value, 4);
    }
    void align()
    {
        version_align(out_, 8);
    }
    /* A reference to a string of the mergeable section. */
    void text(const std::string &text)
    {
        MCSymbol *&symbol = strings_[text];
        if (!symbol)
            symbol = context_.createTempSymbol();
        out_.emitSymbolValue(symbol, 4);
    }

    AsmPrinter &printer_;
    MCStreamer &out_;
    MCContext &context_;
    std::map<std::string, MCSymbol *> strings_;
};

} // namespace

void unit_emit(const std::vector<std::unique_ptr<routine>> &routines, AsmPrinter &printer)
{
    writer writer(printer);
    bool has_any = false;
    for (const auto &each : routines)
        if (each->entry_label && each->counters) {
            writer.write_routine(*each);
            has_any = true;
        }
    if (!has_any)
        return;
    writer.write_unit();
    writer.write_strings();
}
