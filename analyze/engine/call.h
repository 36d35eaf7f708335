/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a launcher wait for work that number 0 calls them to, and see for themselves whether they can do it. */
#pragma once
#include "analyze/engine/engine.h"

/* Number 0: `work` says what is to be done. When it returns, all that are not lost have come. */
void call_others(struct engine *engine, struct parcel work);

/* Another one, for as long as number 0 is there: does what it is called to, in a process of its own each time.
 * `perform` must answer, and then take part in all exchanges of that work. `work` is gone with the answer. */
_Noreturn void call_serve(struct engine *engine, void (*perform)(struct engine *engine, struct parcel work));
/* `refusal` NULL: comes. Otherwise why not, in words that number 0 repeats ("cannot open x: no such file"); it does not
 * return. */
void call_answer(struct engine *engine, const char *refusal);
