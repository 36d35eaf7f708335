/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLVM's headers, and everything that differs between LLVM versions. Written for LLVM 14; the switches are for changes
 * up to LLVM 19.
 */
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/GCMetadata.h"
#include "llvm/CodeGen/GCMetadataPrinter.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#if LLVM_VERSION_MAJOR >= 17
#include "llvm/IR/EHPersonalities.h"
#else
#include "llvm/Analysis/EHPersonalities.h"
#endif
#include "llvm/IR/GCStrategy.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/InitializePasses.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCSectionELF.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSymbolELF.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetLoweringObjectFile.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#if LLVM_VERSION_MAJOR < 14
#error "the plugin needs LLVM 14 or newer"
#endif

/* The pass that comes last of all that are the same for every machine, and does nothing for ELF. */
#define LAST_PASS llvm::FuncletLayoutID
#define LAST_PASS_REGISTER llvm::initializeFuncletLayoutPass

static inline bool version_can_expand(const llvm::SCEVExpander &expander, const llvm::SCEV *value,
                                      const llvm::Instruction *before, llvm::ScalarEvolution &evolution)
{
#if LLVM_VERSION_MAJOR >= 15
    (void)evolution;
    return expander.isSafeToExpandAt(value, before);
#else
    (void)expander;
    return llvm::isSafeToExpandAt(value, before, evolution);
#endif
}

static inline void version_switch(llvm::MCStreamer &out, llvm::MCSection *section)
{
#if LLVM_VERSION_MAJOR >= 15
    out.switchSection(section);
#else
    out.SwitchSection(section);
#endif
}

static inline void version_align(llvm::MCStreamer &out, unsigned bytes)
{
#if LLVM_VERSION_MAJOR >= 16
    out.emitValueToAlignment(llvm::Align(bytes));
#else
    out.emitValueToAlignment(bytes);
#endif
}
