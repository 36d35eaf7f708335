/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads, fibres and signal handlers of the program may have a stack that just suffices for what they call. So what
 * the recorder does seldom, and needs kilobytes for, is done on a stack of its own.
 */
#pragma once

/* Calls work(context) there; on the present stack where there is no memory for one. From any thread, also in a signal
 * handler. */
void aside_run(void (*work)(void *context), void *context);
