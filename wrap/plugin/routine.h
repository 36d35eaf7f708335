/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function on its way through the compiler: its flow graph and counters (made in GIMPLE, after the last
 * optimisation), the addresses of its blocks and calls (labels put into the finished RTL), and its record in the
 * assembler file (written when the unit ends).
 */
#pragma once
#include "gcc_version.h"
extern "C" {
#include "wrap/flow/cfg.h"
#include "wrap/flow/knuth.h"
#include "wrap/flow/measured.h"
}
#include "wrap/only.h"
#include "wrap/points.h"
#include <string>
#include <vector>

struct options {
    bool every_block;       /* a counter in every block: what the tests compare with */
    bool promote = true;    /* counters of call-free loops live in registers */
    bool exceptions = true; /* account for frames that an exception removes */
    bool bytes = true;      /* count bytes at allocation points */
    bool trips = true;      /* iterations that the loop counts itself are not counted again */
    bool called = true;     /* calls that callers count are not counted again */
    bool verbose;
    std::string only;                 /* patterns of the functions to count (only.h); empty = all */
    measured *from = nullptr;         /* executions of an earlier run; null: none */
    tls_model model = TLS_MODEL_REAL; /* TLS_MODEL_REAL: by how the unit is compiled */
};

/* Places where the execution of a flow edge can be counted. */
struct place {
    edge on = nullptr;        /* on this edge of the CFG ... */
    gimple *before = nullptr; /* ... or before this statement (a tail call); neither: nowhere */
    bool is_fixed() const
    {
        return !on && !before;
    }
};

struct line {
    uint32_t block;
    const char *file;
    uint32_t number, copy;
};

struct alloc {
    uint32_t counter, block;
    location_t where;
    gcall *call; /* until the function is finished */
    std::string callee;
    points_asked asked;
};

/* A call of a function that does not count its calls. */
struct site {
    uint32_t block;
    tree callee;
    uint32_t counter; /* POINTS_NONE: as often as the block */
    gimple *call;     /* until the function is finished */
};

struct label {
    uint32_t number; /* of .L */
    uint32_t block;
    points_what what;
};

struct routine {
    tree decl = nullptr;
    uint32_t id = 0;                       /* in the unit */
    uint32_t dispatcher = POINTS_NONE;     /* block of setjmp's abnormal edges: it has no code */
    uint32_t flags = 0;                    /* POINTS_F_; those of calls are added when it is written */
    cfg graph{};                           /* flow blocks: the root, EXIT, then the function's blocks in order */
    std::vector<basic_block> blocks;       /* by flow block */
    std::vector<place> places;             /* by flow edge */
    std::vector<unsigned char> is_counted; /* by flow edge */
    std::vector<uint32_t> counter;         /* by flow edge; POINTS_NONE */
    uint32_t n_counters = 0;
    tree counters = nullptr; /* the thread-local array; null: no counters */
    std::vector<line> lines;
    std::vector<tree> copies; /* scopes of inlined routines; copy n is copies[n - 1] */
    std::vector<site> sites;
    std::vector<alloc> allocs;
    std::vector<label> labels;
    uint32_t entry_label = 0;
    std::string group;       /* comdat group; empty = none */
    std::string source_name; /* "ns::solve(int)" */

    ~routine()
    {
        cfg_release(&graph);
    }
};

/* Without the mark that says "as it stands". */
static inline const char *routine_symbol(tree decl)
{
    const char *symbol = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl));
    return symbol + (*symbol == '*');
}

/* calls.cc: true for a call during which the thread cannot reach a synchronisation and which always comes back. */
bool call_is_harmless(const gimple *call);
/* Finds out whether that holds for calls of the function in hand. */
void calls_remember();

/* plugin.cc: the user asked for this function, or for all. */
bool routine_is_asked_for(tree decl, const options &options);

/* graph.cc: why the function is never counted, whatever its code; null = it may be. */
const char *routine_why_never(tree decl);
/* graph.cc: this statement may leave its block without going on behind it. Or a thread may be there at a
 * synchronisation. */
