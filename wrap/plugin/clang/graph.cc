// SPDX-License-Identifier: BSD-3-Clause
/*
 * The flow graph of a function: LLVM's CFG after the last pass over IR, and what it does not show.
 *
 *  - A block whose last call does not return flows to EXIT.
 *  - A tail call flows to EXIT: when it becomes a jump, no code can follow it. So each has a return of its own, which
 *    nobody else shares, and the way out is counted before the call.
 *  - A call that may throw past all handlers here has an edge to EXIT for the frames that an exception removes. So has
 *    every call in a unit that uses longjmp. These edges are never counted but follow from the others.
 *  - A landing pad has one way in: those of several are repeated, so that their edges can be counted.
 *  - Jumps to computed places cannot carry a counter. setjmp returns a second time through a dispatcher, a block
 *    without code; frames that vanish in such a function flow through it to EXIT.
 */
#include "wrap/plugin/clang/routine.h"

using namespace llvm;

CallInst *block_receiver(BasicBlock *block)
{
    auto *call = dyn_cast<CallInst>(&*block->getFirstNonPHIOrDbgOrLifetime());
    return call && call->hasFnAttr(Attribute::ReturnsTwice) ? call : nullptr;
}

namespace
{

/* A call that may become a jump: nothing but the return of its value follows. */
CallInst *tail_call_of(BasicBlock *block)
{
    auto *leave = dyn_cast<ReturnInst>(block->getTerminator());
    if (!leave)
        return nullptr;
    Value *value = leave->getReturnValue();
    for (Instruction *each = leave->getPrevNode(); each; each = each->getPrevNode()) {
        auto *call = dyn_cast<CallInst>(each);
        if (call && call->isTailCall() && !isa<IntrinsicInst>(call) && !call->isInlineAsm())
            return !value || value->stripPointerCasts() == call || isa<UndefValue>(value) ? call : nullptr;
        if (!isa<IntrinsicInst>(each) && !isa<BitCastInst>(each))
            return nullptr;
    }
    return nullptr;
}

/* The last call of a block that ends with a tail call and a jump to a return. */
bool ends_with_tail_call(BasicBlock *block, ReturnInst *leave)
{
    for (Instruction *each = block->getTerminator()->getPrevNode(); each; each = each->getPrevNode()) {
        auto *call = dyn_cast<CallInst>(each);
        if (call && call->isTailCall() && !isa<IntrinsicInst>(call)) {
            Value *value = leave->getReturnValue();
            if (auto *phi = dyn_cast_or_null<PHINode>(value))
                value = phi->getParent() == leave->getParent() ? phi->getIncomingValueForBlock(block) : value;
            return !value || value == call;
        }
        if (!isa<DbgInfoIntrinsic>(each))
            return false;
    }
    return false;
}

void own_returns(Function &function)
{
    std::vector<ReturnInst *> returns;
    for (BasicBlock &block : function)
        if (auto *leave = dyn_cast<ReturnInst>(block.getTerminator()))
            if (&*block.getFirstNonPHIOrDbg() == leave)
                returns.push_back(leave);
    for (ReturnInst *leave : returns) {
        BasicBlock *block = leave->getParent();
        std::vector<BasicBlock *> callers;
        for (BasicBlock *each : predecessors(block))
            if (each->getSingleSuccessor() && isa<BranchInst>(each->getTerminator()) &&
                ends_with_tail_call(each, leave))
                callers.push_back(each);
        for (BasicBlock *each : callers)
            FoldReturnIntoUncondBranch(leave, block, each);
        if (pred_empty(block) && block != &function.getEntryBlock())
            DeleteDeadBlock(block);
    }
}

/* Repeats the landing pad for each way in. What it said is chosen behind them. */
void part_landing_pad(BasicBlock *pad)
{
    LandingPadInst *common = pad->getLandingPadInst();
    SmallVector<BasicBlock *, 8> ways(predecessors(pad));
    IRBuilder<> builder(pad, pad->begin());
    PHINode *chosen = builder.CreatePHI(common->getType(), (unsigned)ways.size());
    for (BasicBlock *from : ways) {
        BasicBlock *own = BasicBlock::Create(pad->getContext(), "", pad->getParent(), pad);
        builder.SetInsertPoint(own);
        chosen->addIncoming(builder.Insert(common->clone()), own);
        builder.CreateBr(pad);
        cast<InvokeInst>(from->getTerminator())->setUnwindDest(own);
        for (PHINode &phi : pad->phis())
            if (&phi != chosen)
                phi.setIncomingBlock((unsigned)phi.getBasicBlockIndex(from), own);
    }
    common->replaceAllUsesWith(chosen);
    common->eraseFromParent();
}

void own_landing_pads(Function &function)
{
    std::vector<BasicBlock *> pads;
    for (BasicBlock &block : function)
        if (block.isLandingPad() && !block.getUniquePredecessor())
            pads.push_back(&block);
    for (BasicBlock *pad : pads)
        part_landing_pad(pad);
}

/* What returns twice begins a block; nothing that may vanish ends with a jump to a computed place. */
void part_blocks(Function &function)
{
    std::vector<Instruction *> starts;
    for (BasicBlock &block : function) {
        for (Instruction &each : block)
            if (auto *call = dyn_cast<CallInst>(&each))
                if (call->hasFnAttr(Attribute::ReturnsTwice))
                    starts.push_back(call);
        if (isa<IndirectBrInst>(block.getTerminator()) || isa<CallBrInst>(block.getTerminator()))
            starts.push_back(block.getTerminator());
    }
    for (Instruction *each : starts)
        SplitBlock(each->getParent(), each);
}

void simplify_loops(Function &function, TargetLibraryInfo &library, TargetTransformInfo &machine)
{
    analyses known(function, library, machine);
    for (Loop *loop : known.loops)
        simplifyLoop(loop, &known.dominators, &known.loops, &known.evolution, &known.assumptions, nullptr, false);
}

const char *why_not(Function &function)
{
    if (function.hasFnAttribute(Attribute::NoProfile))
        return ""; /* asked for: no note */
    if (function.hasFnAttribute(Attribute::Naked))
        return "it is naked";
    if (function.hasPersonalityFn() && isScopedEHPersonality(classifyEHPersonality(function.getPersonalityFn())))
        return "its exceptions are handled in parts of it";
    for (GlobalIFunc &each : function.getParent()->ifuncs())
        if (each.getResolver()->stripPointerCasts() == &function)
            return "it resolves an ifunc, before threads have storage";
    return nullptr;
}

void add_edge(routine &r, uint32_t from, uint32_t to, place where)
{
    cfg_add_edge(&r.graph, from, to);
    r.places.push_back(where);
}

/* An exception from a call that leads to this landing pad may pass by it. */
bool lets_pass(const BasicBlock *unwinds_to)
{
    const LandingPadInst *pad = unwinds_to->getLandingPadInst();
    if (!pad || pad->isCleanup())
        return !pad;
    for (unsigned i = 0; i < pad->getNumClauses(); i++)
        if (!pad->isCatch(i) || isa<ConstantPointerNull>(pad->getClause(i)->stripPointerCasts()))
            return !pad->isCatch(i);
    return true;
}

bool call_may_vanish(const CallBase &call, const quiet_functions &quiet)
{
    if (isa<IntrinsicInst>(call) || call.isInlineAsm() || call.hasFnAttr(Attribute::ReturnsTwice))
        return false;
    if (auto *invoke = dyn_cast<InvokeInst>(&call))
        if (lets_pass(invoke->getUnwindDest()))
            return true;
    if (isa<CallInst>(call) && !call.doesNotThrow())
        return true;
    return quiet.uses_longjmp && !call_is_harmless(quiet, call);
}

/* Some call of the block may end this frame without coming back. */
bool may_vanish(const BasicBlock *block, const quiet_functions &quiet, const CallInst *leaves_by)
{
    for (const Instruction &each : *block)
        if (auto *call = dyn_cast<CallBase>(&each))
            if (call != leaves_by && call_may_vanish(*call, quiet))
                return true;
    return false;
}

/* Each successor once. */
void add_known_edges(routine &r, BasicBlock *block, const DenseMap<BasicBlock *, uint32_t> &number)
{
    Instruction *end = block->getTerminator();
    bool is_computed = isa<IndirectBrInst>(end) || isa<CallBrInst>(end);
    SmallPtrSet<BasicBlock *, 4> met;
    for (BasicBlock *to : successors(block))
        if (met.insert(to).second) {
            bool can_carry = !is_computed || block->getUniqueSuccessor() || to->getUniquePredecessor();
            add_edge(r, number.lookup(block), number.lookup(to), can_carry ? place{block, to, nullptr} : place{});
        }
}

void add_block_edges(routine &r, BasicBlock *block, const DenseMap<BasicBlock *, uint32_t> &number,
                     const options &options, const quiet_functions &quiet)
{
    uint32_t from = number.lookup(block);
    uint32_t vanishes_to = r.dispatcher == POINTS_NONE ? (uint32_t)BLOCK_EXIT : r.dispatcher;
    CallInst *tail = tail_call_of(block);
    bool vanishes = options.exceptions && may_vanish(block, quiet, tail);
    add_known_edges(r, block, number);
    if (succ_empty(block)) {
        Instruction *end = block->getTerminator();
        if (isa<UnreachableInst>(end)) {
            add_edge(r, from, vanishes ? vanishes_to : (uint32_t)BLOCK_EXIT, place{});
            return;
        }
        add_edge(r, from, BLOCK_EXIT, place{nullptr, nullptr, tail ? tail : end});
    }
    if (vanishes) {
        r.flags |= POINTS_F_EXCEPTIONS;
        add_edge(r, from, vanishes_to, place{});
    }
}

/* The block of setjmp's second returns, and the ways out of it. */
void add_dispatcher(routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.dispatcher; b++)
        if (block_receiver(r.blocks[b]))
            add_edge(r, r.dispatcher, b, place{});
    add_edge(r, r.dispatcher, BLOCK_EXIT, place{});
}

} // namespace

