// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters into the code. An edge is counted by adding one to a thread-local word; inside a loop nest in which the
 * thread cannot reach a synchronisation, by adding one to a local variable instead, which is zeroed on the edges into
 * the nest and added to the word on the edges out of it. The variable is an ordinary one: renaming it into SSA form and
 * giving it a register is the compiler's business.
 *
 * An edge from a block with several ways out to one with several ways in can only be counted in a block of its own,
 * which costs a jump: such edges weigh double. Where the edge is the only way back in a loop, its head is counted
 * instead, and one is taken off for every entry into the loop; and where only a return follows, the compiler repeats
 * that rather than jump to it.
 */
#include "routine.h"
#include <algorithm>
#include <map>

static tree counter_word(const routine &r, uint32_t counter)
{
    return build4(ARRAY_REF, uint64_type_node, r.counters, size_int(counter), NULL_TREE, NULL_TREE);
}

gimple_seq counter_add(const routine &r, uint32_t counter, tree amount)
{
    tree old_value = make_ssa_name(uint64_type_node), new_value = make_ssa_name(uint64_type_node);
    gimple_seq seq = nullptr;
    gimple_seq_add_stmt(&seq, gimple_build_assign(old_value, counter_word(r, counter)));
    gimple_seq_add_stmt(&seq, gimple_build_assign(new_value, PLUS_EXPR, old_value, amount));
    gimple_seq_add_stmt(&seq, gimple_build_assign(counter_word(r, counter), new_value));
    return seq;
}

static void insert_at_beginning(basic_block block, gimple_seq seq)
{
    gimple_stmt_iterator at = gsi_after_labels(block);
    gsi_insert_seq_before(&at, seq, GSI_SAME_STMT);
}

void insert_before(gimple *stmt, gimple_seq seq)
{
    gimple_stmt_iterator at = gsi_for_stmt(stmt);
    gsi_insert_seq_before(&at, seq, GSI_SAME_STMT);
}

namespace
{

tree counter_array(const routine &r)
{
    char name[64];
    snprintf(name, sizeof name, "*.LWWc%u", r.id);
    tree type = build_array_type_nelts(uint64_type_node, r.n_counters);
    tree array = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(name + 1), type);
    SET_DECL_ASSEMBLER_NAME(array, get_identifier(name));
    TREE_STATIC(array) = 1;
    TREE_USED(array) = 1;
    DECL_ARTIFICIAL(array) = 1;
    DECL_IGNORED_P(array) = 1;
    DECL_NONALIASED(array) = 1;
    return array;
}

tls_model model_of_unit(const options &options)
{
    if (options.model != TLS_MODEL_REAL)
        return options.model;
    return flag_shlib ? TLS_MODEL_LOCAL_DYNAMIC : TLS_MODEL_LOCAL_EXEC;
}

tree one()
{
    return build_one_cst(uint64_type_node);
}

/* A loop nest whose counters live in variables. */
struct nest {
    const cfg_loop *loop;
    struct variable {
        uint32_t counter;
        tree decl;
        int start;              /* its value on the edges into the nest */
        const gcond *condition; /* counts one outcome of it, or all where `less` is counted, the other outcome; null */
        tree less;
    };
    std::vector<variable> variables;
};

bool block_is_quiet(basic_block block)
{
    for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
        if (is_gimple_call(gsi_stmt(at)) && !call_is_harmless(gsi_stmt(at)))
            return false;
    return true;
}

/* Nothing in the loop can synchronise, and every way in and out can carry code. */
bool loop_is_quiet(const routine &r, const cfg_loop &loop)
{
    if (loop.is_irreducible || !loop.n_exits)
        return false;
    for (uint32_t i = 0; i < loop.n_blocks; i++)
        if (!block_is_quiet(r.blocks[loop.blocks[i]]))
            return false;
    for (uint32_t i = 0; i < loop.n_exits; i++)
        if (!r.places[loop.exits[i]].on)
            return false;
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++)
        if (!r.places[r.graph.in[i]].on)
            return false;
    return true;
}

/* The outermost quiet loop around an edge, or null. */
const cfg_loop *nest_of(const routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet, uint32_t edge)
{
    const cfg_edge &ends = r.graph.edges.at[edge];
    const cfg_loop *nest = nullptr;
    for (uint32_t l = loops.innermost[ends.from]; l != CFG_NONE; l = loops.at[l].parent)
        if (is_quiet[l] && cfg_loop_contains(&loops, l, ends.to))
            nest = &loops.at[l];
    return nest;
}

/* Every exit of a nest adds each of its variables to a word. With more of these additions than MOST_ADDITIONS the code
 * would grow by the square of the loop's size. */
