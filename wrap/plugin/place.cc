// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters into the code. An edge is counted by adding one to a thread-local word; inside a loop nest in which the
 * thread cannot reach a synchronisation, by adding one to a local variable instead, which is zeroed on the edges into
 * the nest and added to the word on the edges out of it. The variable is an ordinary one: renaming it into SSA form and
 * giving it a register is the compiler's business. A choice between two values is counted by its outcome, and a loop
 * that tells its iterations by what it tells (computed.cc).
 */
#include "costs.h"
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

tls_model model_of_unit(const options &options)
{
    if (options.model != TLS_MODEL_REAL)
        return options.model;
    return flag_shlib ? TLS_MODEL_LOCAL_DYNAMIC : TLS_MODEL_LOCAL_EXEC;
}

tree counter_array(const routine &r, const options &options)
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
    if (flag_section_anchors) /* its own initial value: one that the compiler lays out with no others, and not at all */
        DECL_INITIAL(array) = array;
    set_decl_tls_model(array, model_of_unit(options));
    return array;
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

void insert_on(edge e, gimple_seq seq)
{
    gsi_insert_seq_on_edge(e, seq);
}

void add_to_variable(edge e, tree variable, int amount)
{
    tree value = build_int_cst(uint64_type_node, amount);
    gsi_insert_on_edge(e, gimple_build_assign(variable, PLUS_EXPR, variable, value));
}

tree new_variable(const routine &r, nest &nest, uint32_t edge, int start)
{
    tree variable = create_tmp_reg(uint64_type_node, "whywait");
    DECL_IGNORED_P(variable) = 1;
    nest.variables.push_back({r.counter[edge], variable, start, nullptr, nullptr});
    return variable;
}

/* Adds what the loop tells, to a variable of the nest around it or, without one, to the word. */
void add_trips(const routine &r, const cfg_loops &loops, const trips &trips, nest *nest, uint32_t edge)
{
    const cfg_loop &loop = loops.at[trips.at];
    tree variable = nest ? new_variable(r, *nest, edge, 0) : nullptr;
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

/* Behind the choice the comparison made for it serves once more; before it, counting would spoil the flags. */
void insert_beside(const arm &arm, gimple_seq seq)
{
    if (arm.join)
        insert_at_beginning(arm.join, seq);
    else
        insert_before(arm.condition, seq);
}

/* In the nest's last variable. If the other outcome is counted already, it is cheaper to count both. */
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
    insert_beside(arm, seq);
}

void count_in_variable(const routine &r, const cfg_loops &loops, nest &nest, uint32_t edge)
{
    const cfg_loop *loop = head_to_count(r, loops, edge);
    tree variable = new_variable(r, nest, edge, loop && loop == nest.loop ? -1 : 0);
    arm arm = routine_find_arm(r.places[edge].on);
    if (!loop && arm.condition) {
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

/* In the counter's word. */
void count_in_memory(const routine &r, uint32_t edge)
{
    const place &where = r.places[edge];
    arm arm = where.on ? routine_find_arm(where.on) : ::arm{};
    gimple_seq seq = nullptr;
    tree amount = arm.condition ? arm_outcome(arm, &seq) : one();
    gimple_seq_add_seq(&seq, counter_add(r, r.counter[edge], amount));
    if (arm.condition)
        insert_beside(arm, seq);
    else if (where.on)
        insert_on(where.on, seq);
    else
        insert_before(where.before, seq);
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

void insert_edge_counters(const routine &r, const loop_facts &facts, const double *costs)
{
    calculate_dominance_info(CDI_DOMINATORS);
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
            add_trips(r, facts.loops, facts.trips[telling], nest, e);
        else if (nest)
            count_in_variable(r, facts.loops, *nest, e);
        else
            count_in_memory(r, e);
    }
    for (const auto &[number, nest] : nests)
        insert_ways_in_and_out(r, facts.loops, nest);
}

/* One counter a block, at its beginning; after setjmp where the block begins with it. */
void insert_block_counters(const routine &r)
{
    for (uint32_t b = BLOCK_FIRST; b < r.graph.n_blocks; b++) {
        if (b == r.dispatcher)
            continue;
        gimple_seq seq = counter_add(r, b - BLOCK_FIRST, one());
        gimple *receiver = block_receiver(r.blocks[b]);
        if (receiver && receiver == gcc_last_statement(r.blocks[b])) {
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

bool choose_edges(routine &r, const double *costs, const char **why)
{
    std::vector<unsigned char> is_fixed;
    for (const place &where : r.places)
        is_fixed.push_back(where.is_fixed());
    r.is_counted.resize(r.places.size());
    uint32_t n =
        knuth_place(&r.graph, is_called(r.decl) ? BLOCK_ROOT : BLOCK_EXIT, costs, is_fixed.data(), r.is_counted.data());
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
    loop_facts facts;
    const double *costs = nullptr;
    if (options.every_block) {
        r.flags |= POINTS_F_EVERY_BLOCK;
        r.n_counters = r.graph.n_blocks - BLOCK_FIRST;
        r.counter.assign(r.places.size(), POINTS_NONE);
    } else {
        facts = know_loops(r, options);
        costs = counter_costs(r, facts, options);
        if (!choose_edges(r, costs, why))
            return false;
    }
    routine_find_sites(r);
    if (options.bytes)
        routine_find_allocs(r);
    if (r.n_counters)
        r.counters = counter_array(r, options);
    if (options.every_block)
        insert_block_counters(r);
    else
        insert_edge_counters(r, facts, costs);
    routine_count_sites(r);
    routine_count_bytes(r);
    gsi_commit_edge_inserts();
    purity_forget();
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    return true;
}
