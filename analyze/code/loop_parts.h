/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over the instructions of a loop; private to loop_*.c. */
#pragma once
#include "analyze/code/loop_lines.h"

/* Calls visit(state, instruction) for every instruction of the loop. */
void loop_each_insn(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                    void *state);
/* The same without blocks that the compiler made for what it moved onto a way (or a counter), whose lines say nothing.
 */
void loop_each_own_insn(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                        void *state);
/* The same for the jumps that close the loop. */
void loop_each_latch(const struct loop_context *c, uint32_t loop, void (*visit)(void *state, uint32_t insn),
                     void *state);
bool loop_has_address(const struct loop_context *c, uint32_t loop, uint64_t address);
/* True when `inner` is `outer` or was inlined into it, at whatever depth. */
bool scope_is_within(const struct unit *unit, uint32_t inner, uint32_t outer);

/* The routine or inlined copy in whose source the loop stands; SCOPE_NONE = unknown. */
uint32_t loop_find_home(const struct loop_context *c, uint32_t loop);
