/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an interpreter does for a script besides running it, as stacks tell: it imports modules, turns objects into
 * messages and back, collects garbage, and lets one thread at a time run.
 *
 * Code of installed packages that runs for an import or a message belongs to the line of the program that wanted it.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/trace/trace.h"

#define ERRAND_LIST(X)                                                                                                 \
    X(NONE, "none")                                                                                                    \
    X(IMPORT, "import")                     /* looks for modules, and runs them for the first time */                  \
    X(OBJECTS, "objects")                   /* mpi4py turns objects into bytes, or bytes into objects */               \
    X(COLLECTOR, "garbage-collector")       /* it looks for objects that nobody uses */                                \
    X(INTERPRETER_LOCK, "interpreter-lock") /* another thread of the process has the lock of the interpreter */

#define ERRAND_ENUM(name, text) ERRAND_##name,
enum errand { ERRAND_LIST(ERRAND_ENUM) ERRAND_N };
#undef ERRAND_ENUM

const char *errand_name(enum errand errand);

/* The frame of the program's own code that wants what the stack of `frame` does; the frame itself where that is no
 * errand, or runs code of the program again. */
uint32_t errand_caller(const struct trace *trace, struct code *code, uint32_t frame);
/* The outermost errand from `frame` outwards to `caller`, that not included. */
enum errand errand_between(const struct trace *trace, struct code *code, uint32_t frame, uint32_t caller);
