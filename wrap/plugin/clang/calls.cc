// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that cannot end an interval. A loop's counts may be added behind it if no synchronisation is reached inside it,
 * which holds for calls that touch no memory but what they are given, for functions of mathematics, and for functions
 * of this unit that call none but such. A definition that the linker may replace tells nothing.
 */
#include "wrap/plugin/clang/routine.h"

using namespace llvm;

namespace
{

/* All that it takes and gives are numbers: it sets errno at most. */
bool is_mathematics(const CallBase &call, const Function &callee)
{
    LibFunc known;
    TargetLibraryInfoImpl library(Triple(callee.getParent()->getTargetTriple()));
    if (!library.getLibFunc(callee, known) || !call.getType()->isFloatingPointTy() || call.arg_empty())
        return false;
    for (const Use &argument : call.args())
        if (!argument->getType()->isFloatingPointTy())
            return false;
    return true;
}

bool touches_its_own_memory_only(const CallBase &call)
{
    return call.onlyReadsMemory() || call.onlyAccessesArgMemory() || call.onlyAccessesInaccessibleMemory() ||
           call.onlyAccessesInaccessibleMemOrArgMem();
}

bool calls_harmless_only(const quiet_functions &quiet, const Function &function)
{
    for (const BasicBlock &block : function)
        for (const Instruction &each : block)
            if (auto *call = dyn_cast<CallBase>(&each))
                if (!call_is_harmless(quiet, *call))
                    return false;
    return true;
}

} // namespace

bool call_is_harmless(const quiet_functions &quiet, const CallBase &call)
{
    if (call.isInlineAsm())
        return true;
    if (!call.doesNotThrow() || call.doesNotReturn() || call.hasFnAttr(Attribute::ReturnsTwice))
        return false;
    const Function *callee = call.getCalledFunction();
    if (isa<IntrinsicInst>(call) || touches_its_own_memory_only(call))
        return true;
    return callee && (quiet.functions.count(callee) || is_mathematics(call, *callee));
}

bool call_is_cheap(const CallBase &call)
{
    if (call.isInlineAsm())
        return true;
    switch (call.getIntrinsicID()) {
    case Intrinsic::not_intrinsic:
    case Intrinsic::memcpy:
    case Intrinsic::memmove:
    case Intrinsic::memset:
    case Intrinsic::sin:
    case Intrinsic::cos:
    case Intrinsic::exp:
    case Intrinsic::exp2:
    case Intrinsic::log:
    case Intrinsic::log2:
    case Intrinsic::log10:
    case Intrinsic::pow:
    case Intrinsic::powi:
        return false;
    default:
        return true;
    }
}

/* All that are defined for good are, until one is found to call something else. */
quiet_functions calls_find_quiet(Module &unit)
{
    static const char *const jumps[] = {"longjmp", "_longjmp", "siglongjmp",  "__longjmp_chk",
                                        "setjmp",  "_setjmp",  "__sigsetjmp", "sigsetjmp"};
    quiet_functions quiet;
    for (const char *name : jumps)
        quiet.uses_longjmp |= unit.getFunction(name) != nullptr;
    for (const Function &each : unit)
        if (!each.isDeclaration() && each.hasExactDefinition())
            quiet.functions.insert(&each);
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (const Function &each : unit)
            if (quiet.functions.count(&each) && !calls_harmless_only(quiet, each))
                is_changed |= quiet.functions.erase(&each) > 0;
    }
    return quiet;
}
