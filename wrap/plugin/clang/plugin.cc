// SPDX-License-Identifier: BSD-3-Clause
/*
 * Exact execution counts at next to no cost: the plugin for clang. A pass over the unit's IR, after the last one,
 * chooses and inserts the counters (after Knuth and Stevenson). A pass over machine code, after the last one, marks
 * where blocks and calls ended up. When the unit ends, a table of everything goes into sections of the object file
 * (points.h).
 *
 * LLVM lets plugins add passes over IR. The pass over machine code takes the place of one that does nothing for ELF,
 * and the table is written by a printer for the metadata of a garbage collector that no function has.
 *
 * Options (-Xclang -mllvm -Xclang -whywait-NAME[=VALUE], after -Xclang -load -Xclang PLUGIN):
 *   initial-exec    faster counters in shared libraries that are never loaded with dlopen
 *   no-exceptions   do not account for frames removed by exceptions (fewer counters; wrong where one passes)
 *   only=PATTERN    count these functions alone (only.h); may be given several times
 *   from=FILE       place counters by what an earlier run executed (measured.h)
 *   verbose         a note for every function that is not counted, with the reason
 *   every-block, no-promote   for tests and measurements
 */
#include "wrap/plugin/clang/routine.h"
#include "wrap/only.h"

using namespace llvm;

namespace
{

cl::opt<bool> every_block("whywait-every-block", cl::Hidden, cl::desc("a counter in every block"));
cl::opt<bool> no_promote("whywait-no-promote", cl::Hidden, cl::desc("counters of loops in memory"));
cl::opt<bool> no_exceptions("whywait-no-exceptions", cl::Hidden, cl::desc("no account of frames that vanish"));
cl::opt<bool> verbose("whywait-verbose", cl::Hidden, cl::desc("name functions that are not counted"));
cl::opt<bool> initial_exec("whywait-initial-exec", cl::Hidden, cl::desc("no library is loaded with dlopen"));
cl::list<std::string> only("whywait-only", cl::Hidden, cl::desc("count these functions alone"));
cl::opt<std::string> measured_in("whywait-from", cl::Hidden, cl::desc("place counters by an earlier run"));

const char NAME[] = "whywait";
const char ATTRIBUTE[] = "whywait-function"; /* its number in the unit */

std::vector<std::unique_ptr<routine>> the_routines; /* of the unit in hand */

bool is_asked_for(const routine &r)
{
    std::string patterns;
    for (const std::string &each : only)
        patterns += each + ONLY_SEPARATOR;
    return patterns.empty() || only_choose(patterns.c_str(), r.name.c_str(), r.source_name.c_str(), r.file.c_str());
}

void describe(routine &r)
{
    r.name = GlobalValue::dropLLVMManglingEscape(r.function->getName()).str();
    r.source_name = demangle(r.name);
    r.file = r.function->getParent()->getSourceFileName();
    if (DISubprogram *subprogram = r.function->getSubprogram()) {
        r.file = subprogram->getFilename().str();
        r.line_number = subprogram->getLine();
    }
}

/* Locations need a subprogram. One for functions without debug information, of which nothing is written. */
DISubprogram *new_stand_in(Module &unit, const routine &r)
{
    DIBuilder builder(unit, false);
    DIFile *file = builder.createFile(r.file, "");
    builder.createCompileUnit(dwarf::DW_LANG_C, file, NAME, true, "", 0, "", DICompileUnit::NoDebug);
    auto *type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
    DISubprogram *stand_in = builder.createFunction(file, r.name, r.name, file, 0, type, 0, DINode::FlagZero,
                                                    DISubprogram::SPFlagDefinition);
    builder.finalize();
    if (!unit.getModuleFlag("Debug Info Version"))
        unit.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
    return stand_in;
}

/* Why nothing of the unit can be counted, or null. */
const char *why_not(const Module &unit)
{
    Triple target(unit.getTargetTriple());
    bool is_known = (target.getArch() == Triple::x86_64 && !target.isX32()) || target.getArch() == Triple::aarch64;
    if (!is_known || !target.isOSBinFormatELF())
        return "executions are counted on x86-64 and aarch64 with ELF only, not here";
    if (unit.getModuleFlag("ThinLTO") || unit.getModuleFlag("EnableSplitLTOUnit"))
        return "nothing is counted with -flto";
    return nullptr;
}

class counter
{
  public:
    counter(Module &unit, FunctionAnalysisManager &manager)
        : unit_(unit), manager_(manager), quiet_(calls_find_quiet(unit)),
          options_{every_block, !no_promote, !no_exceptions, initial_exec, nullptr}
    {
        if (measured_in.empty())
            return;
        options_.from = measured_read(measured_in.c_str());
        if (!options_.from)
            unit.getContext().emitError("whywait: " + measured_in + ": " + strerror(errno));
    }
    counter(const counter &) = delete;
    counter &operator=(const counter &) = delete;
    ~counter()
    {
        measured_free(options_.from);
    }
    void count(Function &function)
    {
        auto r = std::make_unique<routine>();
        const char *why = "";
        r->function = &function;
        r->id = (uint32_t)the_routines.size();
        describe(*r);
        if (!is_asked_for(*r))
            return;
        TargetLibraryInfo &library = manager_.getResult<TargetLibraryAnalysis>(function);
        TargetTransformInfo &target = manager_.getResult<TargetIRAnalysis>(function);
        routine_prepare(function, library, target);
        if (!place_counters(*r, library, target, &why)) {
            if (*why && verbose)
                errs() << r->file << ":" << r->line_number << ": note: whywait: '" << r->source_name
                       << "' is not counted: " << why << "\n";
            return;
        }
        function.addFnAttr(ATTRIBUTE, std::to_string(r->id));
        the_routines.push_back(std::move(r));
    }