enum { MOST_ADDITIONS = 256 };

/* By edge: the nest in a variable of which it is counted, or null. Where there is no room for all, the dearest have it.
 */
std::vector<const cfg_loop *> choose_nests(const routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet,
                                           const double *costs)
{
    std::vector<const cfg_loop *> nests(r.graph.edges.n);
    std::vector<uint64_t> n_additions(loops.n);
    std::vector<uint32_t> by_cost;
    for (uint32_t e = 0; e < r.graph.edges.n; e++)
        if (r.counter[e] != POINTS_NONE)
            by_cost.push_back(e);
    std::stable_sort(by_cost.begin(), by_cost.end(), [&](uint32_t a, uint32_t b) { return costs[a] > costs[b]; });
    for (uint32_t e : by_cost) {
        const cfg_loop *nest = nest_of(r, loops, is_quiet, e);
        if (nest && (n_additions[(size_t)(nest - loops.at)] += nest->n_exits) <= MOST_ADDITIONS)
            nests[e] = nest;
    }
    return nests;
}

void insert_on(edge e, gimple_seq seq)
{
    gsi_insert_seq_on_edge(e, seq);
}

bool is_critical(const place &where)
{
    return where.on && !single_succ_p(where.on->src) && !single_pred_p(where.on->dest);
}

void add_to_variable(edge e, tree variable, int amount)
{
    tree value = build_int_cst(uint64_type_node, amount);
    gsi_insert_on_edge(e, gimple_build_assign(variable, PLUS_EXPR, variable, value));
}

/* Calls act(edge) for the edges into a loop's head from outside. */
template <typename F> void each_entry(const routine &r, const cfg_loops &loops, const cfg_loop &loop, F act)
{
    for (uint32_t i = r.graph.in_at[loop.head]; i < r.graph.in_at[loop.head + 1]; i++)
        if (!cfg_loop_contains(&loops, (uint32_t)(&loop - loops.at), r.graph.edges.at[r.graph.in[i]].from))
            act(r.places[r.graph.in[i]].on);
}

/* The loop whose only way back this edge is, when counting its head instead saves a jump; or null. */
const cfg_loop *loop_to_count_at_head(const routine &r, const cfg_loops &loops, uint32_t edge)
{
    uint32_t head = r.graph.edges.at[edge].to, l = loops.innermost[head];
    if (!is_critical(r.places[edge]) || !loops.order.is_retreating[edge] || l == CFG_NONE)
        return nullptr;
    const cfg_loop &loop = loops.at[l];
    if (loop.head != head || loop.is_irreducible || loop.n_back_edges != 1)
        return nullptr;
    bool is_open = true;
    each_entry(r, loops, loop, [&](struct edge_def *e) { is_open &= e != nullptr; });
    return is_open ? &loop : nullptr;
}

/* Counted in a block of its own, from which a jump leads back. */
bool needs_jump(const routine &r, const cfg_loops &loops, uint32_t edge)
{
    tree value;
    return is_critical(r.places[edge]) && !loop_to_count_at_head(r, loops, edge) &&
           !edge_returns(r.places[edge].on, &value);
}

tree new_variable(const routine &r, nest &nest, uint32_t edge, int start)
{
    tree variable = create_tmp_reg(uint64_type_node, "whywait");
    DECL_IGNORED_P(variable) = 1;
    nest.variables.push_back({r.counter[edge], variable, start, nullptr, nullptr});
    return variable;
}

/* The quiet loop that tells its iterations, when the edge is its way back; or CFG_NONE. */
uint32_t telling_loop(const routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet,
                      const std::vector<trips> &trips, uint32_t edge)
{
    uint32_t head = r.graph.edges.at[edge].to, l = loops.innermost[head];
    if (l == CFG_NONE || loops.at[l].head != head || !loops.order.is_retreating[edge] || !is_quiet[l] ||
        trips[l].kind == trips::UNKNOWN)
        return CFG_NONE;
    return l;
}

/* Adds what the loop tells, to the word itself when it is the whole nest or the nest has no room (null). */
void add_trips(const routine &r, const cfg_loops &loops, const trips &trips, nest *nest, uint32_t edge)
{
    const cfg_loop &loop = loops.at[trips.at];
    tree variable = nest && &loop != nest->loop ? new_variable(r, *nest, edge, 0) : nullptr;
    auto add = [&](struct edge_def *e, gimple_seq seq, tree amount) {
        if (variable)
            gimple_seq_add_stmt(&seq, gimple_build_assign(variable, PLUS_EXPR, variable, amount));
        else
            gimple_seq_add_seq(&seq, counter_add(r, r.counter[edge], amount));
        insert_on(e, seq);
    };
    if (trips.kind == trips::ON_ENTRY) {
        each_entry(r, loops, loop, [&](struct edge_def *e) {
            gimple_seq seq = nullptr;
            tree amount = trips_on_entry(trips, &seq);
            add(e, seq, amount);
        });
        return;
    }
    for (uint32_t i = 0; i < loop.n_exits; i++) {
        gimple_seq seq = nullptr;
        tree amount = trips_at_exit(trips, r.places[loop.exits[i]].on, &seq);
        add(r.places[loop.exits[i]].on, seq, amount);
    }
}

