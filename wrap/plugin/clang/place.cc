// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters into the code. An edge is counted by adding one to a thread-local word; inside a loop nest without calls, by
 * adding one to a local variable instead, which is zeroed on the edges into the nest and added to the word on the edges
 * out of it. A loop whose iterations LLVM can compute before it is counted there, if no call in it can end an interval.
 *
 * An edge is as dear as it is executed often, by Ball and Larus's weights; double if it needs a block of its own, from
 * which a jump leads on. But where it is the only way back in a loop, the loop's head is counted instead, less one for
 * each entry. A loop that tells its iterations is as dear as entering it.
 */
#include "wrap/plugin/clang/routine.h"
#include "wrap/plugin/nests.h"
#include <algorithm>
#include <map>

using namespace llvm;

namespace
{

struct loop_facts {
    cfg_loops loops{};
    std::vector<bool> is_quiet; /* the thread cannot synchronise in it, and every way in and out can carry code */
    std::vector<bool> is_free;  /* quiet, and without calls, around which registers would have to be saved */
    std::vector<Value *> trips; /* how often it goes back to its head, known before it ... */
    std::vector<uint32_t> at;   /* ... and before this loop, itself or one around it; both null or CFG_NONE */
};

template <typename F> bool all_calls(const routine &r, const cfg_loop &loop, F fits)
{
    for (uint32_t i = 0; i < loop.n_blocks; i++)
        if (BasicBlock *block = r.blocks[loop.blocks[i]])
            for (const Instruction &each : *block)
                if (auto *call = dyn_cast<CallBase>(&each))
                    if (!fits(*call))
                        return false;
    return true;
}

bool is_edge(const routine &r, uint32_t edge)
{
    return r.places[edge].to;
}

bool loop_is_quiet(const routine &r, const quiet_functions &quiet, const cfg_loop &loop)
{
    if (loop.is_irreducible || !loop.n_exits)
        return false;
    for (uint32_t i = 0; i < loop.n_exits; i++)
        if (!is_edge(r, loop.exits[i]))
            return false;
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++)
        if (!is_edge(r, r.graph.in[i]))
            return false;
    return all_calls(r, loop, [&](const CallBase &call) { return call_is_harmless(quiet, call); });
}

/* Calls act(edge) for the edges into a loop's head from outside. */
template <typename F> void each_entry(const routine &r, const cfg_loops &loops, const cfg_loop &loop, F act)
{
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++)
        if (!cfg_loop_contains(&loops, (uint32_t)(&loop - loops.at), r.graph.edges.at[r.graph.in[i]].from))
            act(r.graph.in[i]);
}

/* Numbers of iterations, as values before loops. */
class trip_counter
{
  public:
    trip_counter(const routine &r, analyses &known)
        : r_(r), known_(known), expander_(known.evolution, r.function->getParent()->getDataLayout(), "whywait")
    {
    }
    void find(loop_facts &facts)
    {
        word_ = Type::getInt64Ty(r_.function->getContext());
        for (uint32_t l = 0; l < facts.loops.n; l++) {
            const SCEV *number = facts.is_quiet[l] ? iterations(loop_of(facts, l)) : nullptr;
            if (!number)
                continue;
            Loop *before = loop_of(facts, l);
            facts.at[l] = l;
            number = widen_over_nest(facts, number, &before, &facts.at[l]);
            Instruction *place = before->getLoopPreheader()->getTerminator();
            facts.trips[l] = expander_.expandCodeFor(number, word_, place);
        }
    }

