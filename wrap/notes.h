/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recorder notes in words and the analyser acts on. */
#pragma once

/* A process has come back from a stop: begins a note. */
#define WW_NOTE_STOPPED "the process was stopped for a while"
/* Shorter ones are not told from a busy machine: virtual CPUs are away for some ten milliseconds, each at its own time.
 */
enum { WW_STOP_LEAST_NS = 100000000 };