/* In the nest's last variable. Where the other outcome is counted already, it is cheaper to count both. Behind the
 * choice the comparison made for it serves once more; before it, counting would spoil the flags. */
void count_outcome(const arm &arm, nest &nest)
{
    nest::variable &last = nest.variables.back();
    gimple_seq seq = nullptr;
    tree amount = one();
    for (const nest::variable &each : nest.variables)
        if (each.condition == arm.condition)
            last.less = each.decl;
    if (!last.less) {
        last.condition = arm.condition;
        amount = arm_outcome(arm, &seq);
    }
    gimple_seq_add_stmt(&seq, gimple_build_assign(last.decl, PLUS_EXPR, last.decl, amount));
    if (arm.join)
        insert_at_beginning(arm.join, seq);
    else
        insert_before(arm.condition, seq);
}

void count_in_variable(const routine &r, const cfg_loops &loops, nest &nest, uint32_t edge)
{
    const cfg_loop *loop = loop_to_count_at_head(r, loops, edge);
    tree variable = new_variable(r, nest, edge, loop && loop == nest.loop ? -1 : 0);
    arm arm = routine_find_arm(r.places[edge].on);
    if (!loop && arm.condition && optimize) {
        count_outcome(arm, nest);
        return;
    }
    if (!loop) {
        add_to_variable(r.places[edge].on, variable, 1);
        return;
    }
    insert_at_beginning(r.blocks[loop->head], gimple_build_assign(variable, PLUS_EXPR, variable, one()));
    if (loop != nest.loop)
        each_entry(r, loops, *loop, [&](struct edge_def *e) { add_to_variable(e, variable, -1); });
}

gimple_seq add_variable(const routine &r, const nest::variable &variable)
{
    if (!variable.less)
        return counter_add(r, variable.counter, variable.decl);
    gimple_seq seq = nullptr;
    tree rest = make_ssa_name(uint64_type_node);
    gimple_seq_add_stmt(&seq, gimple_build_assign(rest, MINUS_EXPR, variable.decl, variable.less));
    gimple_seq_add_seq(&seq, counter_add(r, variable.counter, rest));
    return seq;
}

void insert_ways_in_and_out(const routine &r, const cfg_loops &loops, const nest &nest)
{
    each_entry(r, loops, *nest.loop, [&](struct edge_def *e) {
        for (const auto &each : nest.variables)
            gsi_insert_on_edge(e, gimple_build_assign(each.decl, build_int_cst(uint64_type_node, each.start)));
    });
    for (uint32_t i = 0; i < nest.loop->n_exits; i++)
        for (const auto &each : nest.variables)
            insert_on(r.places[nest.loop->exits[i]].on, add_variable(r, each));
}

void insert_edge_counters(const routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet,
                          const std::vector<trips> &trips, const double *costs)
{
    calculate_dominance_info(CDI_DOMINATORS);
    std::map<uint32_t, nest> nests; /* by loop number */
    std::vector<const cfg_loop *> nest_of_edge = choose_nests(r, loops, is_quiet, costs);
    for (uint32_t e = 0; e < r.graph.edges.n; e++) {
        if (r.counter[e] == POINTS_NONE)
            continue;
        uint32_t telling = telling_loop(r, loops, is_quiet, trips, e);
        nest *nest = nullptr;
        if (nest_of_edge[e]) {
            nest = &nests[(uint32_t)(nest_of_edge[e] - loops.at)];
            nest->loop = nest_of_edge[e];
        }
        if (telling != CFG_NONE)
            add_trips(r, loops, trips[telling], nest, e);
        else if (nest)
            count_in_variable(r, loops, *nest, e);
        else if (r.places[e].on)
            insert_on(r.places[e].on, counter_add(r, r.counter[e], one()));
        else
            insert_before(r.places[e].before, counter_add(r, r.counter[e], one()));
    }
    for (const auto &[number, nest] : nests)
        insert_ways_in_and_out(r, loops, nest);
}