  private:
    /* LLVM's loop with the same head, if it is entered through a block before it. */
    Loop *loop_of(const loop_facts &facts, uint32_t l)
    {
        BasicBlock *head = r_.blocks[facts.loops.at[l].head];
        Loop *loop = head ? known_.loops.getLoopFor(head) : nullptr;
        return loop && loop->getHeader() == head && loop->getLoopPreheader() ? loop : nullptr;
    }
    bool is_worth_it(const SCEV *number, Loop *loop)
    {
        Instruction *place = loop->getLoopPreheader()->getTerminator();
        return version_can_expand(expander_, number, place, known_.evolution) &&
               !expander_.isHighCostExpansion(number, loop, MOST_COST, &known_.target, place);
    }
    const SCEV *iterations(Loop *loop)
    {
        ScalarEvolution &evolution = known_.evolution;
        if (!loop || isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop)))
            return nullptr;
        const SCEV *number = evolution.getBackedgeTakenCount(loop);
        if (evolution.getTypeSizeInBits(number->getType()) > 64)
            return nullptr;
        number = evolution.getNoopOrZeroExtend(number, word_);
        return is_worth_it(number, loop) ? number : nullptr;
    }
    /* A number that each turn of the loop around it has alike is multiplied by their number. */
    const SCEV *widen_over_nest(const loop_facts &facts, const SCEV *number, Loop **before, uint32_t *at)
    {
        ScalarEvolution &evolution = known_.evolution;
        for (uint32_t outer = facts.loops.at[*at].parent; outer != CFG_NONE; outer = facts.loops.at[outer].parent) {
            Loop *loop = loop_of(facts, outer);
            const SCEV *turns = loop && facts.is_quiet[outer] ? iterations(loop) : nullptr;
            if (!turns || (*before)->getParentLoop() != loop || !evolution.isLoopInvariant(number, loop) ||
                !is_entered_each_turn(*before, loop))
                break;
            const SCEV *product = evolution.getMulExpr(number, evolution.getAddExpr(turns, evolution.getOne(word_)));
            if (!is_worth_it(product, loop))
                break;
            number = product;
            *before = loop;
            *at = outer;
        }
        return number;
    }
    /* Once, and in the last turn as well. */
    bool is_entered_each_turn(Loop *loop, Loop *outer)
    {
        SmallVector<BasicBlock *, 4> ends;
        outer->getExitingBlocks(ends);
        if (!outer->getLoopLatch())
            return false;
        ends.push_back(outer->getLoopLatch());
        for (BasicBlock *each : ends)
            if (!known_.dominators.dominates(loop->getLoopPreheader(), each))
                return false;
        return true;
    }

    enum { MOST_COST = 8 };
    const routine &r_;
    analyses &known_;
    SCEVExpander expander_;
    Type *word_ = nullptr;
};

loop_facts know_loops(routine &r, const options &options, const quiet_functions &quiet, analyses &known)
{
    loop_facts facts;
    facts.loops = cfg_find_loops(&r.graph);
    facts.trips.resize(facts.loops.n);
    facts.at.resize(facts.loops.n, CFG_NONE);
    for (uint32_t l = 0; l < facts.loops.n; l++) {
        facts.is_quiet.push_back(options.promote && loop_is_quiet(r, quiet, facts.loops.at[l]));
        facts.is_free.push_back(facts.is_quiet[l] && all_calls(r, facts.loops.at[l], call_is_cheap));
    }
    trip_counter(r, known).find(facts);
    return facts;
}

/* The loop that tells its iterations, when the edge is its way back; or CFG_NONE. */
uint32_t telling_loop(const routine &r, const loop_facts &facts, uint32_t edge)
{
    uint32_t head = r.graph.edges.at[edge].to, l = facts.loops.innermost[head];
    bool is_way_back = l != CFG_NONE && facts.loops.at[l].head == head && facts.loops.order.is_retreating[edge] &&
                       facts.loops.at[l].n_back_edges == 1;
    return is_way_back && facts.trips[l] ? l : (uint32_t)CFG_NONE;
}

/* Counting on this edge takes a block of its own. */
bool takes_block(const routine &r, uint32_t edge)
{
    const place &where = r.places[edge];
    return where.from && where.to && !where.from->getUniqueSuccessor() && !where.to->getUniquePredecessor();
}

/* The loop whose only way back this edge is, when counting its head in a variable instead saves a jump; or null. */
const cfg_loop *head_to_count(const routine &r, const cfg_loops &loops, uint32_t edge)
{
    uint32_t head = r.graph.edges.at[edge].to, l = loops.innermost[head];
    if (!takes_block(r, edge) || !loops.order.is_retreating[edge] || l == CFG_NONE)
        return nullptr;
    const cfg_loop &loop = loops.at[l];
    return loop.head == head && loop.n_back_edges == 1 ? &loop : nullptr;
}

/* The nest in a variable of which the edge can be counted, or null. A loop's own number is added around it. */
const cfg_loop *nest_of(const routine &r, const loop_facts &facts, uint32_t edge)
{
    uint32_t telling = telling_loop(r, facts, edge);
    if (telling == CFG_NONE)
        return nest_around_edge(facts.loops, facts.is_free, r.graph.edges.at[edge]);
    return nest_around(facts.loops, facts.is_free, facts.loops.at[facts.at[telling]].parent);
}

double entry_weight(const routine &r, const cfg_loops &loops, const double *weights, uint32_t loop)
{
    double sum = 0;
    each_entry(r, loops, loops.at[loop], [&](uint32_t edge) { sum += weights[edge]; });
    return sum;
}

double cost_of(const routine &r, const loop_facts &facts, const double *weights, uint32_t edge)
{
    uint32_t telling = telling_loop(r, facts, edge);
    if (telling != CFG_NONE)
        return entry_weight(r, facts.loops, weights, facts.at[telling]);
    bool is_at_head = nest_of(r, facts, edge) && head_to_count(r, facts.loops, edge);
    return takes_block(r, edge) && !is_at_head ? 2 * weights[edge] : weights[edge];
}

