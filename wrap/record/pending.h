/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receives that are pending, and the persistent requests that are active: what a window (record --window) begins in
 * the middle of. Only in a run that is recorded in windows. Any thread; nothing here fails: without memory a request is
 * not known.
 */
#pragma once
#include "wrap/format.h"

/* The call that started it, with its request; of a persistent one, only the class of the call matters. */
void pending_add(const struct ww_call *call);
/* The request is complete, or the handle is another's now. */
void pending_remove(uint64_t request);
void pending_each(void (*take)(const struct ww_call *call));