bool may_leave(gimple *stmt);
/* graph.cc: false, with the reason, when the function cannot be counted. Changes tail calls so that each has a return
 * statement of its own. */
bool routine_build_graph(routine &r, const options &options, const char **why);
/* A returns-twice call that is the block's first statement, or null. */
gimple *block_receiver(basic_block block);
/* True when nothing but a return statement follows the edge. Sets *value to what it returns then. */
bool edge_returns(edge e, tree *value);

/* place.cc: chooses the counters and inserts them. False, with the reason, when placement fails (nothing changed). */
bool routine_place(routine &r, const options &options, const char **why);

/* Statements that add the amount to a counter's word. */
gimple_seq counter_add(const routine &r, uint32_t counter, tree amount);
void insert_before(gimple *stmt, gimple_seq seq);

/* called.cc: which functions do not count their calls, from the call graph after inlining. Then whether this one does
 * not, and whether too little is known of its calls. called_lose: it is; true when that is new. */
void called_decide(const options &options);
void called_forget();
bool is_called(tree decl);
bool is_unknown(tree decl);
bool called_lose(tree decl);
/* Those that the function in hand calls: it is not counted. */
void called_lose_calls();
/* Finds the calls of such functions and gives them counters where they need some. Then inserts what counts there. */
void routine_find_sites(routine &r);
void routine_count_sites(const routine &r);

/* bytes.cc: finds the allocation points and gives them counters. Then inserts what counts there. */
void routine_find_allocs(routine &r);
void routine_count_bytes(const routine &r);

/* computed.cc: how often a loop went back to its head since it was entered, without counting. */
struct trips {
    enum { UNKNOWN, ON_ENTRY, AT_EXIT } kind = UNKNOWN;
    tree niter = nullptr; /* ON_ENTRY */
    /* ON_ENTRY: the loop before which the number is added (this one or one around it), and how often this one is
     * entered then: the product of these. */
    struct times {
        tree niter;
        bool is_one_more;
    };
    uint32_t at = CFG_NONE;
    std::vector<times> entered;
    tree phi = nullptr, next = nullptr, base = nullptr; /* AT_EXIT: a variable, its next and its first value */
    HOST_WIDE_INT step = 0;
};
/* GCC's own view of loops, which needs a block before each loop: prepared before the graph is built, and given up when
 * the counters are placed. */
void routine_prepare_loops();
void routine_forget_loops();
/* By loop. */
std::vector<trips> routine_find_trips(const routine &r, const cfg_loops &loops, const std::vector<bool> &is_quiet);
/* The number, computed in seq, which belongs on an edge into the loop `at` or (with dominators known) out of it. */
tree trips_on_entry(const trips &trips, gimple_seq *seq);
tree trips_at_exit(const trips &trips, edge exit, gimple_seq *seq);

/* computed.cc: the condition whose outcome tells whether this edge is taken, when it merely chooses a value; else null.
 */
struct arm {
    gcond *condition = nullptr;
    bool is_true = false;
    basic_block join = nullptr; /* where the value is chosen, if nothing else leads there */
};
arm routine_find_arm(edge e);
/* 1 when the edge will be taken, 0 when not, computed in seq, which belongs before the condition. */
tree arm_outcome(const arm &arm, gimple_seq *seq);

/* calls.cc: the function in hand and those it calls are no longer pure or const, from the placing of its counters
 * until it is finished. */
void purity_forget();
void purity_restore();

/* registers.cc: counters' addresses occupy no registers; called before the compiler moves what they share. */
void routine_settle_addresses(const routine &r);
/* registers.cc: registers need not be saved before an early return is known; called before they are allocated. */
void routine_clear_early_returns(const routine &r);

/* emit.cc: statements are tagged with their block. The tags survive in the locations of the instructions. */
void routine_tag_statements(routine &r);
/* Before and after the pass that makes one call of two. */
void routine_part_calls(const routine &r);
void routine_rejoin_calls(const routine &r);
/* After the last pass that moves instructions. */
void routine_emit_labels(routine &r);

/* All records of the unit, to asm_out_file. */
void routine_emit(const routine &r);
/* The unit's own record. */
void unit_emit();