double *counter_costs(routine &r, const loop_facts &facts, const options &options)
{
    std::vector<unsigned char> is_counting;
    for (const Value *each : facts.trips)
        is_counting.push_back(each != nullptr);
    double *weights = knuth_weights(&r.graph, &facts.loops, is_counting.data());
    if (options.from)
        measured_weigh(options.from, r.name.c_str(), &r.graph, weights);
    double *costs = arena_array(&r.graph.arena, double, r.places.size());
    for (uint32_t e = 0; e < r.places.size(); e++)
        costs[e] = cost_of(r, facts, weights, e);
    return costs;
}

bool choose_edges(routine &r, const double *costs, const char **why)
{
    std::vector<unsigned char> is_fixed;
    for (const place &where : r.places)
        is_fixed.push_back(where.is_fixed());
    r.is_counted.resize(r.places.size());
    if (knuth_place(&r.graph, BLOCK_EXIT, costs, is_fixed.data(), r.is_counted.data()) == CFG_NONE) {
        *why = "its jumps to computed places leave no spanning tree";
        return false;
    }
    for (uint32_t e = 0; e < r.places.size(); e++)
        r.counter.push_back(r.is_counted[e] ? r.n_counters++ : (uint32_t)POINTS_NONE);
    return true;
}

Instruction *first_of(BasicBlock *block)
{
    return &*block->getFirstInsertionPt();
}

/* Puts code on edges, into words and variables. */
class inserter
{
  public:
    inserter(routine &r, const options &options) : r_(r), builder_(r.function->getContext()), anchors_(r.places.size())
    {
        word_ = builder_.getInt64Ty();
        auto *type = ArrayType::get(word_, r.n_counters);
        array_ = new GlobalVariable(*r.function->getParent(), type, false, GlobalValue::PrivateLinkage,
                                    ConstantAggregateZero::get(type), "whywait.counters", nullptr,
                                    options.initial_exec ? GlobalValue::InitialExecTLSModel
                                                         : GlobalValue::GeneralDynamicTLSModel);
        array_->setSection(".tbss.whywait." + std::to_string(r.id));
        array_->setAlignment(Align(8));
        array_->setComdat(r.function->getComdat());
        array_->setDSOLocal(true);
        r.counters = array_;
    }
    /* Code is inserted before this, in order. */
    Instruction *on_edge(uint32_t edge)
    {
        if (!anchors_[edge])
            anchors_[edge] = new_anchor(r_.places[edge]);
        return anchors_[edge];
    }
    void add_to_word(Instruction *before, uint32_t counter, Value *amount)
    {
        builder_.SetInsertPoint(before);
        Value *word = builder_.CreateConstInBoundsGEP2_64(array_->getValueType(), array_, 0, counter);
        builder_.CreateStore(builder_.CreateAdd(builder_.CreateLoad(word_, word), amount), word);
    }
    AllocaInst *new_variable()
    {
        builder_.SetInsertPoint(&r_.function->getEntryBlock(), r_.function->getEntryBlock().begin());
        variables_.push_back(builder_.CreateAlloca(word_));
        return variables_.back();
    }
    void set_variable(Instruction *before, AllocaInst *variable, int64_t value)
    {
        builder_.SetInsertPoint(before);
        builder_.CreateStore(number(value), variable);
    }
    void add_to_variable(Instruction *before, AllocaInst *variable, Value *amount)
    {
        builder_.SetInsertPoint(before);
        builder_.CreateStore(builder_.CreateAdd(value_of(before, variable), amount), variable);
    }
    Value *value_of(Instruction *before, AllocaInst *variable)
    {
        builder_.SetInsertPoint(before);
        return builder_.CreateLoad(word_, variable);
    }
    Value *number(int64_t value)
    {
        return ConstantInt::getSigned(word_, value);
    }
    void finish()
    {
        DominatorTree dominators(*r_.function);
        PromoteMemToReg(variables_, dominators);
    }

  private:
    Instruction *new_anchor(const place &where)
    {
        if (where.before)
            return where.before;
        if (!where.from || (where.to->getUniquePredecessor() && !where.from->getUniqueSuccessor()))
            return first_of(where.to);
        Instruction *end = where.from->getTerminator();
        if (where.from->getUniqueSuccessor() && !isa<InvokeInst>(end))
            return end;
        unsigned way = 0;
        while (end->getSuccessor(way) != where.to)
            way++;
        CriticalEdgeSplittingOptions options;
        options.setMergeIdenticalEdges();
        return SplitCriticalEdge(end, way, options)->getTerminator();
    }

    routine &r_;
    IRBuilder<> builder_;
    std::vector<Instruction *> anchors_;
    std::vector<AllocaInst *> variables_;
    GlobalVariable *array_;
    Type *word_;
};