void routine_prepare(Function &function, TargetLibraryInfo &library, TargetTransformInfo &machine)
{
    EliminateUnreachableBlocks(function);
    own_landing_pads(function);
    if (!function.hasOptNone()) {
        own_returns(function);
        simplify_loops(function, library, machine);
    }
    part_blocks(function);
}

bool routine_build_graph(routine &r, const options &options, const quiet_functions &quiet, const char **why)
{
    *why = why_not(*r.function);
    if (*why)
        return false;
    DenseMap<BasicBlock *, uint32_t> number;
    r.blocks = {nullptr, nullptr};
    for (BasicBlock &block : *r.function) {
        number[&block] = (uint32_t)r.blocks.size();
        r.blocks.push_back(&block);
        if (block_receiver(&block))
            r.flags |= POINTS_F_SETJMP;
    }
    if (r.flags & POINTS_F_SETJMP) {
        r.dispatcher = (uint32_t)r.blocks.size();
        r.blocks.push_back(nullptr);
    }
    cfg_init(&r.graph, (uint32_t)r.blocks.size(), BLOCK_ROOT);
    add_edge(r, BLOCK_ROOT, BLOCK_FIRST, place{nullptr, &r.function->getEntryBlock(), nullptr});
    for (BasicBlock &block : *r.function)
        add_block_edges(r, &block, number, options, quiet);
    if (r.dispatcher != POINTS_NONE)
        add_dispatcher(r);
    cfg_finish(&r.graph);
    return true;
}
