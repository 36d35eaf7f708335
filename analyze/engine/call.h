/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a launcher wait for work. Number 0 calls them to it. Each sees for itself whether it can do it. */
#pragma once
#include "analyze/engine/engine.h"

/* Number 0: `work` says what is to be done. It returns when all have come that are not lost. */
void call_others(struct engine *engine, struct parcel work);

/* Another one: does what it is called to, as long as number 0 is there. Each work has a process of its own.
 * `perform` answers first. Then it takes part in all exchanges of that work. `work` is gone with the answer. */
_Noreturn void call_serve(struct engine *engine, void (*perform)(struct engine *engine, struct parcel work));
/* `refusal` NULL: this process comes. Otherwise it says why not, and does not return. Number 0 repeats these words, as
 * "cannot open x: no such file". */
void call_answer(struct engine *engine, const char *refusal);
