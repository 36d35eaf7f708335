/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sources of data work for this user on this machine, found out by trying them. */
#pragma once
#include <stdbool.h>

struct source_state {
    bool works;
    char reason[160]; /* why not, or on which terms */
};

struct source_state source_samples(void);  /* task-clock samples through perf_event_open */
struct source_state source_switches(void); /* switch records: when a thread loses the CPU */
struct source_state source_timer(void);    /* thread CPU timers, the fall-back for samples */