/* A loop nest whose counters live in variables. */
struct nest {
    const cfg_loop *loop;
    struct variable {
        uint32_t counter;
        AllocaInst *at;
        int start; /* its value on the edges into the nest */
    };
    std::vector<variable> variables;
};

AllocaInst *new_variable(const routine &r, inserter &code, nest &nest, uint32_t edge, int start)
{
    nest.variables.push_back({r.counter[edge], code.new_variable(), start});
    return nest.variables.back().at;
}

void add_trips(const routine &r, const loop_facts &facts, inserter &code, uint32_t loop, nest *nest, uint32_t edge)
{
    Value *trips = facts.trips[loop];
    AllocaInst *variable = nest ? new_variable(r, code, *nest, edge, 0) : nullptr;
    each_entry(r, facts.loops, facts.loops.at[facts.at[loop]], [&](uint32_t entry) {
        if (variable)
            code.add_to_variable(code.on_edge(entry), variable, trips);
        else
            code.add_to_word(code.on_edge(entry), r.counter[edge], trips);
    });
}

void count_in_variable(const routine &r, const cfg_loops &loops, inserter &code, nest &nest, uint32_t edge)
{
    const cfg_loop *loop = head_to_count(r, loops, edge);
    AllocaInst *variable = new_variable(r, code, nest, edge, loop && loop == nest.loop ? -1 : 0);
    if (!loop) {
        code.add_to_variable(code.on_edge(edge), variable, code.number(1));
        return;
    }
    code.add_to_variable(first_of(r.blocks[loop->head]), variable, code.number(1));
    if (loop != nest.loop)
        each_entry(r, loops, *loop,
                   [&](uint32_t entry) { code.add_to_variable(code.on_edge(entry), variable, code.number(-1)); });
}

void insert_ways_in_and_out(const routine &r, const cfg_loops &loops, inserter &code, const nest &nest)
{
    for (const auto &each : nest.variables) {
        each_entry(r, loops, *nest.loop,
                   [&](uint32_t entry) { code.set_variable(code.on_edge(entry), each.at, each.start); });
        for (uint32_t i = 0; i < nest.loop->n_exits; i++) {
            Instruction *before = code.on_edge(nest.loop->exits[i]);
            code.add_to_word(before, each.counter, code.value_of(before, each.at));
        }
    }
}

void insert_edge_counters(routine &r, const options &options, const loop_facts &facts, const double *costs)
{
    inserter code(r, options);
    std::map<uint32_t, nest> nests; /* by loop number */
    std::vector<const cfg_loop *> nest_of_edge =
        choose_nests(facts.loops, r.counter, costs, [&](uint32_t e) { return nest_of(r, facts, e); });
    for (uint32_t e = 0; e < r.graph.edges.n; e++) {
        if (r.counter[e] == POINTS_NONE)
            continue;
        uint32_t telling = telling_loop(r, facts, e);
        nest *nest = nullptr;
        if (nest_of_edge[e]) {
            nest = &nests[(uint32_t)(nest_of_edge[e] - facts.loops.at)];
            nest->loop = nest_of_edge[e];
        }
        if (telling != CFG_NONE)
            add_trips(r, facts, code, telling, nest, e);
        else if (nest)
            count_in_variable(r, facts.loops, code, *nest, e);
        else
            code.add_to_word(code.on_edge(e), r.counter[e], code.number(1));
    }
    for (const auto &[number, nest] : nests)
        insert_ways_in_and_out(r, facts.loops, code, nest);
    code.finish();
}

/* One counter a block, at its beginning; after setjmp where the block begins with it. */
void insert_block_counters(routine &r, const options &options)
{
    inserter code(r, options);
    for (uint32_t b = BLOCK_FIRST; b < r.graph.n_blocks; b++)
        if (r.blocks[b]) {
            CallInst *receiver = block_receiver(r.blocks[b]);
            Instruction *before = receiver ? receiver->getNextNode() : first_of(r.blocks[b]);
            code.add_to_word(before, b - BLOCK_FIRST, code.number(1));
        }
}

} // namespace

bool routine_place(routine &r, const options &options, const quiet_functions &quiet, analyses &known, const char **why)
{
    if (options.every_block) {
        r.flags |= POINTS_F_EVERY_BLOCK;
        r.n_counters = r.graph.n_blocks - BLOCK_FIRST;
        r.counter.assign(r.places.size(), POINTS_NONE);
        insert_block_counters(r, options);
        return true;
    }
    loop_facts facts = know_loops(r, options, quiet, known);
    const double *costs = counter_costs(r, facts, options);
    if (!choose_edges(r, costs, why))
        return false;
    insert_edge_counters(r, options, facts, costs);
    return true;
}
