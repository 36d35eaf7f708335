/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is true of each cause, decided once for all outputs: output only chooses words.
 *
 * All figures of the analysis are final before: its times, ranks and gains.
 */
#pragma once
#include "analyze/verdict/balance.h"

void verdicts_find(struct analysis *analysis);
/* Of one of its causes; returns what its kinds have become. */
struct settled_kinds verdict_settle(const struct analysis *analysis, struct cause *cause);
/* Why rows that are alike may be late, once all are settled. */
void verdict_settle_like(struct analysis *analysis);
/* The machine's row: why CPUs were short, and what to do. */
void verdict_settle_machine(struct analysis *analysis);
/* Factors of a run that hangs, or is not recorded for long, are not the program's. */
void verdict_settle_efficiency(struct analysis *analysis);
/* Of one of a cause's decisions. */
void verdict_settle_parting(struct parting *parting);
