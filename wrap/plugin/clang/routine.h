/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function on its way through LLVM: its flow graph and counters (made in IR, after the last optimisation), the
 * addresses of its blocks and calls (labels put into the finished machine code), and its record in the object file
 * (written when the unit ends).
 */
#pragma once
#include "wrap/plugin/clang/llvm_version.h"
extern "C" {
#include "wrap/flow/cfg.h"
#include "wrap/flow/knuth.h"
#include "wrap/flow/measured.h"
}
#include "wrap/points.h"
#include <memory>
#include <set>
#include <string>
#include <vector>

struct options {
    bool every_block;  /* a counter in every block: what the tests compare with */
    bool promote;      /* counters of call-free loops live in registers */
    bool exceptions;   /* account for frames that an exception removes */
    bool initial_exec; /* shared libraries are there from the start */
    measured *from;    /* executions of an earlier run; null: none */
};

/* Places where the execution of a flow edge can be counted. */
struct place {
    llvm::BasicBlock *from = nullptr, *to = nullptr; /* on this edge (from the root: only `to`) ... */
    llvm::Instruction *before = nullptr; /* ... or before this one (a return, a tail call); neither: nowhere */
    bool is_fixed() const
    {
        return !to && !before;
    }
};

struct line {
    uint32_t block;
    std::string file;
    uint32_t number, copy;
};

struct label {
    llvm::MCSymbol *symbol;
    uint32_t block;
    points_what what;
};

struct routine {
    llvm::Function *function = nullptr;
    uint32_t id = 0;                        /* in the unit */
    uint32_t dispatcher = POINTS_NONE;      /* block of setjmp's second returns: it has no code */
    uint32_t flags = 0;                     /* POINTS_F_ */
    cfg graph{};                            /* flow blocks: the root, EXIT, then the function's blocks in order */
    std::vector<llvm::BasicBlock *> blocks; /* by flow block; null = without code */
    std::vector<place> places;              /* by flow edge */
    std::vector<unsigned char> is_counted;  /* by flow edge */
    std::vector<uint32_t> counter;          /* by flow edge; POINTS_NONE */
    uint32_t n_counters = 0;
    llvm::WeakTrackingVH counters; /* the thread-local array */
    std::vector<line> lines;
    std::vector<const llvm::DILocation *> copies; /* where routines were inlined; copy n is copies[n - 1] */
    std::vector<label> labels;
    llvm::MCSymbol *entry_label = nullptr; /* null until it has passed through code generation */
    std::string file, name, source_name;
    uint32_t line_number = 0;

    ~routine()
    {
        cfg_release(&graph);
    }
};

/* LLVM's analyses of one function, made anew where the function has changed. */
struct analyses {
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::AssumptionCache assumptions;
    llvm::ScalarEvolution evolution;
    llvm::TargetTransformInfo &target;

    analyses(llvm::Function &function, llvm::TargetLibraryInfo &library, llvm::TargetTransformInfo &machine)
        : dominators(function), loops(dominators), assumptions(function),
          evolution(function, library, assumptions, dominators, loops), target(machine)
    {
    }
};

/* Functions of the unit during which the thread cannot reach a synchronisation. */
struct quiet_functions {
    std::set<const llvm::Function *> functions;
    bool uses_longjmp = false;
};

/* calls.cc */
quiet_functions calls_find_quiet(llvm::Module &unit);
/* During this call the thread cannot reach a synchronisation, and it always comes back. */
bool call_is_harmless(const quiet_functions &quiet, const llvm::CallBase &call);
/* It will be a few instructions and no call. */
bool call_is_cheap(const llvm::CallBase &call);

/* graph.cc: gives tail calls returns of their own, and loops a block before them. */
void routine_prepare(llvm::Function &function, llvm::TargetLibraryInfo &library, llvm::TargetTransformInfo &machine);
/* False, with the reason, when the function cannot be counted. */
bool routine_build_graph(routine &r, const options &options, const quiet_functions &quiet, const char **why);
/* A call of setjmp that is the block's first instruction, or null. */
llvm::CallInst *block_receiver(llvm::BasicBlock *block);

/* place.cc: chooses the counters and inserts them. False, with the reason, when placement fails. */
bool routine_place(routine &r, const options &options, const quiet_functions &quiet, analyses &known, const char **why);

/* emit.cc: instructions are tagged with their block. The tags survive in the locations of machine instructions. */
void routine_tag(routine &r, llvm::DISubprogram *stand_in);
/* After the last pass that moves instructions. */
void routine_emit_labels(routine &r, llvm::MachineFunction &code);
/* All records of the unit, and the unit's own, to the object or assembler file. */
void unit_emit(const std::vector<std::unique_ptr<routine>> &routines, llvm::AsmPrinter &printer);