  private:
    bool place_counters(routine &r, TargetLibraryInfo &library, TargetTransformInfo &target, const char **why)
    {
        if (!routine_build_graph(r, options_, quiet_, why))
            return false;
        analyses known(*r.function, library, target);
        options options = options_;
        options.promote &= !r.function->hasOptNone();
        routine_tag(r, r.function->getSubprogram() ? nullptr : new_stand_in(unit_, r));
        return routine_place(r, options, quiet_, known, why);
    }

    Module &unit_;
    FunctionAnalysisManager &manager_;
    quiet_functions quiet_;
    options options_;
};

struct count_pass : PassInfoMixin<count_pass> {
    PreservedAnalyses run(Module &unit, ModuleAnalysisManager &manager)
    {
        the_routines.clear();
        if (const char *why = why_not(unit)) {
            errs() << "warning: whywait: " << why << "\n";
            return PreservedAnalyses::all();
        }
        counter counter(unit, manager.getResult<FunctionAnalysisManagerModuleProxy>(unit).getManager());
        for (Function &each : unit) {
            if (each.isDeclaration() || each.hasAvailableExternallyLinkage())
                continue;
            if (each.hasFnAttribute(ATTRIBUTE))
                each.removeFnAttr(ATTRIBUTE); /* read from a file of IR that has counters, but no table */
            else
                counter.count(each);
        }
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true; /* also without optimisation */
    }
};

/* The function's record, or null. */
routine *routine_of(const Function &function)
{
    unsigned id = 0;
    if (function.getFnAttribute(ATTRIBUTE).getValueAsString().getAsInteger(10, id) || id >= the_routines.size())
        return nullptr;
    return the_routines[id].get();
}

class label_pass : public MachineFunctionPass
{
  public:
    static char ID;
    label_pass() : MachineFunctionPass(ID)
    {
    }
    StringRef getPassName() const override
    {
        return NAME;
    }
    void getAnalysisUsage(AnalysisUsage &usage) const override
    {
        usage.addRequired<GCModuleInfo>();
        usage.setPreservesAll();
        MachineFunctionPass::getAnalysisUsage(usage);
    }
    bool runOnMachineFunction(MachineFunction &code) override
    {
        routine *r = routine_of(code.getFunction());
        if (!r)
            return false;
        getAnalysis<GCModuleInfo>().getGCStrategy(NAME); /* has the printer called */
        routine_emit_labels(*r, code);
        return true;
    }
};
char label_pass::ID;

Pass *new_label_pass()
{
    return new label_pass;
}

struct strategy : GCStrategy {
    strategy()
    {
        UsesMetadata = true;
    }
};

struct printer : GCMetadataPrinter {
    void finishAssembly(Module &, GCModuleInfo &, AsmPrinter &into) override
    {
        unit_emit(the_routines, into);
    }
};

GCRegistry::Add<strategy> the_strategy(NAME, "counters of executions");
GCMetadataPrinterRegistry::Add<printer> the_printer(NAME, "tables of counters");

void replace_last_pass()
{
    PassRegistry &registry = *PassRegistry::getPassRegistry();
    LAST_PASS_REGISTER(registry);
    const_cast<PassInfo *>(registry.getPassInfo(&LAST_PASS))->setNormalCtor(new_label_pass);
}

void register_passes(PassBuilder &builder)
{
    builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, auto...) { passes.addPass(count_pass()); });
    replace_last_pass();
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, NAME, WHYWAIT_VERSION, register_passes};
}
