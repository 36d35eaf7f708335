/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GCC's headers in the order they need, and everything that differs between GCC versions and targets. Written for
 * GCC 12; the switches are for what has changed from GCC 10 up to GCC 16.
 */
#pragma once
#include "gcc-plugin.h"
#include "plugin-version.h"

#include "context.h"
#include "tree.h"
#include "stringpool.h"
#include "attribs.h"
#include "basic-block.h"
#include "function.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "gimple-ssa.h"
#include "gimple-expr.h"
#include "tree-pass.h"
#include "tree-cfg.h"
#include "tree-eh.h"
#include "ssa.h"
#include "tree-into-ssa.h"
#include "cfganal.h"
#include "cfgcleanup.h"
#include "cfgloop.h"
#include "tree-ssa-loop.h"
#include "tree-ssa-loop-niter.h"
#include "tree-ssa-loop-ivopts.h"
#include "tree-scalar-evolution.h"
#include "gimplify.h"
#include "gimplify-me.h"
#include "cgraph.h"
#include "calls.h"
#include "builtins.h"
#include "diagnostic-core.h"
#include "internal-fn.h"
#include "langhooks.h"
#include "memmodel.h"
#include "rtl.h"
#include "df.h"
#include "emit-rtl.h"
#include "rtl-iter.h"
#include "insn-config.h"
#include "recog.h"
#include "output.h"
#include "trans-mem.h"
#include "target.h"
#include "varasm.h"
#include "except.h"

#if GCCPLUGIN_VERSION_MAJOR < 10
#error "the plugin needs GCC 10 or newer"
#endif

/* The assembler has no word for a place in thread-local storage (POINTS_F_OFFSET_ADDED). */
#ifdef GCC_AARCH64_H
enum { TARGET_ADDS_OFFSETS = true };
#else
enum { TARGET_ADDS_OFFSETS = false };
#endif

/* A location with a range and a lexical block of its own. */
static inline location_t gcc_adhoc_location(location_t locus, source_range range, void *block)
{
#if GCCPLUGIN_VERSION_MAJOR >= 14
    return line_table->get_or_create_combined_loc(locus, range, block, 0);
#elif GCCPLUGIN_VERSION_MAJOR == 13
    return get_combined_adhoc_loc(line_table, locus, range, block, 0);
#else
    return get_combined_adhoc_loc(line_table, locus, range, block);
#endif
}

/* The shape that the analysis of trip counts asks of loops. */
#if GCCPLUGIN_VERSION_MAJOR >= 13
enum { GCC_LOOP_SHAPE = LOOPS_NORMAL };
#else
enum { GCC_LOOP_SHAPE = LOOPS_HAVE_PREHEADERS };
#endif

/* NULL = the block has no statement but those for debuggers. */
static inline gimple *gcc_last_statement(basic_block block)
{
#if GCCPLUGIN_VERSION_MAJOR >= 14
    return last_nondebug_stmt(block);
#else
    return last_stmt(block);
#endif
}

/* It only adjusts its arguments and jumps. */
static inline bool gcc_is_thunk(const cgraph_node *node)
{
#if GCCPLUGIN_VERSION_MAJOR >= 11
    return node->thunk;
#else
    return node->thunk.thunk_p;
#endif
}

/* Is the expression too expensive to compute once more, or not safe where the program does not compute it? */
static inline bool gcc_is_expensive(tree expression)
{
#if GCCPLUGIN_VERSION_MAJOR >= 14
    bool may_overflow = false;
    return expression_expensive_p(expression, &may_overflow) || may_overflow;
#else
    return expression_expensive_p(expression);
#endif
}