/* One counter a block, at its beginning; after setjmp where the block begins with it. */
void insert_block_counters(const routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.graph.n_blocks; b++) {
        if (b == r.dispatcher)
            continue;
        gimple_seq seq = counter_add(r, b - BLOCK_FIRST, one());
        gimple *receiver = block_receiver(r.blocks[b]);
        if (receiver && receiver == last_stmt(r.blocks[b])) {
            edge e = find_fallthru_edge(r.blocks[b]->succs);
            if (e)
                insert_on(e, seq);
        } else if (receiver) {
            gimple_stmt_iterator at = gsi_for_stmt(receiver);
            gsi_insert_seq_after(&at, seq, GSI_SAME_STMT);
        } else {
            insert_at_beginning(r.blocks[b], seq);
        }
    }
}

/* How often a block is executed, as far as the weights of its ways out tell. */
double block_weight(const routine &r, const double *weights, uint32_t block)
{
    double sum = 0;
    for (uint32_t i = r.graph.out_at[block]; i < r.graph.out_at[block + 1]; i++)
        sum += weights[r.graph.out[i]];
    return sum;
}

/* The flow block that ends with the condition, looked for from the edge backwards. */
uint32_t block_of_condition(const routine &r, uint32_t edge, const gcond *condition)
{
    uint32_t block = r.graph.edges.at[edge].from;
    if (r.blocks[block] != gimple_bb(condition))
        block = r.graph.edges.at[r.graph.in[r.graph.in_at[block]]].from;
    return block;
}

/* What a counter on each edge costs: how often it is executed, and how dear that is. */
double *counter_costs(routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet,
                      const std::vector<trips> &trips)
{
    const double *weights = knuth_weights(&r.graph, &loops);
    double *costs = arena_array(&r.graph.arena, double, r.places.size());
    std::vector<double> entries(loops.n);
    for (uint32_t l = 0; l < loops.n; l++)
        for (uint32_t i = r.graph.in_at[loops.at[l].head]; i < r.graph.in_at[loops.at[l].head + 1]; i++)
            if (!cfg_loop_contains(&loops, l, r.graph.edges.at[r.graph.in[i]].from))
                entries[l] += weights[r.graph.in[i]];
    for (uint32_t e = 0; e < r.places.size(); e++) {
        uint32_t telling = telling_loop(r, loops, is_quiet, trips, e);
        arm arm =
            optimize && r.places[e].on && nest_of(r, loops, is_quiet, e) ? routine_find_arm(r.places[e].on) : ::arm{};
        costs[e] = weights[e];
        if (telling != CFG_NONE)
            costs[e] = entries[trips[telling].at];
        else if (arm.condition)
            costs[e] = block_weight(r, weights, block_of_condition(r, e, arm.condition));
        else if (needs_jump(r, loops, e))
            costs[e] *= 2;
    }
    return costs;
}

bool choose_edges(routine &r, const double *costs, const char **why)
{
    std::vector<unsigned char> is_fixed;
    for (const place &where : r.places)
        is_fixed.push_back(where.is_fixed());
    r.is_counted.resize(r.places.size());
    uint32_t n = knuth_place(&r.graph, BLOCK_EXIT, costs, is_fixed.data(), r.is_counted.data());
    if (n == CFG_NONE) {
        *why = "its jumps to computed places leave no spanning tree";
        return false;
    }
    for (uint32_t e = 0; e < r.places.size(); e++)
        r.counter.push_back(r.is_counted[e] ? r.n_counters++ : (uint32_t)POINTS_NONE);
    return true;
}

} // namespace

bool routine_place(routine &r, const options &options, const char **why)
{
    cfg_loops loops = cfg_find_loops(&r.graph);
    std::vector<bool> is_quiet(loops.n);
    std::vector<trips> trips(loops.n);
    const double *costs = nullptr;
    if (options.every_block) {
        r.flags |= POINTS_F_EVERY_BLOCK;
        r.n_counters = r.graph.n_blocks - BLOCK_FIRST;
        r.counter.assign(r.places.size(), POINTS_NONE);
    } else {
        for (uint32_t l = 0; l < loops.n; l++)
            is_quiet[l] = options.promote && loop_is_quiet(r, loops.at[l]);
        if (options.promote && options.trips)
            trips = routine_find_trips(r, loops, is_quiet);
        costs = counter_costs(r, loops, is_quiet, trips);
        if (!choose_edges(r, costs, why))
            return false;
    }
    if (options.bytes)
        routine_find_allocs(r);
    r.counters = counter_array(r);
    set_decl_tls_model(r.counters, model_of_unit(options));
    if (options.every_block)
        insert_block_counters(r);
    else
        insert_edge_counters(r, loops, is_quiet, trips, costs);
    routine_count_bytes(r);
    gsi_commit_edge_inserts();
    purity_forget();
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    return true;
}
