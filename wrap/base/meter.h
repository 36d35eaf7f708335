/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far a long piece of work is, as one line on stderr that is written over again and cleared at the end. It appears
 * after two seconds, and only where stderr is a terminal. Work is counted in units of any kind.
 *
 *     meter_stage(&meter, "reading 1 of 2", "events", n, n);     n units now, n more in stages to come
 *     meter_add(&meter, 512);                                    often: costs a look at the clock
 *     meter_end(&meter);                                         at the end of all, or never begun
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is one that has not begun. */
struct meter {
    const char *stage, *unit;
    uint64_t n, n_after, n_done; /* n 0: nobody knows */
    uint64_t begin_ns, stage_ns, shown_ns;
    bool is_silent, is_shown;
};

void meter_stage(struct meter *meter, const char *stage, const char *unit, uint64_t n, uint64_t n_after);
void meter_add(struct meter *meter, uint64_t n);
void meter_end(struct meter *meter);
/* The line at a time since the meter began; 0 = too early for one. */
size_t meter_line(const struct meter *meter, uint64_t now_ns, char *line, size_t size_bytes);
