/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a launcher wait for work that number 0 calls them to, and see for themselves whether they can do it. */
#pragma once
#include "analyze/engine/engine.h"

/* Number 0: `work` says what is to be done. When it returns, all that are not lost have come. After a failure in that
 * work it ends the engine. */
void call_others(struct engine *engine, struct parcel work);

/* Another one: waits for the next call, and must answer it. When none follows, it does not return. `work` is gone with
 * the answer. */
void call_await(struct engine *engine, struct parcel *work);
/* `refusal` NULL: comes. Otherwise why not, in words that number 0 repeats ("cannot open x: no such file"); it does not
 * return. */
void call_answer(struct engine *engine, const char *refusal);
